"""Where the victim of an interference works, if not on the target: ``python -m iosonde.measure.victim_program …``, as
steps around the benchmark.

``make`` makes a workspace of the experiment's own below a directory of the victim's node, its local disk say, and
``remove`` removes it. ``GO_THERE`` leads the victim's steps to it; those of all others stay on the target.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from . import one_sentence
from .target.workspace import Workspace

ON_TARGET = "target"
# Before the command of a step. No process is started for it, and the target is not touched: it may be timed.
GO_THERE = (
    '[ "${victim_where}" = target ] || [ "$IOSONDE_RANK" -ne 0 ] || '
    '{ all="${IOSONDE_TARGET%/*}"; IOSONDE_TARGET="${victim_where}/iosonde-victim-${all##*/}"; }; '
)


def main(words: list[str] | None = None) -> None:
    """Entry point. Raises IosondeError."""
    parser = argparse.ArgumentParser(prog="victim_program")
    parser.add_argument("what", choices=("make", "remove"))
    parser.add_argument("--where", required=True)
    parser.add_argument("--trial", type=Path, required=True, help="its directory on the target")
    options = parser.parse_args(words)
    if options.where == ON_TARGET:
        return
    name = f"victim-{options.trial.parent.name}"  # trials follow each other: what a killed one left is taken over
    if options.what == "make":
        Workspace.create(Path(options.where), name)
    else:
        Workspace(Path(options.where) / f"iosonde-{name}", name).remove()


if __name__ == "__main__":
    one_sentence.for_errors()
    main()
