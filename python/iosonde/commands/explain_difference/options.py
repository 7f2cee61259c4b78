"""``iosonde explain-difference``: why two tools, or two definitions on one run, give different numbers."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.result import Result
from iosonde.core.options import Text

if TYPE_CHECKING:
    from .answer import Differences


@dataclass
class ExplainDifferenceOptions:
    """Options of ``iosonde explain-difference``."""

    a: Text[str] = Text("A", "The first number.", is_argument=True, is_required=True)
    b: Text[str] = Text("B", "The second number.", is_argument=True, is_required=True)
    _: KW_ONLY
    store: Text[str | None] = Text("DIR", "A and B are runs of this store.")
    operation: Text[str | None] = Text(
        "A[,B]", "Which to compare; B's if it differs.", default_text="all that both have"
    )


@command(
    "explain-difference",
    ExplainDifferenceOptions,
    "explain-difference --store results RUN@ior RUN@iozone --operation write_large",
)
def explain_difference(options: ExplainDifferenceOptions) -> Result[Differences]:
    """Split the difference between the numbers A and B into named parts that multiply to the whole.

    A and B are each STORE:RUN@TOOL (TOOL: ior, mdtest, iozone, iozone/parent, fio, elbencho, elbencho/first or
    iosonde: its definition, set on recorded operations), STORE:RUN of an import, or a FILE that a tool wrote (FILE#2:
    its third result).

    Returns
    -------
    Result[Differences]
        One row a part of each difference.

    Examples
    --------
    >>> iosonde.explain_difference("ior.txt", "iozone.txt", operation="write")
    """
    from .answer import explain_difference as answer
    from .text import lines

    return Result(answer(options.a, options.b, options.store, options.operation), lines)
