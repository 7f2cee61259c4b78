"""A store of several tools: each is judged by the settings that it has; what only labels settings is no factor."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import fake_tools
import here
import iosonde
from iosonde.commands.summary.text import lines
from iosonde.core.table import Table, build_table
from messages import codes, with_code

SIZES, ITEMS, TRIALS = ("64k", "1m", "4m"), ("100", "1000"), 3


@pytest.fixture(scope="module")
def two_tools(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of the outputs of IOR and mdtest."""
    folder = tmp_path_factory.mktemp("two")
    for trial in range(TRIALS):
        noise = trial - 1.0
        for size in SIZES:
            _save(folder, f"ior-{size}-{trial}", "ior", ["-w", "-t", size, "-o", "/scratch/f"], noise)
        for items in ITEMS:
            _save(folder, f"mdtest-{items}-{trial}", "mdtest", ["-n", items, "-d", "/scratch/d"], noise)
    done = here.iosonde("import", "-r", ".", "--store", "store", where=folder)
    assert done.returncode == 0, done.stderr
    return str(folder / "store")


def _save(folder: Path, name: str, tool: str, words: list[str], noise: float) -> None:
    (folder / f"{name}.out").write_text(fake_tools.print_tool(tool, words, noise))


def test_settings_that_a_tool_lacks_are_neither_confounded_nor_levels(two_tools):
    answer: Any = iosonde.summary(two_tools).answer
    said = "\n".join(lines(answer)) + str(iosonde.rank(two_tools).to_dict()) + str(answer.to_dict()["findings"])
    assert "=(missing)" not in said and "(missing)" not in "\n".join(lines(answer))
    assert sum(code.startswith("confounded") for code in codes(answer.overview.warnings)) <= 1


def test_each_tool_is_tested_on_its_own_settings(two_tools):
    answer: Any = iosonde.summary(two_tools).answer
    effects = {key: effects.factors for key, effects in answer.overview.effects.items()}
    for (operation, _), names in effects.items():
        assert ("transfer_size" in names) == (operation == "write"), operation


def draw_archive(label: bool) -> Table:
    """Rates by mode, size and device over decades; ``test`` names mode and size, as a file name does."""
    generator = random.Random(7)
    rows = [
        (mode, size, device, speed * size * times * (1 + 0.05 * generator.gauss(0, 1)))
        for mode, speed in (("read", 2.0), ("rw", 1.0))
        for size in (4, 64, 1024)
        for device, times in (("a", 1.0), ("b", 1.3), ("c", 1.1))
    ]
    generator.shuffle(rows)
    columns = {name: [row[at] for row in rows] for at, name in enumerate(("mode", "size", "device", "mbs"))}
    return build_table({"test": [f"{row[0]}-{row[1]}k" for row in rows], **columns} if label else columns)


@pytest.mark.parametrize("command", ["rank", "summary"])
def test_a_label_of_settings_changes_no_verdict(command):
    plain, labelled = (
        {
            tuple(verdict["subject"]): (verdict["state"], round(verdict["p"], 9))
            for verdict in getattr(iosonde, command)(draw_archive(label), response="mbs").to_dict()["verdicts"]
            if verdict["question"] == "effect"
        }
        for label in (False, True)
    )
    assert plain and plain == labelled


def test_over_decades_logarithms_are_advised_and_can_be_taken(two_tools):
    table = draw_archive(False)
    advice = with_code(iosonde.rank(table, response="mbs").to_dict()["warnings"], "take-logarithms")
    assert "size" in advice and "log(mbs)" in advice
    assert "log" in iosonde.summary(table, response="mbs").to_dict()["sentence"]
    titles = [ranking.response for ranking in iosonde.rank(two_tools, response="log(bandwidth)").answer.rankings]
    assert titles == ["log(bandwidth)"]
    titles = [ranking.response for ranking in iosonde.rank(two_tools, response="log(rate)").answer.rankings]
    assert len(titles) > 1 and all(title.startswith("log(") for title in titles)
