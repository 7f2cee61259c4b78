"""Small expressions over factors, such as ``stripe * replica <= servers``: parsed by a whitelist, never executed.

Allowed are names of factors, numbers, sizes, quoted words, ``+ - * / // %``, comparisons, ``in (…)``, ``and or not``,
``max(…)``, ``min(…)`` and parentheses. Other calls, attributes, indices and powers are refused. A size, quoted or not,
counts in bytes next to a number: ``transfer_size <= 1MiB``, ``nodes * 500GB``.
"""

from __future__ import annotations

import ast
import difflib
import operator
import re
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.types import FactorValue
from iosonde.core.units import parse_size, size_of

LONGEST = 1000
DEEPEST = 100
_ALLOWED = (
    "names of factors, numbers, sizes (500GB), quoted words, + - * / // %, comparisons, in (…), and, or, not, "
    "max(…), min(…)"
)
_ARITHMETIC: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE: dict[type[ast.AST], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda lhs, right: lhs in right,
    ast.NotIn: lambda lhs, right: lhs not in right,
}
_LARGEST: dict[str, Callable[[list[float]], float]] = {"max": max, "min": min}
# A quoted word, which stays; or an unquoted size, which Python cannot parse.
_WORD_OR_SIZE = re.compile(r"""'[^']*'|"[^"]*"|(?<![\w.])(?P<size>\d+(?:\.\d+)?[KMGTP]i?B?)(?![\w.])""", re.IGNORECASE)
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@dataclass(frozen=True)
class Expression:
    """A checked expression. ``where`` is its key in the file, for errors."""

    text: str
    where: str
    tree: ast.expr

    @property
    def names(self) -> frozenset[str]:
        """Factors in the expression."""
        called = {id(node.func) for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        names = [node for node in ast.walk(self.tree) if isinstance(node, ast.Name)]
        return frozenset(node.id for node in names if id(node) not in called)

    def holds(self, cell: Mapping[str, FactorValue]) -> bool:
        """Return whether the condition is true for this cell. Raises InputError if it is not a condition, or does not
        suit these values."""
        value = self._evaluate(self.tree, cell)
        if not isinstance(value, bool):
            hint = "write a comparison such as stripe * replica <= servers"
            raise self._build_error(self.tree, "not-a-condition", "is not a condition", hint)
        return value

    def number(self, cell: Mapping[str, FactorValue]) -> float:
        """Return its value for this cell. Raises InputError if it is not a number."""
        return self._evaluate_number(self.tree, cell)

    def _evaluate(self, node: ast.expr, cell: Mapping[str, FactorValue]) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return cell[node.id]
        if isinstance(node, (ast.Tuple, ast.List)):
            return [self._evaluate(item, cell) for item in node.elts]
        if isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name)
            return _LARGEST[node.func.id]([self._evaluate_number(item, cell) for item in node.args])
        if isinstance(node, ast.BoolOp):
            until = isinstance(node.op, ast.Or)
            return next((until for item in node.values if self._evaluate_condition(item, cell) is until), not until)
        if isinstance(node, ast.UnaryOp):
            if isinstance(node.op, ast.Not):
                return not self._evaluate_condition(node.operand, cell)
            number = self._evaluate_number(node.operand, cell)
            return -number if isinstance(node.op, ast.USub) else number
        if isinstance(node, ast.BinOp):
            lhs, right = self._evaluate_number(node.left, cell), self._evaluate_number(node.right, cell)
            try:
                return _ARITHMETIC[type(node.op)](lhs, right)
            except (ArithmeticError, ValueError):
                hint = "exclude such cells"
                raise self._build_error(
                    node, "not-computable", "cannot be computed for {cell}", hint, cell=_format_cell(cell)
                ) from None
        assert isinstance(node, ast.Compare)
        return self._compare(node, cell)

    def _compare(self, node: ast.Compare, cell: Mapping[str, FactorValue]) -> bool:
        lhs = self._evaluate(node.left, cell)
        for op, item in zip(node.ops, node.comparators, strict=True):
            right = self._evaluate(item, cell)
            operand, other = _align_operands(lhs, right)
            try:
                if not _COMPARE[type(op)](operand, other):
                    return False
            except TypeError:
                hint = "compare numbers with numbers, and words by == or in"
                raise self._build_error(
                    node, "not-comparable", "compares {left!r} with {right!r}", hint, left=lhs, right=right
                ) from None
            lhs = right
        return True

    def _evaluate_condition(self, node: ast.expr, cell: Mapping[str, FactorValue]) -> bool:
        value = self._evaluate(node, cell)
        if not isinstance(value, bool):
            hint = "combine conditions with and, or, not"
            raise self._build_error(node, "not-a-condition", "is {value!r}, neither true nor false", hint, value=value)
        return value

    def _evaluate_number(self, node: ast.expr, cell: Mapping[str, FactorValue]) -> float:
        value = self._evaluate(node, cell)
        if isinstance(value, str) and (size := size_of(value)) is not None:
            return size
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            hint = "use a factor with numeric levels"
            raise self._build_error(node, "not-a-number", "is {value!r}, not a number", hint, value=value)
        return value

    def _build_error(self, node: ast.expr, code: str, problem: str, hint: str, **values: object) -> InputError:
        """Build an error whose ``problem`` and ``hint`` are templates over ``values``."""
        return InputError(
            code,
            "{location}: '{part}' at column {column} " + problem,
            hint,
            location=self.where,
            part=ast.get_source_segment(self.text, node) or self.text,
            column=_locate_column(self.text, node),
            **values,
        )


def read(text: object, names: Collection[str], where: str) -> Expression:
    """Parse ``text`` as an expression over the factors ``names``. Raises InputError with ``where`` and the column."""
    if not isinstance(text, str) or not text.strip():
        raise InputError(
            "invalid-expression",
            "{location}: {expression!r} is not an expression",
            "write it like stripe * replica <= servers",
            location=where,
            expression=text,
        )
    line = " ".join(text.split())
    if len(line) > LONGEST:
        raise InputError(
            "expression-too-long",
            "{location}: the expression has {n_characters} characters",
            "shorten it to {max_characters} characters",
            location=where,
            n_characters=len(line),
            max_characters=LONGEST,
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            line = _WORD_OR_SIZE.sub(lambda match: f"'{match['size']}'" if match["size"] else match[0], line)
            tree = ast.parse(line, mode="eval").body
    except SyntaxError as error:
        column = error.offset or 1
        raise InputError(
            "invalid-expression",
            "{location}: '{expression}' cannot be read at column {column}",
            "use only {allowed}",
            location=where,
            expression=line,
            column=column,
            allowed=_ALLOWED,
        ) from None
    except (RecursionError, MemoryError, ValueError):
        raise InputError(
            "invalid-expression",
            "{location}: the expression cannot be read",
            "use only {allowed}",
            location=where,
            allowed=_ALLOWED,
        ) from None
    expression = Expression(line, where, tree)
    _check_node(expression, tree, names)
    return expression


def _check_node(
    expression: Expression, node: ast.expr, names: Collection[str], depth: int = 0, in_list: bool = False
) -> None:
    """Refuse everything outside the whitelist, so that evaluation meets known nodes only."""
    if depth > DEEPEST:
        raise InputError(
            "expression-too-deep",
            "{location}: the expression is nested deeper than {max_depth}",
            "split it into several constraints",
            location=expression.where,
            max_depth=DEEPEST,
        )
    inside: list[ast.expr] = []
    lists: list[ast.expr] = []
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float, str, type(None))):
        return
    if isinstance(node, ast.Name):
        if node.id not in names:
            near = difflib.get_close_matches(node.id, names, n=2)
            there = "known: {known}" if names else "write numbers, sizes and times"
            hint = "did you mean {nearest}?" if near else there
            raise expression._build_error(
                node,
                "unknown-factor",
                "is not a factor",
                hint,
                factor=node.id,
                nearest=" or ".join(near),
                known=", ".join(sorted(names)),
            )
        return
    if isinstance(node, ast.Call):
        inside = _largest_of(expression, node)
    elif isinstance(node, ast.BoolOp):
        inside = node.values
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Invert):
        inside = [node.operand]
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        inside = [node.left, node.right]
    elif isinstance(node, ast.Compare) and all(type(op) in _COMPARE for op in node.ops):
        inside = [node.left]
        for op, item in zip(node.ops, node.comparators, strict=True):
            belongs = isinstance(op, (ast.In, ast.NotIn))
            if belongs and not isinstance(item, (ast.Tuple, ast.List)):
                hint = "write it like fs in ('nfs', 'lustre')"
                raise expression._build_error(item, "not-a-list", "is not a list", hint)
            (lists if belongs else inside).append(item)
    elif isinstance(node, (ast.Tuple, ast.List)) and in_list:
        inside = node.elts
    else:
        raise expression._build_error(
            node, "unsupported-syntax", "is not allowed", "use only {allowed}", allowed=_ALLOWED
        )
    for item in inside:
        _check_node(expression, item, names, depth + 1)
    for item in lists:
        _check_node(expression, item, names, depth + 1, in_list=True)


def _largest_of(expression: Expression, node: ast.Call) -> list[ast.expr]:
    """Return the arguments of ``max`` or ``min``. Raises InputError for any other call."""
    if not (isinstance(node.func, ast.Name) and node.func.id in _LARGEST) or node.keywords:
        raise expression._build_error(
            node, "unsupported-syntax", "is not allowed", "use only {allowed}", allowed=_ALLOWED
        )
    if len(node.args) < 2:
        hint = "write it like {function}(stripe, 1)"
        raise expression._build_error(
            node, "too-few-arguments", "has fewer than two arguments", hint, function=node.func.id
        )
    return node.args


def _align_operands(lhs: Any, right: Any) -> tuple[Any, Any]:
    """Convert a size to bytes if the other operand is a number."""
    if isinstance(right, list):
        return lhs, [_align_operands(lhs, item)[1] for item in right]
    if isinstance(lhs, str) and isinstance(right, (int, float)):
        return _to_bytes(lhs), right
    if isinstance(right, str) and isinstance(lhs, (int, float)):
        return lhs, _to_bytes(right)
    return lhs, right


def _to_bytes(word: str) -> int | str:
    try:
        return parse_size(word)
    except InputError:
        return word


def _locate_column(text: str, node: ast.expr) -> int:
    """Return the 1-based column of the first character; the parser counts bytes, people count characters."""
    return len(text.encode()[: node.col_offset].decode()) + 1


def _format_cell(cell: Mapping[str, FactorValue]) -> str:
    return ", ".join(f"{name}={value}" for name, value in cell.items())
