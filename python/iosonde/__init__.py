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

Errors are :class:`IosondeError` with the sentence and the hint that the command shows; what the command says on
stderr is an :class:`IosondeWarning`. Nothing prints, and nothing heavy is imported before it is needed.

A function has its command's name, but where that is a keyword (``import``: ``import_files``) or a part of this package
(``report``: ``write_report``; ``explain``: ``explain_finding``; ``survey``: ``survey_tree``): after ``import
iosonde.report`` the name is the part.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # in C, loaded already: nothing may come before what follows
import sys

# Started as the command, Ctrl-C ends it without a word while it loads: nothing has begun. Then `cli.main` takes it.
if (sys.argv[0].rpartition("/")[2] == "iosonde" or "iosonde.cli.main" in sys.orig_argv[:3]) and (
    _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
):
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import importlib
from typing import TYPE_CHECKING, Any

from .core.version import __version__ as __version__

if TYPE_CHECKING:
    from .api.believe import check, compare, doctor, explain_finding, noise, summary, verify
    from .api.decide import advise, describe, fit, held_out, predict, validate
    from .api.hardware import bound, time_model, upgrade
    from .api.history import watch
    from .api.measuring import plan, probe, run
    from .api.operations import diagnose
    from .api.sharing import import_files, parse
    from .api.stored import survey_plan, survey_simulate, survey_tree
    from .api.stores import check_store, merge_stores, note_run, prune_store, redact_store, tag_run
    from .api.understand import anova, corpus, explain_difference, queue, regress, scale
    from .api.words import open
    from .commands.plot.options import plot
    from .commands.rank.options import rank
    from .commands.report.options import write_report
    from .commands.show.options import export, printed, show, show_as, show_run, slowest
    from .core.errors import IosondeError, IosondeWarning

# Module → what the package has of it; imported when it is first asked for (PEP 562).
_HOMES = {
    "api.words": ("open",),
    "api.measuring": ("run", "plan", "probe"),
    "api.history": ("watch",),
    "api.believe": ("summary", "check", "noise", "verify", "compare", "doctor", "explain_finding"),
    "api.understand": ("regress", "anova", "corpus", "scale", "queue", "explain_difference"),
    "api.hardware": ("bound", "time_model", "upgrade"),
    "api.operations": ("diagnose",),
    "api.decide": ("fit", "predict", "describe", "validate", "held_out", "advise"),
    "api.sharing": ("parse", "import_files"),
    "api.stores": ("check_store", "tag_run", "note_run", "merge_stores", "redact_store", "prune_store"),
    "api.stored": ("survey_tree", "survey_simulate", "survey_plan"),
    "core.errors": ("IosondeError", "IosondeWarning"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
__all__ = [
    "IosondeError", "IosondeWarning", "advise", "anova", "bound", "check", "check_store", "compare", "corpus",
    "describe",
    "diagnose", "doctor", "explain_difference", "explain_finding", "export", "fit", "held_out", "import_files",
    "merge_stores", "noise", "note_run", "open", "parse", "plan", "plot", "predict", "printed", "probe", "prune_store",
    "queue", "rank", "redact_store", "regress", "run", "scale", "show", "show_as", "show_run",
    "slowest", "summary", "survey_plan", "survey_simulate", "survey_tree", "tag_run", "time_model", "upgrade",
    "validate", "verify", "watch", "write_report",
]  # fmt: skip


if not TYPE_CHECKING:  # to a type checker it would say that every name is there

    def __getattr__(name: str) -> Any:
        from .commands import abouts

        for folder, about in abouts().items():
            if name in about.functions:
                return getattr(importlib.import_module(f"iosonde.commands.{folder}.options"), name)
        if name not in _HOME:
            raise AttributeError(f"module 'iosonde' has no attribute '{name}'")
        from .api.spelling import for_python

        return for_python(name, getattr(importlib.import_module(f"iosonde.{_HOME[name]}"), name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
