"""python docs/reproductions/verdicts.py: write the tables of examples/published against docs/results into the page.

Every verdict is that of ``iosonde compare examples/published/NAME.yaml``; nothing is decided here.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import iosonde
from iosonde.agreement.cells import REASONS
from iosonde.agreement.judge import PublishedOutcome
from iosonde.commands.compare.published import PublishedVerdicts

ROOT = Path(__file__).parents[2]
PUBLISHED, PAGE = ROOT / "examples" / "published", ROOT / "docs" / "reproductions.md"
BEGIN, END = "<!-- verdicts: begin -->\n", "<!-- verdicts: end -->\n"


def main() -> None:
    """Write both tables into the page."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{build_tables()}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


@cache
def judge_documents() -> tuple[PublishedVerdicts, ...]:
    """Judge every document."""
    return tuple(iosonde.compare(str(path)).answer for path in sorted(PUBLISHED.glob("*.yaml")))


def build_tables() -> str:
    """Return the table of documents and that of claims, as Markdown."""
    return f"{_build_document_table()}\n{_build_claim_table()}"


def _build_document_table() -> str:
    """Count the numbers of each document by their verdict, and those without by the reason."""
    counts = [_count_numbers(answer) for answer in judge_documents()]
    titles = [title for title in (*map(str, PublishedOutcome), *REASONS) if any(row[title] for row in counts)]
    lines = [_join(["document", "numbers", *titles, "wrong statements"]), "|---|" + "---:|" * (len(titles) + 2)]
    for answer, row in zip(judge_documents(), counts, strict=True):
        cells = [row[title] or "" for title in titles]
        lines.append(
            _join([answer.publication.document, row.total(), *cells, len(answer.publication.wrong_statements) or ""])
        )
    return "\n".join(lines) + "\n"


def _count_numbers(answer: PublishedVerdicts) -> Counter[str]:
    counts: Counter[str] = Counter()
    for cell in answer.cells:
        is_open = cell.verdict.outcome is PublishedOutcome.NOT_MEASURED
        counts[cell.number.unmeasured or str(cell.verdict.outcome) if is_open else str(cell.verdict.outcome)] += len(
            cell.numbers
        )
    return counts


def _build_claim_table() -> str:
    lines = ["| document | claim | published | here | verdict |", "|---|---|---|---|---|"]
    for answer in judge_documents():
        for claim in answer.claims:
            if claim.is_stated:
                continue
            published, ours = claim.judged.sides
            derived = f"{claim.derivation}, so {published}" if claim.derivation else published
            p = "" if claim.judged.verdict.p is None else f" (p = {claim.judged.verdict.p:.2g} of all orders)"
            cells = [answer.publication.document, claim.judged.claim, derived, ours, f"{claim.outcome}{p}"]
            lines.append(_join([str(cell).replace("|", "\\|") for cell in cells]))
    return "\n".join(lines) + "\n"


def _join(cells: list[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
