"""Data exchanged between a survey and the process that accesses the tree, as plain values."""

import base64
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .contents import Contents, Piece
from .opening import WalkedFile
from .walk import DrawnFiles, Walked

_LISTS = ("owners", "errors")  # tables with numeric keys, which JSON does not have


def name_to_text(name: bytes) -> str:
    """Return any bytes as text, with surrogates for invalid UTF-8."""
    return name.decode("utf-8", "surrogateescape")


def name_from_text(text: str) -> bytes:
    """Invert :func:`name_to_text`."""
    return text.encode("utf-8", "surrogateescape")


def array_to_text(array: npt.NDArray[Any]) -> str:
    """Return the bytes of an array, whose type and shape the reader knows."""
    return base64.b64encode(array.tobytes()).decode("ascii")


def array_from_text(text: str, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Invert :func:`array_to_text`."""
    return np.frombuffer(base64.b64decode(text), kind).copy()


def files_to_rows(files: Iterable[WalkedFile]) -> list[list[Any]]:
    """Return drawn files as plain rows."""
    return [
        [name_to_text(file.path), file.size, file.allocated, file.device, file.inode, file.modified_ns]
        for file in files
    ]


def files_from_rows(rows: Iterable[list[Any]]) -> list[WalkedFile]:
    """Invert :func:`files_to_rows`."""
    return [WalkedFile(name_from_text(path), *numbers) for path, *numbers in rows]


def contents_to_rows(contents: Iterable[Contents]) -> list[list[Any]]:
    """Return contents of files as plain rows."""
    return [
        [
            content.kind,
            list(map(_piece_to_row, content.pieces)),
            content.touched,
            content.read_bytes,
            content.why,
            content.hung_s,
        ]
        for content in contents
    ]


def contents_from_rows(rows: Iterable[list[Any]]) -> list[Contents]:
    """Invert :func:`contents_to_rows`."""
    return [Contents(kind, tuple(map(_piece_from_row, pieces)), *rest) for kind, pieces, *rest in rows]


def _piece_to_row(piece: Piece) -> list[Any]:
    return [
        piece.size,
        piece.blocks,
        piece.zeros,
        base64.b64encode(piece.digests).decode("ascii"),
        piece.entropy,
        dict(piece.compressed),
        dict(piece.cpu_s),
        dict(piece.unpack_s),
        piece.read_s,
        piece.cached,
    ]


def _piece_from_row(row: list[Any]) -> Piece:
    size, blocks, zeros, digests, *rest = row
    return Piece(size, blocks, zeros, base64.b64decode(digests), *rest)


def walked_to_json(walked: Walked) -> dict[str, Any]:
    """Return a walk as plain values."""
    totals = {name: value for name, value in walked.counts.items() if not isinstance(value, np.ndarray)}
    totals |= {name: list(totals[name].items()) for name in _LISTS if name in totals}
    return {
        "found": totals,
        "tables": {name: _array_to_json(value) for name, value in walked.counts.items() if name not in totals},
        "by_count": _drawn_to_json(walked.by_count),
        "by_size": _drawn_to_json(walked.by_size),
        "seconds": walked.seconds,
        "now_s": walked.now_s,
        "strata": {name: walked_to_json(stratum) for name, stratum in walked.strata.items()},
    }


def walked_from_json(data: Mapping[str, Any]) -> Walked:
    """Invert :func:`walked_to_json`."""
    totals = {**data["found"], **{name: _array_from_json(table) for name, table in data["tables"].items()}}
    totals |= {name: dict(totals[name]) for name in _LISTS if name in totals}
    return Walked(
        totals,
        _drawn_from_json(data["by_count"]),
        _drawn_from_json(data["by_size"]),
        data["seconds"],
        data["now_s"],
        {name: walked_from_json(stratum) for name, stratum in data["strata"].items()},
    )


def _drawn_to_json(drawn: DrawnFiles) -> dict[str, Any]:
    return {
        "paths": list(map(name_to_text, drawn.paths)),
        "threshold": drawn.threshold,
        "columns": {name: _array_to_json(column) for name, column in drawn.columns.items()},
    }


def _drawn_from_json(data: Mapping[str, Any]) -> DrawnFiles:
    columns = {name: _array_from_json(column) for name, column in data["columns"].items()}
    return DrawnFiles(tuple(map(name_from_text, data["paths"])), columns, data["threshold"])


def _array_to_json(array: npt.NDArray[Any]) -> list[Any]:
    return [array.dtype.str, array.shape, array_to_text(array)]


def _array_from_json(data: list[Any]) -> npt.NDArray[Any]:
    kind, shape, text = data
    return array_from_text(text, np.dtype(kind)).reshape(shape)
