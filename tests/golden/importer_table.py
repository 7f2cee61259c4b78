"""The table of docs/importers.md: tools × versions × forms that the captures prove.

``python tests/golden/importer_table.py`` writes it.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePath

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "importers.md"
BEGIN, END = "<!-- table of captures: begin -->\n", "<!-- table of captures: end -->\n"
_FORMS = {
    ".json": "JSON",
    ".jsonl": "JSON lines",
    ".csv": "CSV",
    ".log": "log",
    ".xls": "Excel 2",
    ".xml": "XML",
    ".ini": "ini",
    ".txt": "text",
}


def table() -> str:
    """Markdown: one row a tool, from the facts of the captures."""
    expected = json.loads((HERE / "importers_expected.json").read_text(encoding="utf-8"))
    tools: dict[str, list[tuple[str, dict]]] = {}
    for name, facts in expected.items():
        tools.setdefault(facts["format"], []).append((name, facts))
    lines = ["| tool | versions | forms | captures | of these incomplete |", "|---|---|---|---|---|"]
    for tool, found in sorted(tools.items()):
        versions = sorted({facts["version"] for _, facts in found if facts["version"]})
        forms = sorted({_FORMS[Path(name).suffix] for name, _ in found})
        samples = sum(PurePath(name).name.startswith("sample-") for name, _ in found)
        incomplete = sum(not facts["complete"] for _, facts in found)
        lines.append(
            f"| {tool} | {', '.join(versions) or 'not printed'} | {', '.join(forms)}"
            f" | {_captures(len(found) - samples, samples)} | {incomplete or ''} |"
        )
    return "\n".join(lines) + "\n"


def _captures(real: int, samples: int) -> str:
    """How many files, and how many of these a person wrote."""
    written = f"{samples} sample{'s' * (samples > 1)}"
    return f"{real} and {written}" if real and samples else written if samples else str(real)


def written(page: str) -> str:
    """The page with the table as it is now."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
