"""Every command that says a verdict, held against the truth.

    nice .venv/bin/python -m truth.bench [--only WORDS] [--quick | --draws SHARE] [--table FILE.md]

(with PYTHONPATH=tests:python). Ends with code 1 where a trap has a wrong or overconfident verdict, or where a cell
that promises something does not keep it; ``--only`` takes the commands or truths whose names hold one of the words.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from . import (
    conditions,
    factors,
    growths,
    histories,
    laws,
    means,
    models,
    operations,
    pairs,
    series,
    shapes,
    sides,
)
from .ask import answer_of
from .cells import AT_ONCE, Cell, Tally, broken_promises, tally
from .pending import PENDING
from .scores import SEVERITY, Score, score_answer
from .traps import Trap, all_traps

QUICK = 0.1
TABLES = "## Traps"  # where they begin on the page
BAD = (Score.NO_VERDICT, Score.WRONG, Score.OVERCONFIDENT)
SCORES = (Score.RIGHT, Score.INCONCLUSIVE, Score.OVERCONFIDENT, Score.WRONG)
COLUMNS = ("command", "truth", "draws", "right", "inconclusive", "overconfident", "wrong", "warned", "interval holds")


def all_cells(scale: float = 1.0) -> list[Cell]:
    """Every cell that is drawn."""
    modules = (sides, shapes, pairs, means, factors, conditions, models, laws, growths, operations, histories, series)
    return [cell for module in modules for cell in module.cells(scale)]


def score_trap(trap: Trap) -> list[tuple[str, Score]]:
    """Each command that is asked about a trap, with the worst score of its verdicts."""
    scores: dict[str, Score] = {}
    with tempfile.TemporaryDirectory(prefix="iosonde-truth-") as directory:
        path = Path(directory) / "table.csv"
        path.write_text(trap.csv, encoding="utf-8")
        for question in trap.questions:
            answer = answer_of(question.command, path, question.words)
            found = [score_answer(answer, truth) for truth in question.truths]
            worst = [scores.get(question.command, Score.RIGHT), *found]
            scores[question.command] = max(worst, key=SEVERITY.__getitem__)
    return list(scores.items())


def is_chosen(command: str, name: str, words: Sequence[str]) -> bool:
    """Whether a cell is asked for."""
    return not words or any(word in f"{command} {name}" for word in words)


def score_traps(words: Sequence[str] = ()) -> dict[tuple[str, str], Score]:
    """(command, trap) → score."""
    scores: dict[tuple[str, str], Score] = {}
    for trap in all_traps():
        if any(is_chosen(one.command, trap.name, words) for one in trap.questions):
            for command, score in score_trap(trap):
                if is_chosen(command, trap.name, words):
                    key = (command, trap.name)
                    scores[key] = max(scores.get(key, Score.RIGHT), score, key=SEVERITY.__getitem__)
    return scores


def _tally_chunk(place: int, scale: float, chunk: int, draws: int) -> tuple[int, Tally]:
    return place, tally(all_cells(scale)[place], chunk, draws)


def tally_cells(scale: float, words: Sequence[str], workers: int) -> list[tuple[Cell, Tally]]:
    """Every chosen cell with its tally, chunks spread over ``workers`` processes."""
    cells = all_cells(scale)
    jobs = [
        (place, scale, chunk, min(AT_ONCE, cell.draws - chunk * AT_ONCE))
        for place, cell in enumerate(cells)
        if is_chosen(*cell.key, words)
        for chunk in range(-(-cell.draws // AT_ONCE))
    ]
    tallies: dict[int, Tally] = {}
    with ProcessPoolExecutor(workers) as pool:
        for place, part in pool.map(_tally_chunk, *zip(*jobs, strict=True)) if jobs else ():
            tallies[place] = tallies[place] + part if place in tallies else part
    return [(cells[place], tallies[place]) for place in sorted(tallies)]


def cell_rows(tallies: Iterable[tuple[Cell, Tally]], promised: bool) -> list[list[str]]:
    """A row of ``COLUMNS`` for each cell that promises something, or for each of the others; shares in per cent."""
    rows = []
    for cell, counts in tallies:
        if bool(cell.promises) is not promised:
            continue
        shares = [f"{100 * counts.share(score):.1f}" for score in SCORES]
        if counts.scores[Score.NO_VERDICT]:
            shares = ["no verdict", "", "", ""]
        held = f"{100 * counts.held / counts.intervals:.1f}" if counts.intervals else "–"
        warned = f"{100 * counts.warned / counts.draws:.1f}"
        rows.append([cell.question.command, cell.name, str(counts.draws), *shares, warned, held])
    return rows


def group_rows(rows: Iterable[Sequence[str]], until: str = "") -> Iterator[str]:
    """The table of the page: a row for each command, or for each of its truths, named up to ``until``, with the range
    over its cells."""
    groups: dict[tuple[str, str], list[Sequence[str]]] = {}
    for row in rows:
        groups.setdefault((row[0], row[1].split(until)[0] if until else "all"), []).append(row)
    yield f"| {' | '.join([*COLUMNS[:2], 'cells', *COLUMNS[2:]])} |"
    yield "|---|---|" + "---:|" * (len(COLUMNS) - 1)
    for (command, truth), cells in groups.items():
        draws = sum(int(cell[2]) for cell in cells)
        ranges = [_range([cell[column] for cell in cells]) for column in range(3, len(COLUMNS))]
        yield f"| {command} | {truth} | {len(cells)} | {draws} | {' | '.join(ranges)} |"


def _range(values: Sequence[str]) -> str:
    """The least and the greatest of these shares; a text that is no share stands for all."""
    if words := [value for value in values if value and not value[0].isdigit() and value != "–"]:
        return words[0]
    numbers = sorted((value for value in values if value and value[0].isdigit()), key=float)
    if not numbers:
        return "–"
    return numbers[0] if numbers[0] == numbers[-1] else f"{numbers[0]}–{numbers[-1]}"


def write_cells(file: Path, rows: Iterable[Sequence[str]]) -> None:
    """Every cell, as CSV."""
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened, lineterminator="\n").writerows([COLUMNS, *rows])


def trap_rows(scores: dict[tuple[str, str], Score]) -> Iterator[str]:
    """A row for each outcome, with the traps that have it."""
    yield "| trap | right | inconclusive | not good enough |"
    yield "|---|---|---|---|"
    outcomes: dict[tuple[str, ...], list[str]] = {}
    for trap in dict.fromkeys(name for _, name in scores):
        of = {command: score for (command, name), score in scores.items() if name == trap}
        listed = [
            ", ".join(command for command, score in of.items() if score is wanted) or "–"
            for wanted in (Score.RIGHT, Score.INCONCLUSIVE)
        ]
        bad = ", ".join(f"{command}: {score}" for command, score in of.items() if score in BAD) or "–"
        outcomes.setdefault((*listed, bad), []).append(trap)
    for outcome, traps in outcomes.items():
        yield f"| {'; '.join(traps)} | {' | '.join(outcome)} |"


def failures(scores: dict[tuple[str, str], Score], tallies: Iterable[tuple[Cell, Tally]]) -> dict[tuple[str, str], str]:
    """(command, truth) → why it is beyond its limits."""
    beyond = {key: str(score) for key, score in scores.items() if score in BAD}
    for cell, counts in tallies:
        if broken := broken_promises(cell, counts):
            beyond[cell.key] = "; ".join(broken)
    return beyond


def cpu_by_command(tallies: Iterable[tuple[Cell, Tally]]) -> dict[str, float]:
    """Seconds of CPU that its cells took."""
    spent: dict[str, float] = {}
    for cell, counts in tallies:
        spent[cell.question.command] = spent.get(cell.question.command, 0.0) + counts.seconds
    return spent


def record(page: Path, text: str) -> None:
    """The page with these tables in the place of those that it has."""
    before, _, _ = page.read_text(encoding="utf-8").partition(TABLES)
    page.write_text(before + text, encoding="utf-8")


def main(words: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--only", default="", metavar="WORD,…", help="commands or truths whose name holds a word")
    options.add_argument("--draws", type=float, default=1.0, metavar="SHARE", help="this share of the draws")
    options.add_argument("--quick", action="store_true", help=f"the same as --draws {QUICK}")
    options.add_argument(
        "--table", type=Path, metavar="FILE.md", help="record the tables in this page, every cell in its .csv"
    )
    asked = options.parse_args(words)
    chosen = [word for word in asked.only.split(",") if word]
    begin = time.perf_counter()
    scores = score_traps(chosen)
    share = QUICK if asked.quick else asked.draws
    tallies = tally_cells(share, chosen, os.cpu_count() or 1)
    promised, others = cell_rows(tallies, True), cell_rows(tallies, False)
    text = "\n".join(
        [
            TABLES,
            "",
            *trap_rows(scores),
            "",
            "## Promised, in per cent of the draws",
            "",
            *group_rows(promised),
            "",
            "## Published beside them",
            "",
            *group_rows(others, "; n = "),
            "",
        ]
    )
    print(text)
    if asked.table:
        record(asked.table, text)
        write_cells(asked.table.with_suffix(".csv"), [*promised, *others])
    beyond = failures(scores, tallies)
    known = {key for key in beyond if key in PENDING}
    judged = {*scores, *(cell.key for cell, _ in tallies if share >= 1)}  # few draws do not show that a cell is mended
    mended = [key for key in PENDING if key in judged and key not in beyond]
    print(
        f"\n{len(scores)} traps asked, {len(tallies)} cells; {len(beyond)} beyond their limits, {len(known)} of them "
        f"pending; {time.perf_counter() - begin:.0f} s, {sum(os.times()[:4]):.0f} s of CPU"
    )
    print("CPU: " + ", ".join(f"{command} {spent:.0f} s" for command, spent in cpu_by_command(tallies).items()))
    for key, why in beyond.items():
        print(f"{'pending' if key in known else 'beyond'}: {', '.join(key)}: {why}")
    for key in mended:
        print(f"mended, to be taken off pending.py: {', '.join(key)}")
    return 1 if len(beyond) > len(known) or mended else 0


if __name__ == "__main__":
    sys.exit(main())
