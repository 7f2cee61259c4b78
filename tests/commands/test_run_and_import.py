"""A run and an import of the same tool: their settings and responses are the same, whatever the placeholders' names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import fake_tools
import here
from iosonde.core.units import parse_size

SPEED = 2.0
REPETITIONS = 3


@dataclass(frozen=True)
class Sweep:
    """A command with placeholders, their levels, and the settings that an import has in their place."""

    command: str
    settings: dict[str, str]
    levels: dict[str, tuple[str, ...]]
    n_responses: int = 1
    values: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def n_cells(self) -> int:
        return len(list(product(*self.levels.values())))


SIZES, BYTES = ("256k", "1m", "4m"), (256 << 10, 1 << 20, 4 << 20)
SWEEPS = {
    "ior": Sweep(
        "ior -w -t ${t} -b 16m -o ${TARGET}/f", {"t": "transfer_size"}, {"t": SIZES}, values={"transfer_size": BYTES}
    ),
    "mdtest": Sweep(
        "mdtest -F -n ${items_per_rank} -d ${TARGET}",
        {"items_per_rank": "items_per_rank"},
        {"items_per_rank": ("100", "1000")},
        2,
        {"items_per_rank": (100, 1000)},
    ),
    "fio": Sweep(
        "fio --name=j --rw=randread --bs=${bs} --iodepth=${qd} --size=64m --output-format=json",
        {"bs": "block_size", "qd": "io_depth"},
        {"bs": SIZES[:2], "qd": ("1", "8")},
        3,
        {"block_size": BYTES[:2], "io_depth": (1, 8)},
    ),
    "elbencho": Sweep(
        "elbencho -w -t 1 -s 64m -b ${block_size} --resfile elbencho.txt ${TARGET}/f",
        {"block_size": "block_size"},
        {"block_size": SIZES[:2]},
        2,
        {"block_size": BYTES[:2]},
    ),
    "io500": Sweep("io500 config.ini", {}, {}, 13),
}


@dataclass(frozen=True)
class Place:
    """Where a tool was run and imported."""

    folder: Path
    sweep: Sweep

    def answer(self, *words: str) -> Any:
        done = here.iosonde(*words, "--json", where=self.folder)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def text(self, *words: str) -> str:
        done = here.iosonde(*words, where=self.folder)
        assert done.returncode == 0, done.stderr
        return done.stdout


def fill(command: str, levels: dict[str, str]) -> list[str]:
    """The words of the command with the levels in place of placeholders."""
    return re.sub(r"\$\{(\w+)\}", lambda match: levels.get(match[1], "/old"), command).split()


@pytest.fixture(
    scope="module", params=["ior", *(pytest.param(tool, marks=pytest.mark.long) for tool in SWEEPS if tool != "ior")]
)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    tool, folder = request.param, tmp_path_factory.mktemp(request.param)
    sweep = SWEEPS[tool]
    fake_tools.install(folder / "bin")
    for name in ("target", "old"):
        (folder / name).mkdir()
    for number, (levels, repetition) in enumerate(product(product(*sweep.levels.values()), range(REPETITIONS))):
        words = fill(sweep.command, dict(zip(sweep.levels, levels, strict=True)))[1:]
        output = fake_tools.print_tool(tool, words, repetition - 1.0, saved=True)
        (folder / "old" / f"{number}.txt").write_text(output)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
        patch.setenv("SPEED", str(SPEED))
        patch.chdir(folder)
        sets = [word for name, levels in sweep.levels.items() for word in ("--set", f"{name}={','.join(levels)}")]
        options = ["--target", "target", "--nodes", "1", "--on", "all", "--repetitions", str(REPETITIONS), *sets]
        for words in (["import", "-r", "old", "--store", "before"], ["run", sweep.command, *options, "--store", "now"]):
            done = here.iosonde(*words, where=folder)
            assert done.returncode == 0, done.stderr
        yield Place(folder, sweep)


def test_every_setting_and_response_is_compared(place: Place) -> None:
    sweep = place.sweep
    answer = place.answer("compare", "before", "now")
    items = answer["comparisons"]
    assert len(items) == sweep.n_cells * sweep.n_responses and answer["left_out"] == []
    for name, values in sweep.values.items():
        assert {item["by"][name] for item in items} == set(values)
    for item in items:
        ratio = 1 / SPEED if item["unit"] == "s" else SPEED
        assert item["ratio"]["value"] == pytest.approx(ratio, rel=0.03)
        assert item["a"]["n"] == item["b"]["n"] == REPETITIONS
    assert len(answer["warnings"]) == 1  # measured apart


def test_a_condition_holds_in_both_or_is_said_of_the_one_that_has_the_column(place: Place) -> None:
    sweep = place.sweep
    for name, setting in sweep.settings.items():
        level = sweep.levels[name][0]
        items = place.answer("compare", "before", "now", "--where", f"{name}={level}")["comparisons"]
        n_cells = sweep.n_cells // len(sweep.levels[name])
        assert len(items) == n_cells * sweep.n_responses
        assert {item["by"].get(setting, level) for item in items} <= {level, sweep.values[setting][0]}
    answer = place.answer("compare", "now", "before", "--where", "nodes=1")
    assert len(answer["comparisons"]) == sweep.n_cells * sweep.n_responses
    has_nodes = "nodes" in here.iosonde("show", "before", "--export", "csv", where=place.folder).stdout.splitlines()[0]
    assert has_nodes != any("nodes" in text for text in answer["warnings"])
    done = here.iosonde("compare", "before", "now", "--where", "nowhere=1", where=place.folder)
    assert done.returncode == 2 and "nowhere" in done.stderr


def test_both_are_asked_by_the_tools_name_of_a_setting(place: Place) -> None:
    for name, values in place.sweep.values.items():
        for store in ("before", "now"):
            groups = place.answer("summary", store, "--by", name)["groups"]
            assert {parse_size(group["by"][name]) for group in groups} == set(values)
            chosen = place.answer("summary", store, "--where", f"{name}={place.sweep.values[name][0]}")["groups"]
            n_cells = place.sweep.n_cells // len(values)
            assert sum(group["n"] for group in chosen) == n_cells * place.sweep.n_responses * REPETITIONS
            assert name in json.dumps(place.answer("plot", store, "--x", name))


def test_placeholders_and_sums_of_one_rank_are_not_shown(place: Place) -> None:
    place.text("report", "now", "--output", "page.html")
    page = re.sub(
        r"<(pre|script).*?</\1>", "", (place.folder / "page.html").read_text(), flags=re.DOTALL
    )  # the command itself
    aliases = [name for name, setting in place.sweep.settings.items() if name != setting]
    summary = place.text("summary", "now")
    for shown in (summary, page):
        assert not re.search(r"sum.of.ranks", shown)
        assert not [name for name in aliases if re.search(rf"\b{name}(?==| matters)", shown)]
