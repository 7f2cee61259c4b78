"""What goes between a survey and the process that touches the tree, as plain values."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .contents import Contents, Piece
from .opening import WalkedFile
from .walk import DrawnFiles, Walked

_LISTS = ("owners", "errors")  # tables by number: keys of JSON are texts


def name_to_text(name: bytes) -> str:
    """Return any bytes as text; those that are no UTF-8 as surrogates."""
    return name.decode("utf-8", "surrogateescape")


def name_from_text(text: str) -> bytes:
    """And back."""
    return text.encode("utf-8", "surrogateescape")


def array_to_text(array: npt.NDArray[Any]) -> str:
    """Return the bytes of an array, whose type and shape the reader knows."""
    return base64.b64encode(array.tobytes()).decode("ascii")


def array_from_text(text: str, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """And back."""
    return np.frombuffer(base64.b64decode(text), kind).copy()


def files_to_rows(files: Iterable[WalkedFile]) -> list[list[Any]]:
    """Return drawn files as they are asked for."""
    return [[name_to_text(one.path), one.size, one.allocated, one.device, one.inode, one.modified_ns]
            for one in files]  # fmt: skip


def files_from_rows(rows: Iterable[list[Any]]) -> list[WalkedFile]:
    """And back."""
    return [WalkedFile(name_from_text(path), *numbers) for path, *numbers in rows]


def contents_to_rows(contents: Iterable[Contents]) -> list[list[Any]]:
    """Return what was found in files."""
    return [[one.kind, list(map(_piece_to_row, one.pieces)), one.touched, one.read_bytes, one.why, one.hung_s]
            for one in contents]  # fmt: skip


def contents_from_rows(rows: Iterable[list[Any]]) -> list[Contents]:
    """And back."""
    return [Contents(kind, tuple(map(_piece_from_row, pieces)), *rest) for kind, pieces, *rest in rows]


def _piece_to_row(piece: Piece) -> list[Any]:
    digests = base64.b64encode(piece.digests).decode("ascii")
    return [piece.size, piece.blocks, piece.zeros, digests, piece.entropy, dict(piece.compressed), dict(piece.cpu_s),
            dict(piece.unpack_s), piece.read_s, piece.cached]  # fmt: skip


def _piece_from_row(row: list[Any]) -> Piece:
    size, blocks, zeros, digests, *rest = row
    return Piece(size, blocks, zeros, base64.b64decode(digests), *rest)


def walked_to_json(walked: Walked) -> dict[str, Any]:
    """Return what a walk found."""
    found = {name: value for name, value in walked.found.items() if not isinstance(value, np.ndarray)}
    found |= {name: list(found[name].items()) for name in _LISTS if name in found}
    tables = {name: _array_to_json(value) for name, value in walked.found.items() if name not in found}
    return {
        "found": found, "tables": tables, "by_count": _drawn_to_json(walked.by_count),
        "by_size": _drawn_to_json(walked.by_size), "seconds": walked.seconds, "now_s": walked.now_s,
        "strata": {name: walked_to_json(one) for name, one in walked.strata.items()},
    }  # fmt: skip


def walked_from_json(told: Mapping[str, Any]) -> Walked:
    """And back."""
    found = {**told["found"], **{name: _array_from_json(one) for name, one in told["tables"].items()}}
    found |= {name: dict(found[name]) for name in _LISTS if name in found}
    strata = {name: walked_from_json(one) for name, one in told["strata"].items()}
    return Walked(found, _drawn_from_json(told["by_count"]), _drawn_from_json(told["by_size"]), told["seconds"],
                  told["now_s"], strata)  # fmt: skip


def _drawn_to_json(drawn: DrawnFiles) -> dict[str, Any]:
    return {"paths": list(map(name_to_text, drawn.paths)), "threshold": drawn.threshold,
            "columns": {name: _array_to_json(one) for name, one in drawn.columns.items()}}  # fmt: skip


def _drawn_from_json(told: Mapping[str, Any]) -> DrawnFiles:
    columns = {name: _array_from_json(one) for name, one in told["columns"].items()}
    return DrawnFiles(tuple(map(name_from_text, told["paths"])), columns, told["threshold"])


def _array_to_json(array: npt.NDArray[Any]) -> list[Any]:
    return [array.dtype.str, array.shape, array_to_text(array)]


def _array_from_json(told: list[Any]) -> npt.NDArray[Any]:
    kind, shape, text = told
    return array_from_text(text, np.dtype(kind)).reshape(shape)
