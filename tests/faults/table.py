"""What a series of campaigns came to: as text, and as the generated part of docs/reliability.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .plans import NODES, ROWS

BEGIN = "<!-- made by: make test-faults FAULTS_OPTIONS=--write-docs -->"
END = "<!-- end of what was made -->"


def rows(found: dict[str, Any]) -> list[list[str]]:
    """Fault, tried, of these on two nodes, hit, held, number of the first that did not."""
    lines = []
    for row in ROWS:
        tried = [one for one in found["campaigns"] if one["row"] == row.name]
        if tried:
            broken = [one["number"] for one in tried if one["breaches"]]
            hit, on_nodes = sum(one["hit"] for one in tried), sum(one["shape"] == NODES for one in tried)
            lines.append(
                [
                    row.name,
                    *map(str, (len(tried), on_nodes, hit, len(tried) - len(broken))),
                    str(min(broken)) if broken else "–",
                ]
            )
    totals = [sum(int(line[column]) for line in lines) for column in range(1, 5)]
    return [*lines, ["all", *map(str, totals), ""]]


HEAD = ["fault", "tried", "2 nodes", "hit", "held", "first failing"]


def text(found: dict[str, Any]) -> str:
    """For a terminal."""
    lines = rows(found)
    width = max(len(line[0]) for line in lines)
    out = [f"\n{HEAD[0]:{width}}  {'  '.join(HEAD[1:])}"]
    for line in lines:
        cells = (f"{cell:>{len(title)}}" for cell, title in zip(line[1:], HEAD[1:], strict=True))
        out.append(f"{line[0]:{width}}  {'  '.join(cells)}")
    out.append(f"\n{_how(found)}")
    for sentence, numbers in breaches(found):
        out.append(f"{len(numbers):4d} × {sentence}  ({', '.join(map(str, numbers[:6]))}{' …' * (len(numbers) > 6)})")
    return "\n".join(out) + "\n"


def breaches(found: dict[str, Any]) -> list[tuple[str, list[int]]]:
    """Each sentence with the campaigns that it is about, the most frequent first."""
    where: dict[str, list[int]] = {}
    for one in found["campaigns"]:
        for sentence in one["breaches"]:
            where.setdefault(f"{one['row']}: {sentence}", []).append(one["number"])
    return sorted(where.items(), key=lambda item: -len(item[1]))


def into(page: Path, found: dict[str, Any]) -> None:
    """Put the table between the two marks of a page. Raises ValueError if they are not there."""
    replace_between(page, BEGIN, END, markdown(found))


def replace_between(page: Path, begin: str, end: str, text: str) -> None:
    """Put ``text`` between two marks of a page. Raises ValueError if they are not there."""
    content = page.read_text()
    before = content.index(begin) + len(begin)
    after = content.index(end, before)
    page.write_text(f"{content[:before]}\n\n{text}\n{content[after:]}")


def markdown(found: dict[str, Any]) -> str:
    """For the page."""
    lines = [f"| {' | '.join(HEAD)} |", "|---|" + "---:|" * (len(HEAD) - 1)]
    lines += [f"| {' | '.join(line)} |" for line in _by_outcome(rows(found))]
    lines += ["", _how(found), ""]
    for sentence, numbers in breaches(found):
        lines.append(f"- {len(numbers)} × {sentence} ({', '.join(map(str, numbers[:6]))})")
    for what, why in found["not_run"].items():
        lines.append(f"- not run: {what}: {why}")
    return "\n".join(lines) + "\n"


def _by_outcome(lines: list[list[str]]) -> list[list[str]]:
    """The faults that held in all campaigns as one line, then the others and the total."""
    *faults, total = lines
    held = [line for line in faults if line[1] == line[4]]
    others = [line for line in faults if line[1] != line[4]]
    sums = [str(sum(int(line[column]) for line in held)) for column in range(1, 5)]
    return [["; ".join(line[0] for line in held), *sums, "–"], *others, total] if held else lines


def _how(found: dict[str, Any]) -> str:
    campaigns = found["campaigns"]
    broken = sum(bool(one["breaches"]) for one in campaigns)
    after = sum(bool(one.get("resumed")) for one in campaigns)
    starts = sorted(one["start_s"] for one in campaigns if "start_s" in one)
    start = f"; starting `iosonde` took {starts[len(starts) // 2]:.2f} s (median)" if starts else ""
    minutes = f"{found['seconds'] / 60:.0f} min on {found['cores']} cores"
    hit = sum(one["hit"] for one in campaigns)
    return (
        f"Seed {found['seed']}, commit {found['commit']}: {len(campaigns)} campaigns in {minutes}{start}. "
        f"In {hit} the fault struck, {after} were resumed by the same command, {broken} had a breach."
    )
