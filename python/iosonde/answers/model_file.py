"""A stored model and its inputs: settings as people write them, and the rows of DATA."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from iosonde.core.column_units import split_unit
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Table, is_number, tidy_number
from iosonde.core.units import parse_rate, parse_seconds, parse_size
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import choose_response
from iosonde.data.source import Source
from iosonde.foreign.reach import check_reachable
from iosonde.model.fit.document import MOST_BYTES, from_text
from iosonde.model.fit.features import Feature
from iosonde.model.fit.fitted import Model


def read_model(path: str) -> Model:
    """Read a model file. Raises InputError, DataError; NoAnswerError if its file system does not answer."""
    check_reachable(Path(path))
    try:
        with Path(path).open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(
            "unreadable-file",
            "cannot read {path}: {reason}",
            "make one: iosonde fit DATA … -o FILE",
            path=path,
            reason=error.strerror,
        ) from error
    return from_text(text, path)


def parse_setting(features: Sequence[Feature], texts: Mapping[str, Any]) -> dict[str, Any]:
    """Convert texts to values of the factors; a name may lack its unit. Raises InputError."""
    feature_by_name = {feature.name: feature for feature in features}
    read: dict[str, Any] = {}
    for name, value in texts.items():
        full = complete_factor_name(features, name)
        if full in read:
            raise InputError("duplicate-factor", "{factor} is given twice", "give it once", factor=full)
        read[full] = (
            _parse_number(value, feature_by_name[full].unit)
            if full in feature_by_name and feature_by_name[full].numeric
            else _format_cell(value)
        )
    return read


def build_example_setting(model: Model) -> dict[str, Any]:
    """Return a setting of the model, by short names."""
    return {split_unit(feature.name)[0]: feature.levels[0] for feature in model.features}


def complete_factor_name(features: Sequence[Feature], name: str) -> str:
    """Complete ``size`` to ``size (KiB)``, if no factor is named ``size``."""
    if name in [feature.name for feature in features]:
        return name
    return next((feature.name for feature in features if split_unit(feature.name)[0] == name), name)


def rows_to_settings(model: Model, source: Source, measured: bool = False) -> tuple[list[dict[str, Any]], Table]:
    """Return every row of DATA as a setting of the model, and the rows. For a store these are rows of the model's
    response; ``measured``: for a table, too. Raises InputError, DataError for a missing cell."""
    table = source.table
    names = [f.name if f.name in table.names else split_unit(f.name)[0] for f in model.features]
    if measured or source.knows_factors:
        table = choose_response(source, ResponseQuery((model.response,), tuple(names))).rows
    columns = [table.column(name) for name in names]
    for column in columns:
        if column.missing.any():
            row = int(column.missing.argmax())
            raise DataError(
                "missing-value",
                "{row}, column '{name}': no value",
                "fill it, or leave the row out",
                row=table.place(row),
                name=column.name,
            )
    rows = []
    for row in range(len(table)):
        cells = [tidy_number(float(c.values[row])) if c.numeric else c.values[row] for c in columns]
        rows.append({f.name: cell if f.numeric else str(cell) for f, cell in zip(model.features, cells, strict=True)})
    return rows, table


def _parse_number(value: Any, unit: str) -> Any:
    """Convert a text to a number, in the factor's unit if it has its own (``4MiB`` of ``size (KiB)``). Other texts are
    returned as they are, for the model to refuse."""
    if isinstance(value, (int, float)):
        return float(value)
    unit = "B" if unit.lower() in ("byte", "bytes") else unit
    text = value.removesuffix(unit).rstrip()
    return float(text) if text and is_number(text) else _convert_unit(value, unit)


def _convert_unit(text: str, unit: str) -> Any:
    readers: tuple[Callable[[str], float], ...] = (parse_size, parse_rate, parse_seconds)
    for reader in readers if unit else ():
        try:
            return reader(text.replace(" ", "")) / reader(f"1{unit}")
        except (InputError, OverflowError):
            continue
    return text


def _format_cell(value: Any) -> str:
    return str(tidy_number(value)) if isinstance(value, float) else str(value)
