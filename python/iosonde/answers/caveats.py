"""What the reader of any analysis has to know of a response and its factors."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.core.transforms import LOGARITHMS
from iosonde.data.factors import told_apart
from iosonde.data.responses import Response
from iosonde.stats.checks import s311_shared_bring_ups as s311


def caveats(response: Response) -> list[str]:
    """In words: what was taken for what, repeats that are no executions, factors that nothing here tells apart."""
    said = list(response.warnings)
    if response.within_run:
        said.append("repeats are iterations within one run: the noise of another execution is not seen")
    said += [f"{name} always changes with {twin}: nothing here tells them apart" for name, twin in response.confounded]
    return said


def of_single_trials(response: Response, names: Sequence[str], where: str = "here: too sure of that") -> list[str]:
    """Where an analysis of these factors takes trials of one bring-up for repetitions: S311."""
    held = s311.held_in(response.rows, names)
    if held is None:
        return []
    found = s311.finding(held, where)
    return [f"{found.code} {found.sentence}: {found.action}"]


def of_cells(response: Response) -> list[str]:
    """What the cells do not show: factors that change with one of those that make them. Ranks grow with nodes."""
    said = []
    for name, twin in response.confounded:
        if "ranks" in (name, twin):
            continue
        apart = told_apart(response.rows, name, twin)
        told = "rank and regress tell them apart" if apart else "nothing here tells them apart"
        said.append(f"{name} changes with {twin} from cell to cell: {told}")
    return said


def some(texts: Sequence[str], most: int = 4) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def of_ratios(response: Response) -> list[str]:
    """Where values are compared by their ratio: that of two logarithms is another one in another unit."""
    if response.transform not in LOGARITHMS:
        return []
    return [f"{response.title} is a logarithm, whose ratios depend on the unit: take {response.measured} itself"]
