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
(``explain``: ``explain_finding``; ``survey``: ``survey_tree``). ``__init__.pyi`` tells editors where each of them is.
"""

import _signal  # type: ignore[import-not-found]  # in C, loaded already: nothing may come before what follows
import sys

# Started as the command, Ctrl-C ends it without a word while it loads: nothing has begun. Then `cli.main` takes it.
if (sys.argv[0].rpartition("/")[2] == "iosonde" or "iosonde.cli.main" in sys.orig_argv[:3]) and (
    _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
):
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import importlib
from typing import Any

from .core.version import __version__ as __version__

_HOMES = {"IosondeError": "core.errors", "IosondeWarning": "core.errors", "open": "commands.opened"}


def __getattr__(name: str) -> Any:
    """Load a function when it is first asked for (PEP 562)."""
    if name == "__all__":
        return _names()
    from .commands import find_home_module

    ours = _HOMES.get(name)
    home = f"{__name__}.{ours}" if ours else None if name.startswith("__") else find_home_module(name)
    if home is None:
        raise AttributeError(f"module 'iosonde' has no attribute '{name}'")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *_names()})


def _names() -> list[str]:
    from .commands import load_abouts

    return sorted([*_HOMES, *(name for about in load_abouts().values() for name in about.functions)])
