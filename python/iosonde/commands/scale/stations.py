"""The fitted law of one queue as stations of a network: demands of an operation on client and server."""

from iosonde.core.column_units import unit_to_bytes_per_s
from iosonde.core.errors import InputError
from iosonde.core.units import parse_size
from iosonde.model.scaling.series import Series

_OPERATIONS = {"operations/s": 1.0, "op/s": 1.0, "ops/s": 1.0, "iops": 1.0, "kop/s": 1e3, "kops/s": 1e3, "kiops": 1e3}


def compute_work_per_operation(series: Series, size: str) -> float:
    """Convert one operation of ``size`` to the units that the series' rate counts. Raises InputError."""
    amount = float(parse_size(size))
    if amount <= 0:
        raise InputError(
            "invalid-size",
            "{spell.as_stations:{size}} is not a size",
            "write it like 64KiB, or 1 where the rate counts operations",
            size=size,
        )
    unit_scale = unit_to_bytes_per_s(series.unit)
    if unit_scale:
        return amount / unit_scale[0]
    if series.unit.lower() not in _OPERATIONS:
        raise InputError(
            "missing-unit",
            "{spell.as_stations}: '{response}' does not say what it counts",
            "name the column with its unit, as write_MiB/s or create_ops/s",
            response=series.response,
        )
    if amount != 1:
        raise InputError(
            "unit-mismatch",
            "{spell.as_stations:{size}}: {response} counts operations",
            "give {spell.as_stations:1}",
            size=size,
            response=series.response,
        )
    return 1 / _OPERATIONS[series.unit.lower()]
