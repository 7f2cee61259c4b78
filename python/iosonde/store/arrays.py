"""Convert Python values to Arrow arrays through their buffers.

``pyarrow.array`` imports pandas if installed, which costs more than a page of results. ``take`` and ``cast`` are
avoided too: pyarrow.compute costs 0.03 s of CPU time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

PROFILE_KEY = b"iosonde.profile"  # in the metadata of an exported Parquet file
MANY = 10_000  # rows from which pyarrow.compute is worth its import


def int64(values: Sequence[int | None] | npt.NDArray[np.integer[Any]]) -> pa.Array:
    """Convert whole numbers within 64 bits."""
    import pyarrow as pa

    if isinstance(values, np.ndarray):
        return pa.Array.from_buffers(pa.int64(), len(values), [None, _build_buffer(values.astype(np.int64))])
    return _build_fixed(pa.int64(), values, np.array(_fill_missing(values, 0), np.int64))


def float64(values: Sequence[float | None]) -> pa.Array:
    """Convert numbers; NaN stays NaN."""
    import pyarrow as pa

    return _build_fixed(pa.float64(), values, np.array(_fill_missing(values, 0.0), np.float64))


def boolean(values: Sequence[bool | None]) -> pa.Array:
    """Convert booleans."""
    import pyarrow as pa

    return _build_fixed(
        pa.bool_(), values, np.packbits(np.array([bool(value) for value in values], bool), bitorder="little")
    )


def string(values: Sequence[str | None]) -> pa.Array:
    """Convert text; more than 2 GiB in total become large text."""
    import pyarrow as pa

    words = {value: b"" if value is None else value.encode() for value in set(values)}
    encoded = [words[value] for value in values]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(word) for word in encoded], out=offsets[1:])
    large = offsets[-1] > np.iinfo(np.int32).max
    kind, places = (pa.large_string(), offsets) if large else (pa.string(), offsets.astype(np.int32))
    buffers = [_build_validity(values), _build_buffer(places), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(kind, len(encoded), buffers)


def build_array(kind: pa.DataType, values: Sequence[Any]) -> pa.Array:
    """Convert the values of a column of type ``kind``. Values that do not fit directly go to pyarrow, which converts or
    refuses them."""
    import pyarrow as pa

    ways: tuple[tuple[pa.DataType, type, Callable[[Sequence[Any]], pa.Array]], ...] = (
        (pa.int64(), int, int64),
        (pa.float64(), float, float64),
        (pa.string(), str, string),
    )
    types = set(map(type, values)) - {type(None)}
    for arrow_type, python_type, make in ways:
        if kind == arrow_type and types <= {python_type} and (array := make(values)).type == kind:
            return array
    return pa.array(values, kind)


def array_from_numbers(values: npt.NDArray[Any]) -> pa.Array:
    """Convert an array of numbers as it is."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, _build_buffer(values)])


def repeat_values(values: pa.Array, times: Sequence[int]) -> pa.Array:
    """Repeat each value ``times`` times."""
    import pyarrow as pa

    if sum(times) > MANY:
        return values.take(int64(np.repeat(np.arange(len(values)), times)))
    parts = [pa.repeat(value, n) for value, n in zip(values, times, strict=True)]
    return pa.concat_arrays([values.slice(0, 0), *parts])


def column_to_texts(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """Convert a text column to objects, None if missing; equal texts share one object."""
    coded = column.combine_chunks().dictionary_encode()
    words = np.empty(len(coded.dictionary) + 1, dtype=object)
    words[:-1] = coded.dictionary.to_pylist()
    places = view_numbers(coded.indices, np.dtype(np.int32))
    objects: npt.NDArray[Any] = words[np.where(_find_absent(coded.indices), len(words) - 1, places)]
    return objects


def _build_fixed(kind: pa.DataType, values: Sequence[Any], stored: npt.NDArray[Any]) -> pa.Array:
    import pyarrow as pa

    return pa.Array.from_buffers(kind, len(values), [_build_validity(values), _build_buffer(stored)])


def _fill_missing(values: Sequence[Any], instead: Any) -> Sequence[Any]:
    return [instead if value is None else value for value in values] if None in values else values


def _build_validity(values: Sequence[Any]) -> pa.Buffer | None:
    """Return a bitmap of the present values; None if all are present."""
    if None not in values:
        return None
    return _build_buffer(np.packbits([value is not None for value in values], bitorder="little"))


def _build_buffer(values: npt.NDArray[Any]) -> pa.Buffer:
    import pyarrow as pa

    return pa.py_buffer(np.ascontiguousarray(values))


def column_to_floats(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return (a column as floats with NaN if missing, mask of missing values)."""
    import pyarrow as pa

    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        column = column.cast(pa.float64(), safe=False)
    chunks, kind = column.chunks, np.dtype(column.type.to_pandas_dtype())
    values = np.concatenate([view_numbers(chunk, kind) for chunk in chunks] or [np.empty(0)]).astype(np.float64)
    absent = np.concatenate([_find_absent(chunk) for chunk in chunks] or [np.empty(0, bool)])
    values[absent] = np.nan
    return values, absent


def view_numbers(array: pa.Array, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the numbers of an array without a copy (``to_numpy`` would import pandas); missing values
    are arbitrary."""
    buffer = array.buffers()[1]
    if buffer is None or not len(array):
        return np.zeros(len(array), kind)
    return np.frombuffer(buffer, kind, len(array), array.offset * kind.itemsize)


def _find_absent(array: pa.Array) -> npt.NDArray[np.bool_]:
    bits = array.buffers()[0]
    if bits is None or not len(array):
        return np.zeros(len(array), bool)
    present = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
    absent: npt.NDArray[np.bool_] = present[array.offset : array.offset + len(array)] == 0
    return absent
