"""``iosonde verify``: every stored number computed again, from the operations up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.result import Result
from iosonde.core.options import Data
from iosonde.data.options import RowOptions

if TYPE_CHECKING:
    from .answer import Verification


@dataclass
class VerifyOptions(RowOptions):
    """Options of ``iosonde verify``."""

    store: Data = Data("STORE", "The store.", is_argument=True, is_required=True)


@command("verify", VerifyOptions, "verify results")
def verify(options: VerifyOptions) -> Result[Verification]:
    """Compute every rate of STORE again from its operations, and the summary from those rates.

    Exit code 1 if a number differs, nothing can be computed again, a file is damaged, or a sealed decision was
    changed.

    Returns
    -------
    Result[Verification]
        One row for each number that does not come out again; ``.answer.problem`` is whether there is one.
    """
    from .answer import verify as answer
    from .text import lines

    return Result(answer(options.open(options.store), options.level), lines)
