"""iosonde measures a distributed file system from many nodes at once and says how far each number can be trusted.

The commands' answers are functions here, with the same words::

    import iosonde

    data = iosonde.open("results")          # a store, .csv, .parquet, or a table that is in memory
    ranking = iosonde.rank(data, response="write", on=["access", "request_KiB"])
    print(ranking)                           # what the terminal shows
    ranking.to_frame()                       # one row a factor
    ranking.to_dict()                        # what --json prints
    ranking.plot()                           # the figure; in a notebook it shows itself
    iosonde.run("sweep.yaml", target="/mnt/x", store="results")

Errors are :class:`IosondeError` with the sentence and the hint that the command shows. Nothing prints, and nothing
heavy is imported before it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .core.version import __version__ as __version__

if TYPE_CHECKING:
    from .api import advise, anova, check, compare, fit, noise, open, rank, regress, run, scale, summary, verify
    from .core.errors import IosondeError

__all__ = [
    "IosondeError", "advise", "anova", "check", "compare", "fit", "noise", "open", "rank", "regress", "run", "scale",
    "summary", "verify",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "IosondeError":
        from .core.errors import IosondeError

        return IosondeError
    if name in __all__:
        from . import api

        return getattr(api, name)
    raise AttributeError(f"module 'iosonde' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
