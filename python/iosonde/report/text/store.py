"""What ``iosonde store`` did, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .layout import escape

if TYPE_CHECKING:
    from iosonde.answers.store import StoreCheck, StoreCopy, StoreMerge


def check_lines(made: StoreCheck) -> Iterator[str]:
    """Every problem with its cure, and incomplete runs; one line where there is none."""
    for problem in made.problems:
        yield f"{problem.code} {escape(problem.sentence)}"
        yield f"     {escape(problem.action)}"
    for run in made.incomplete:
        yield escape(f"run {run.id} is incomplete: {'; '.join(run.missing)}")
    if not made.serious and not made.incomplete:
        yield f"{escape(made.name)}: {count(len(made.runs), 'run')}, all complete and as they were stored"


def merge_lines(made: StoreMerge) -> Iterator[str]:
    """How much was copied."""
    done = made.merged
    there = f" ({done.runs_there} were there already)" if done.runs_there else ""
    yield f"{count(done.runs, 'run')} and {count(done.experiments, 'experiment')} copied{there}"


def copy_lines(made: StoreCopy) -> Iterator[str]:
    """How much was copied, and what was replaced."""
    done = made.redacted
    said = ", ".join(_plural(number, kind) for kind, number in sorted(done.replaced.items()))
    yield f"{count(done.runs, 'run')} copied; replaced: {said or 'nothing'}"


def count(number: int, name: str) -> str:
    """``1,234 runs``."""
    return f"{number:,} {name}" + ("" if number == 1 else "s")


def _plural(number: int, kind: str) -> str:
    return f"{number} {kind}{'' if number == 1 else 'es' if kind.endswith('s') else 's'}"
