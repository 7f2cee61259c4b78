"""A gate where one side lacks a machine, a setting or a metric: what both have is compared, and nothing is pooled."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import iosonde
from iosonde.cli.group import cli
from iosonde.commands.compare.answer import Comparisons
from iosonde.core.verdict import VerdictState
from iosonde.ingest.stored_paths import change_factors
from iosonde.store import Store
from messages import raises

MACHINES = {"alpha": 400.0, "beta": 900.0}  # MiB/s
IOR = """IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Began               : Mon Nov 30 15:15:{second:02} 2026
Command line        : {words} -t {transfer} -b 64m -o /mnt/f
Machine             : Linux node

Options:
api                 : POSIX
access              : single-shared-file
nodes               : 1
tasks               : 1
clients per node    : 1
repetitions         : 1
xfersize            : {transfer}
blocksize           : 64 MiB
aggregate filesize  : 64 MiB

Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
{rows}
"""


def write_outputs(
    place: Path,
    machines: Iterable[str],
    read: float | None = 1.0,
    transfers: Iterable[str] = ("1m",),
    seed: int = 0,
) -> Path:
    """Write six outputs a machine and transfer size, in a directory a machine; reads are ``read`` times as fast,
    None: there are none."""
    noise = random.Random(seed)
    for machine in machines:
        (place / machine).mkdir(parents=True)
        for transfer in transfers:
            for number in range(6):
                rows = []
                for operation, factor in (("write", 1.0), ("read", read)):
                    if factor is None:
                        continue
                    rate = MACHINES[machine] * factor * noise.gauss(1, 0.01)
                    rows.append(f"{operation:9} {rate:.2f} {rate:.0f} 0.002 65536 1024 0.0001 0.1 0.0001 0.1 0")
                words = "ior -w" if read is None else "ior"
                text = IOR.format(second=noise.randrange(60), words=words, transfer=transfer, rows="\n".join(rows))
                (place / machine / f"r{number}_{transfer}.out").write_text(text)
    return place


def import_outputs(place: Path, *paths: Path) -> str:
    done = CliRunner().invoke(cli, ["import", "-r", *map(str, paths or [place]), "--store", f"{place}.store"])
    assert done.exit_code == 0, done.output
    return f"{place}.store"


def gate(a: str, b: str, **options: Any) -> Comparisons:
    answer = iosonde.compare(a, b=b, **{"fail_if": ["slower>3%"], **options}).answer
    assert isinstance(answer, Comparisons) and answer.judged is not None
    return answer


def list_failed(answer: Comparisons) -> list[tuple[Any, Any]]:
    assert answer.judged is not None
    rows = zip(answer.judged.rows, answer.items, strict=True)
    return [(item.cell["operation"], item.cell.get("dir1")) for row, item in rows if row.holds]


@pytest.fixture
def both_machines(tmp_path: Path) -> str:
    return import_outputs(write_outputs(tmp_path / "main", MACHINES))


@pytest.mark.parametrize("named", ["all", "the machine", "its files"])
def test_a_machine_that_the_change_lacks_hides_no_regression(tmp_path: Path, both_machines: str, named: str) -> None:
    place = write_outputs(tmp_path / "pr", ["beta"], read=0.8, seed=1)
    paths = {"all": [place], "the machine": [place / "beta"], "its files": sorted((place / "beta").iterdir())}[named]
    answer = gate(both_machines, import_outputs(place, *paths))
    assert list_failed(answer) == [("read", "beta")] and answer.problem
    (read,) = [item.comparison for item in answer.items if item.cell["operation"] == "read"]
    assert (read.a.side.n, read.b.side.n) == (6, 6) and read.decided.value == pytest.approx(0.8, rel=0.03)
    assert [note.values["side"] for note in answer.exclusions] == ["main.store"]


def test_the_same_holds_for_a_directory_with_a_name_of_the_user(tmp_path: Path, both_machines: str) -> None:
    change_factors(Store.open(Path(both_machines)), {"dir1": "system"}, ())
    answer = gate(both_machines, import_outputs(write_outputs(tmp_path / "pr", ["beta"], read=0.8, seed=1)))
    assert [item.cell["system"] for item in answer.items] == ["beta", "beta"] and answer.problem


def test_a_renamed_level_is_that_of_the_other_store(tmp_path: Path, both_machines: str) -> None:
    done = CliRunner().invoke(cli, ["store", "factors", both_machines, "dir1:beta=fast"])
    assert done.exit_code == 0, done.output
    answer = gate(both_machines, import_outputs(write_outputs(tmp_path / "pr", ["beta"], read=0.8, seed=1)))
    assert {item.cell["dir1"] for item in answer.items} == {"fast"} and answer.problem


def test_a_machine_that_was_not_measured_is_inconclusive_and_fails_a_strict_gate(
    tmp_path: Path, both_machines: str
) -> None:
    same = import_outputs(write_outputs(tmp_path / "pr", ["beta"], seed=1))
    loose, strict = gate(both_machines, same), gate(both_machines, same, strict=True)
    assert (loose.problem, strict.problem) == (False, True)
    missing = loose.to_dict()["fail_if"]["cannot_tell"]
    assert [entry["condition"] for entry in missing] == ["slower>3%"]
    assert loose.judged is not None and [note.values["cells"] for _, note in loose.judged.none] == ["dir1=alpha"]
    more = gate(same, both_machines, strict=True)
    assert not more.problem, "a machine that the base lacks is no regression"


def test_an_unknown_machine_is_compared_with_each_and_decides_nothing(tmp_path: Path, both_machines: str) -> None:
    place = tmp_path / "pr"
    write_outputs(place, ["beta"], read=0.8, seed=1)
    (place / "beta").rename(place / "gamma")
    unknown = import_outputs(place)
    answer, strict = gate(both_machines, unknown), gate(both_machines, unknown, strict=True)
    assert sorted(item.cell["dir1"] for item in answer.items) == ["alpha"] * 2 + ["beta"] * 2
    assert {item.state for item in answer.items} == {VerdictState.INCONCLUSIVE} and not answer.overall
    assert answer.judged is not None and {row.holds for row in answer.judged.rows} == {None}
    assert (answer.problem, strict.problem) == (False, True)
    for options, code in (([], 0), (["--strict"], 1), (["--markdown"], 0)):
        done = CliRunner().invoke(cli, ["compare", both_machines, unknown, "--fail-if", "slower>3%", *options])
        assert done.exit_code == code


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("read: slower", "invalid-gate-condition"),
        ("stat: slower>3%", "condition-not-applicable"),
        ("read: slower>3", "ambiguous-share"),
    ],
)
def test_a_wrong_condition_of_some_metrics_is_refused(both_machines: str, condition: str, code: str) -> None:
    with raises(code) as caught:
        gate(both_machines, both_machines, fail_if=[condition])
    assert caught.value.exit_code == 2


def test_a_size_that_only_the_base_varies_is_matched_at_the_common_one(tmp_path: Path) -> None:
    base = import_outputs(write_outputs(tmp_path / "main", ["beta"], transfers=("1m", "4m")))
    answer = gate(base, import_outputs(write_outputs(tmp_path / "pr", ["beta"], read=0.8, seed=1)))
    assert {item.cell["transfer_size"] for item in answer.items} == {1 << 20}
    assert list_failed(answer) == [("read", None)]


def write_table(path: Path, rates: Mapping[str, float], columns: str = "machine,read (MiB/s)", n: int = 6) -> str:
    noise = random.Random(len(str(path)))
    cells = [(machine, rate * noise.gauss(1, 0.01)) for machine, rate in rates.items() for _ in range(n)]
    rows = [f"{machine},{rate:.2f}" if "machine" in columns else f"{rate:.2f}" for machine, rate in cells]
    path.write_text("\n".join([columns, *rows]) + "\n")
    return str(path)


def test_tables_are_matched_at_the_machine_that_both_have(tmp_path: Path) -> None:
    base = write_table(tmp_path / "main.csv", MACHINES)
    answer = gate(base, write_table(tmp_path / "pr.csv", {"beta": 720.0}))
    assert [item.cell.get("machine") for item in answer.items] == ["beta"] and answer.problem


def test_a_table_without_the_machine_decides_nothing(tmp_path: Path) -> None:
    base = write_table(tmp_path / "main.csv", MACHINES)
    answer = gate(base, write_table(tmp_path / "pr.csv", {"beta": 720.0}, "read (MiB/s)"), strict=True)
    assert sorted(item.cell["machine"] for item in answer.items) == ["alpha", "beta"] and answer.problem
    assert answer.judged is not None and not answer.judged.failed


def test_a_metric_that_the_change_lacks_fails_a_strict_gate_of_all_metrics(tmp_path: Path) -> None:
    base = import_outputs(write_outputs(tmp_path / "main", ["beta"]))
    pr = import_outputs(write_outputs(tmp_path / "pr", ["beta"], read=None, seed=1))
    assert gate(base, pr, strict=True).problem
    writes = gate(base, pr, strict=True, fail_if=["write: slower>3%"])
    assert not writes.problem
