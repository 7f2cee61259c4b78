"""The Python files of the repository as trees, each read once by a test process."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def tree(path: Path) -> ast.Module:
    """The module; nobody may change it. What is parsed stays, so no collection of garbage looks through it."""
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"), str(path))
    finally:
        gc.enable()
        gc.freeze()


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree(path)))
