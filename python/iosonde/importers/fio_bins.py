"""fio's histograms of latencies (``--output-format=json+``): the percentiles of all operations of several threads.

Each bin is printed under one time. A percentile is the first time up to which this share of the operations was done
(fio's ``calc_clat_percentiles``). So merged bins give the same as fio with group_reporting.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from .reading import get_json_object, number_from_json, parse_number

KINDS = (("lat", "latency"), ("clat", "completion_latency"), ("slat", "submission_latency"))
UNITS = (("_ns", 1e9), ("", 1e6), ("_us", 1e6), ("_ms", 1e3))


def list_latencies(direction: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], float]]:
    """Yield (name of the metric, fio's values, its units per second) of each measured kind."""
    for key, name in KINDS:
        for suffix, per_second in UNITS:
            values = get_json_object(direction, key + suffix)
            if number_from_json(values.get("mean")):
                yield name, values, per_second
                break


def read_levels(values: dict[str, Any]) -> dict[float, float]:
    """Return percentage → its time, as printed."""
    values_by_level = {
        _parse_level(key): number_from_json(value) for key, value in get_json_object(values, "percentile").items()
    }
    return {level: value for level, value in values_by_level.items() if level and value is not None}


_parse_level = lru_cache(maxsize=256)(parse_number)  # fio prints twenty of them at most


def merge_percentiles(several: Sequence[dict[str, Any]]) -> dict[float, float] | None:
    """Return the percentiles of all threads; None if any printed no histogram of all its operations."""
    bins = Counter[float]()
    for values in several:
        raw_counts = {
            number_from_json(key): number_from_json(count) for key, count in get_json_object(values, "bins").items()
        }
        counted = {at: int(count) for at, count in raw_counts.items() if at is not None and count is not None}
        if not counted or sum(counted.values()) != number_from_json(values.get("N")):
            return None
        bins.update(counted)
    shared_levels = sorted(set.intersection(*(set(read_levels(values)) for values in several)))
    total, done, percentiles = sum(bins.values()), 0, {}
    for at, count in sorted(bins.items()):
        done += count
        while shared_levels and done >= shared_levels[0] / 100 * total:
            percentiles[shared_levels.pop(0)] = at
    return percentiles
