"""python docs/reproductions/verdicts.py: write the tables of examples/published against docs/results into the pages.

Every verdict is that of ``iosonde compare examples/published/NAME.yaml``; nothing is decided here.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import iosonde
from iosonde.agreement.cells import REASONS
from iosonde.agreement.judge import PublishedOutcome
from iosonde.commands.compare.published import PublishedVerdicts

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "examples" / "published"
PAGES = (ROOT / "docs" / "reproductions.md", ROOT / "docs" / "reproductions-gluster.md")
# A table stands between these; ``documents`` counts the numbers, any other name is that of an experiment.
_TABLE = re.compile(r"(<!-- verdicts: ([\w-]+) -->\n)(.*?)(<!-- end of verdicts -->\n)", re.DOTALL)
DOCUMENTS = "documents"


def main() -> None:
    """Write the tables into both pages."""
    for page in PAGES:
        page.write_text(fill_page(page.read_text(encoding="utf-8")), encoding="utf-8")


def fill_page(text: str) -> str:
    """Return the text of a page with the tables that are computed now."""
    return _TABLE.sub(lambda match: f"{match[1]}\n{_build_table(match[2])}\n{match[4]}", text)


def list_tables(text: str) -> list[str]:
    """Return the names of the tables of a page."""
    return [match[2] for match in _TABLE.finditer(text)]


@cache
def judge_documents() -> tuple[PublishedVerdicts, ...]:
    """Judge every document."""
    return tuple(iosonde.compare(str(path)).answer for path in sorted(PUBLISHED.glob("*.yaml")))


def _build_table(name: str) -> str:
    return _build_document_table() if name == DOCUMENTS else _build_claim_table(f"{name}.yaml")


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


def _build_claim_table(file: str) -> str:
    """Return the claims of one experiment, those with the same note or reason together."""
    claims = [claim for answer in judge_documents() for claim in answer.claims if claim.file == file]
    lines = ["| claim | published | here | verdict |", "|---|---|---|---|"]
    for claim in claims:
        published, ours = claim.judged.sides
        derived = f"{claim.derivation}, so {published}" if claim.derivation else published
        p = "" if claim.judged.verdict.p is None else f" (p = {claim.judged.verdict.p:.2g} of all orders)"
        cells = [claim.judged.claim, derived, ours, f"{claim.outcome}{p}"]
        lines.append(_join([str(cell).replace("|", "\\|") for cell in cells]))
    notes = dict.fromkeys(claim.judged.note for claim in claims if claim.judged.note)
    return "\n".join([*lines, *([""] if notes else []), *(f"- {note}" for note in notes)]) + "\n"


def _join(cells: list[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
