"""Expressions that users write, such as ``stripe * replica <= servers``: parsed by a whitelist, never executed.

A ``Grammar`` declares the operators, functions and constants of a kind of expression; everything else is refused when
it is parsed, so that evaluation meets known syntax only. Values of names are scalars or columns. ``CONDITIONS`` is the
grammar of constraints and other formulas over factors. A size there, quoted or not, counts in bytes next to a number:
``transfer_size <= 1MiB``, ``nodes * 500GB``.
"""

from __future__ import annotations

import ast
import copy
import difflib
import operator
import re
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.units import parse_size, parse_suffixed_size

_MAX_DEPTH = 100
# A quoted word, which stays; or an unquoted size, which Python cannot parse.
_WORD_OR_SIZE = re.compile(r"""'[^']*'|"[^"]*"|(?<![\w.])(?P<size>\d+(?:\.\d+)?[KMGTP]i?B?)(?![\w.])""", re.IGNORECASE)

Operators = Mapping[type[ast.AST], Callable[..., Any]]
ARITHMETIC: Operators = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.USub: operator.neg,
}


@dataclass(frozen=True, eq=False)
class Grammar:
    """The syntax of a kind of expression.

    ``functions`` are called with the syntax of their arguments, then the values; ``n_arguments`` are the permitted
    numbers of arguments. ``to_number`` converts an operand; it raises ValueError if the operand is not a number.
    ``description`` lists what is allowed, for hints.
    """

    operators: Operators
    is_constant: Callable[[Any], bool]
    to_number: Callable[[Any], Any]
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    n_arguments: range = range(0)
    max_characters: int = 1000
    description: str = ""

    def read(self, text: object, names: Collection[str], where: str) -> Expression:
        """Parse ``text`` as an expression over ``names``. Raises InputError with ``where`` and the column."""
        if not isinstance(text, str) or not text.strip():
            raise InputError(
                "invalid-expression",
                "{location}: {expression!r} is not an expression",
                "write it like stripe * replica <= servers",
                location=where,
                expression=text,
            )
        line = " ".join(text.split())
        if len(line) > self.max_characters:
            raise InputError(
                "expression-too-long",
                "{location}: the expression has {n_characters} characters",
                "shorten it to {max_characters} characters",
                location=where,
                n_characters=len(line),
                max_characters=self.max_characters,
            )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                line = _WORD_OR_SIZE.sub(lambda match: f"'{match['size']}'" if match["size"] else match[0], line)
                expression = Expression(line, where, ast.parse(line, mode="eval").body, self)
        except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
            raise InputError(
                "invalid-expression",
                "{location}: '{expression}' cannot be read at column {column}"
                if isinstance(error, SyntaxError)
                else "{location}: the expression cannot be read",
                "use only {allowed}",
                location=where,
                expression=line,
                column=getattr(error, "offset", None) or 1,
                allowed=self.description,
            ) from None
        expression._check_node(expression.tree, names)
        return expression


@dataclass(frozen=True)
class Expression:
    """A checked expression. ``where`` is its key in the file, for errors."""

    text: str
    where: str
    tree: ast.expr
    grammar: Grammar

    @property
    def names(self) -> frozenset[str]:
        """Names in the expression, without functions."""
        return frozenset(node.id for node in _list_names(self.tree))

    def replace_names(self, texts: Mapping[str, str]) -> ast.expr:
        """Return a copy of the tree with other texts in place of names."""
        tree = copy.deepcopy(self.tree)
        for node in _list_names(tree):
            node.id = texts.get(node.id, node.id)
        return tree

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Return whether the condition is true for these values. Raises InputError if it is not a condition, or does
        not suit the values."""
        value = self._evaluate(self.tree, values)
        if not isinstance(value, bool):
            raise self._build_error(
                self.tree,
                "not-a-condition",
                "is not a condition",
                "write a comparison such as stripe * replica <= servers",
            )
        return value

    def number(self, values: Mapping[str, Any]) -> Any:
        """Return its number, or column of numbers, for these values. Raises InputError if it is not a number."""
        return self._evaluate_number(self.tree, values)

    def _evaluate(self, node: ast.expr, values: Mapping[str, Any]) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return values[node.id]
            case ast.Tuple() | ast.List():
                return [self._evaluate(item, values) for item in node.elts]
            case ast.BinOp():
                operands = (self._evaluate_number(node.left, values), self._evaluate_number(node.right, values))
                return self._compute(node, node.op, operands, values)
            case ast.BoolOp(op, items):
                return self.grammar.operators[type(op)](self._evaluate_condition(item, values) for item in items)
            case ast.UnaryOp(ast.Not(), operand):
                return not self._evaluate_condition(operand, values)
            case ast.UnaryOp(op, operand):
                return self._compute(node, op, (self._evaluate_number(operand, values),), values)
            case ast.Compare():
                lhs = self._evaluate(node.left, values)
                for comparison, item in zip(node.ops, node.comparators, strict=True):
                    right = self._evaluate(item, values)
                    if not self._compare(node, comparison, lhs, right):
                        return False
                    lhs = right
                return True
            case ast.Call(ast.Name(name), arguments):
                numbers = [self._evaluate_number(item, values) for item in arguments]
                return self.grammar.functions[name](arguments, *numbers)
        raise AssertionError(node)  # the grammar allows nothing else

    def _compute(self, node: ast.expr, op: ast.AST, numbers: tuple[Any, ...], values: Mapping[str, Any]) -> Any:
        try:
            return self.grammar.operators[type(op)](*numbers)
        except (ArithmeticError, ValueError):
            cell = ", ".join(f"{name}={value}" for name, value in values.items())
            raise self._build_error(
                node, "not-computable", "cannot be computed for {cell}", "exclude such cells", cell=cell
            ) from None

    def _compare(self, node: ast.Compare, op: ast.cmpop, lhs: Any, right: Any) -> bool:
        try:
            return bool(self.grammar.operators[type(op)](*_align_operands(lhs, right)))
        except TypeError:
            raise self._build_error(
                node,
                "not-comparable",
                "compares {left!r} with {right!r}",
                "compare numbers with numbers, and words by == or in",
                left=lhs,
                right=right,
            ) from None

    def _evaluate_condition(self, node: ast.expr, values: Mapping[str, Any]) -> bool:
        value = self._evaluate(node, values)
        if not isinstance(value, bool):
            raise self._build_error(
                node,
                "not-a-condition",
                "is {value!r}, neither true nor false",
                "combine conditions with and, or, not",
                value=value,
            )
        return value

    def _evaluate_number(self, node: ast.expr, values: Mapping[str, Any]) -> Any:
        value = self._evaluate(node, values)
        try:
            return self.grammar.to_number(value)
        except ValueError:
            raise self._build_error(
                node, "not-a-number", "is {value!r}, not a number", "use a factor with numeric levels", value=value
            ) from None

    def _check_node(self, node: ast.expr, names: Collection[str], depth: int = 0, in_list: bool = False) -> None:
        """Check a node and those inside it against the grammar. Raises InputError."""
        if depth > _MAX_DEPTH:
            raise InputError(
                "expression-too-deep",
                "{location}: the expression is nested deeper than {max_depth}",
                "split it into several constraints",
                location=self.where,
                max_depth=_MAX_DEPTH,
            )
        parts = self._list_parts(node, names, in_list)
        pairs = zip(node.ops, node.comparators, strict=True) if isinstance(node, ast.Compare) else ()
        lists = [item for op, item in pairs if isinstance(op, (ast.In, ast.NotIn))]
        for item in lists:
            if not isinstance(item, (ast.Tuple, ast.List)):
                raise self._build_error(item, "not-a-list", "is not a list", "write it like fs in ('nfs', 'lustre')")
        for part in parts:
            self._check_node(part, names, depth + 1, part in lists)

    def _list_parts(self, node: ast.expr, names: Collection[str], in_list: bool) -> list[ast.expr]:
        """Return the expressions inside a node. Raises InputError if the grammar does not allow the node."""
        match node:
            case ast.Constant(value) if self.grammar.is_constant(value):
                return []
            case ast.Name(name) if name in names:
                return []
            case ast.Name(name):
                raise self._build_unknown_name(node, name, names)
            case ast.Call(ast.Name(function), arguments, []) if function in self.grammar.functions:
                if len(arguments) in self.grammar.n_arguments:
                    return arguments
                raise self._build_error(
                    node,
                    "too-few-arguments",
                    "has fewer than two arguments",
                    "write it like {function}(stripe, 1)",
                    function=function,
                )
            case ast.Tuple(items) | ast.List(items) if in_list:
                return items
            case ast.BoolOp() | ast.UnaryOp() | ast.BinOp() | ast.Compare():
                operands = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
                used = {type(part) for part in ast.iter_child_nodes(node) if not isinstance(part, ast.expr)}
                if used <= self.grammar.operators.keys():
                    return operands
        raise self._build_error(
            node,
            "unsupported-syntax",
            "is not allowed",
            "use only {allowed}",
            allowed=self.grammar.description,
            function=ast.unparse(node.func) if isinstance(node, ast.Call) else "",
        )

    def _build_unknown_name(self, node: ast.expr, name: str, names: Collection[str]) -> InputError:
        near = difflib.get_close_matches(name, names, n=2)
        return self._build_error(
            node,
            "unknown-factor",
            "is not a factor",
            "did you mean {nearest}?" if near else "known: {known}" if names else "write numbers, sizes and times",
            factor=name,
            nearest=" or ".join(near),
            known=", ".join(sorted(names)),
        )

    def _build_error(self, node: ast.expr, code: str, problem: str, hint: str, **values: object) -> InputError:
        """Build an error whose ``problem`` and ``hint`` are templates over ``values``."""
        return InputError(
            code,
            "{location}: '{part}' at column {column} " + problem,
            hint,
            location=self.where,
            part=ast.get_source_segment(self.text, node) or self.text,
            # The parser counts bytes from 0, people count characters from 1.
            column=len(self.text.encode()[: node.col_offset].decode()) + 1,
            **values,
        )


def _list_names(tree: ast.expr) -> list[ast.Name]:
    functions = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in functions]


def _to_number(value: Any) -> float:
    """Convert an operand of a condition; a size counts in bytes. Raises ValueError if it is not a number."""
    if isinstance(value, str) and (size := parse_suffixed_size(value)) is not None:
        return size
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError
    return value


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


CONDITIONS = Grammar(
    operators={
        **ARITHMETIC,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
        ast.UAdd: operator.pos,
        ast.Eq: operator.eq,
        ast.NotEq: operator.ne,
        ast.Lt: operator.lt,
        ast.LtE: operator.le,
        ast.Gt: operator.gt,
        ast.GtE: operator.ge,
        ast.In: lambda lhs, right: lhs in right,
        ast.NotIn: lambda lhs, right: lhs not in right,
        ast.And: all,
        ast.Or: any,
        ast.Not: operator.not_,
    },
    is_constant=lambda value: isinstance(value, (bool, int, float, str, type(None))),
    to_number=_to_number,
    functions={"max": lambda _, *numbers: max(numbers), "min": lambda _, *numbers: min(numbers)},
    n_arguments=range(2, 1000),
    description="names of factors, numbers, sizes (500GB), quoted words, + - * / // %, comparisons, in (…), and, or, "
    "not, max(…), min(…)",
)
read = CONDITIONS.read
