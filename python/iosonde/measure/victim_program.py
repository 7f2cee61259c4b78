"""Workspace of an interference victim that does not work on the target: ``python -m iosonde.measure.victim_program …``,
as steps around the benchmark.

``make`` makes the experiment's own workspace below a directory of the victim's node, for example its local disk, and
``remove`` removes it. ``GO_THERE`` leads the victim's steps to it; all others stay on the target.
"""

import argparse
from pathlib import Path

from . import error_sentence
from .target.workspace import Workspace

ON_TARGET = "target"
# Before the command of a step. It starts no process and does not touch the target, because it may be timed.
GO_THERE = (
    '[ "${victim_where}" = target ] || [ "$IOSONDE_RANK" -ne 0 ] || '
    '{ all="${IOSONDE_TARGET%/*}"; IOSONDE_TARGET="${victim_where}/iosonde-victim-${all##*/}"; }; '
)


def main(words: list[str] | None = None) -> None:
    """Run the program. Raises IosondeError."""
    parser = argparse.ArgumentParser(prog="victim_program")
    parser.add_argument("what", choices=("make", "remove"))
    parser.add_argument("--where", required=True)
    parser.add_argument("--trial", type=Path, required=True, help="its directory on the target")
    options = parser.parse_args(words)
    if options.where == ON_TARGET:
        return
    name = f"victim-{options.trial.parent.name}"  # trials follow each other: a killed one's workspace is taken over
    if options.what == "make":
        Workspace.create(Path(options.where), name)
    else:
        Workspace(Path(options.where) / f"iosonde-{name}", name).remove()


if __name__ == "__main__":
    error_sentence.for_errors()
    main()
