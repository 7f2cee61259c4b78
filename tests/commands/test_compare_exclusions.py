"""What a comparison of levels leaves out, and factors that go with the sides in a store of several tools."""

from __future__ import annotations

from pathlib import Path

from iosonde.commands.compare.answer import Comparisons, Sides, compare
from iosonde.core.types import Observation, Run
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.store import Store

BANDWIDTH, P99 = ("bandwidth_last_done", "bytes/s"), ("completion_latency_p99", "s")


class Archive:
    """A store of imported runs."""

    def __init__(self, path: Path) -> None:
        self.path, self.store, self.count = path, Store.create(path), 0

    def add(self, factors: dict, *metrics: tuple[str, tuple[str, str]], level: float = 1.0) -> None:
        """Add three runs with these (operation, metric)."""
        for _ in range(3):
            self.count += 1
            rows = [
                Observation(operation, name, level * (1 + 0.01 * (self.count % 5)), unit)
                for operation, (name, unit) in metrics
            ]
            run_id, started = f"i-{self.count:03}", f"2026-11-21T10:{self.count:02}:00Z"
            self.store.append(Run(run_id, "i", "fio", started, 1.0, factors, rows, facts={"import": {"file": run_id}}))

    def compare(self, *levels: str, group: str, metric: tuple[str, ...] = ()) -> Comparisons:
        answer = compare(open_data(self.path), ResponseQuery(metric=metric), Sides(levels, group))
        assert isinstance(answer, Comparisons)
        return answer


def list_exclusions(answer: Comparisons) -> list[tuple[str, str]]:
    return [(str(note.values["side"]), str(note.values["cells"])) for note in answer.exclusions]


def test_a_metric_that_one_side_alone_has_is_named_and_no_setting(tmp_path):
    archive = Archive(tmp_path / "s")
    for size in (4096, 65536):
        archive.add({"tool": "fio", "fs": "shm", "size": size}, ("write", BANDWIDTH))
        archive.add({"tool": "fio", "fs": "ext", "size": size}, ("write", BANDWIDTH), ("fsync", P99))
    expected = [("fs=ext", "fsync completion latency p99")]
    assert list_exclusions(archive.compare(group="fs", metric=("all",))) == expected


def test_levels_that_are_not_compared_have_nothing_alone(tmp_path):
    archive = Archive(tmp_path / "s")
    archive.add({"tool": "fio", "job": "oltp"}, ("read", BANDWIDTH))
    archive.add({"tool": "fio", "job": "log"}, ("write", BANDWIDTH))
    archive.add({"tool": "fio", "job": "mixed"}, ("read", BANDWIDTH), ("write", BANDWIDTH), ("read", P99))
    p99, both = "read completion latency p99", "read bandwidth and read completion latency p99"
    three = archive.compare(group="job", metric=("all",))
    assert len(three.items) == 2 and list_exclusions(three) == [("job=mixed", p99)]
    two = archive.compare("log", "mixed", group="job", metric=("all",))
    assert list_exclusions(two) == [("job=mixed", both)]


def test_a_factor_that_goes_with_the_sides_makes_no_cells_though_other_tools_lack_it(tmp_path):
    archive = Archive(tmp_path / "s")
    for fs, engine in (("shm", "psync"), ("ext", "io_uring")):
        archive.add({"tool": "fio", "fs": fs, "engine": engine}, ("write", BANDWIDTH), level=1.0 + 9 * (fs == "shm"))
        archive.add({"tool": "fio-log", "fs": fs}, ("write", P99))
    answer = archive.compare(group="fs", metric=("bandwidth",))
    assert [item.state for item in answer.items] == [VerdictState.NOT_SEPARABLE] and not answer.exclusions
    assert [item.comparison.a.side.n for item in answer.items] == [3]


def test_runs_that_lack_a_factor_are_not_pooled_with_runs_that_have_it(tmp_path):
    archive = Archive(tmp_path / "s")
    for fs, engine in (("shm", "psync"), ("ext", "io_uring")):
        archive.add({"tool": "fio", "fs": fs, "engine": engine}, ("write", BANDWIDTH))
        archive.add({"tool": "fio", "fs": fs}, ("write", BANDWIDTH))
    answer = archive.compare(group="fs")
    assert [item.comparison.a.side.n for item in answer.items] == [3]
