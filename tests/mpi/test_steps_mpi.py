"""Command steps on real ranks: who runs when, what comes home from another node, and what is summed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from iosonde.core.errors import LaunchError
from iosonde.measure.spec import ALL, EACH, SINGLE, CommandStep
from iosonde.ranks.launch import mpiexec
from messages import with_code

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_trial_mpi import another_node, target, two_nodes  # noqa: F401 - fixtures

from steps_bench import parse, printed, run

pytestmark = pytest.mark.mpi
FIXTURES = Path(__file__).parents[1] / "golden" / "fixtures"


@pytest.fixture(autouse=True, scope="module")
def an_mpiexec():
    try:
        mpiexec.find_mpiexec()
    except LaunchError as error:
        pytest.fail(f"these tests need MPI: {error.message}; {error.hint}")


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_the_semantics_of_the_thesis(target, nodes):  # noqa: F811
    """Dobrescu-Balau (2014), sections 3.4 to 3.7: single on the first node, all behind a barrier, only what is marked
    reaches the parser, NODENAME is the node's number."""
    seen = []

    def parser(tool, name, content):
        seen.append(content)
        return parse("iozone", name, (FIXTURES / "iozone/gen-v489-single-ops.txt").read_bytes())

    steps = [
        CommandStep("echo setup"),
        CommandStep("echo ${NODENAME}", on=ALL, parse="auto"),
        CommandStep("echo done", on=SINGLE),
    ]
    done = run(target, steps, nodes=nodes, parse=parser)
    assert done.complete, done.missing
    ran = [[rank["rank"] for rank in phase["ranks"]] for phase in done.phases]
    assert ran == [[0], list(range(nodes)), [0]]
    assert printed(done)[2] == {rank: f"{rank}\n".encode() for rank in range(nodes)}
    assert seen == list(printed(done)[2].values())
    assert len({row.rank for row in done.observations if row.metric == "rate_own"}) == nodes


def test_all_start_behind_a_barrier_and_each_waits_for_the_one_before(target):  # noqa: F811
    done = run(target, [CommandStep("sleep 0.2", on=ALL), CommandStep("sleep 0.1", on=EACH)], nodes=3)
    assert done.complete, done.missing
    together, in_turn = done.phases
    assert max(rank["started_ns"] for rank in together["ranks"]) < min(rank["ended_ns"] for rank in together["ranks"])
    assert together["start_spread_ns"] >= 0
    turns = [(rank["started_ns"], rank["ended_ns"]) for rank in in_turn["ranks"]]
    assert turns == sorted(turns)
    assert all(ended <= started for (_, ended), (started, _) in zip(turns, turns[1:], strict=False))


def test_totals_are_sums_of_what_every_rank_parsed(target):  # noqa: F811
    iozone = FIXTURES / "iozone" / "gen-v489-single-ops.txt"
    done = run(target, [CommandStep(f"cat {iozone}", on=ALL, parse="iozone")], nodes=3)
    assert done.complete, done.missing
    (one,) = parse("iozone", "x", iozone.read_bytes())
    alone = {row.operation: row.value for row in one.rows}
    sums = {row.operation: row.value for row in done.observations if row.metric == "rate_sum_of_ranks"}
    assert sums == {name: 3 * value for name, value in alone.items()}
    assert done.factors["record_size"] == 4096


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "if [ ${RANK} = 1 ]; then echo boom; exit 5; fi; cat FILE",
            "step-01: rank 1: the command ended with exit code 5: boom",
        ),
        ("if [ ${RANK} = 1 ]; then echo nonsense; else cat FILE; fi", "step-01: rank 1: cannot read its output"),
    ],
)
def test_a_rank_that_failed_leaves_no_total(target, command, said):  # noqa: F811
    iozone = FIXTURES / "iozone" / "gen-v489-single-ops.txt"
    done = run(target, [CommandStep(command.replace("FILE", str(iozone)), on=ALL, parse="auto")], nodes=3)
    assert done.missing[0].startswith(said)
    assert {row.rank for row in done.observations if row.metric == "rate_own"} == {0, 2}
    assert not [row for row in done.observations if row.rank is None and row.metric.startswith("rate")]


def test_an_mpi_program_runs_as_a_step_with_the_machinefile(target):  # noqa: F811
    inner = "from mpi4py import MPI; print(MPI.COMM_WORLD.Get_size())"
    command = (
        f"{mpiexec.find_mpiexec().path} -f ${{MACHINEFILE}} -launcher fork -n ${{RANKS}} {sys.executable} -c '{inner}'"
    )
    if mpiexec.find_mpiexec().flavour == mpiexec.OPEN_MPI:
        pytest.skip("the options are Hydra's")
    done = run(target, [CommandStep(command, timeout_s=60)], nodes=2)
    assert done.complete, (done.missing, printed(done))
    assert printed(done)[1][0].split() in ([b"2", b"2"], [b"22"])  # two processes print as they like


@two_nodes
def test_any_output_comes_home_from_another_node_in_order_of_rank(target, another_node, tmp_path):  # noqa: F811
    """30 MB of every byte there is, through MPI; nothing of it stays on the node."""
    command = CommandStep("head -c 30000000 /dev/urandom | tee ${TARGET_ROOT}/copy-${RANK}; hostname >&2", on=ALL)

    def check(done):
        assert done.complete, done.missing
        for rank, content in printed(done)[1].items():
            whole = (target / f"copy-{rank}").read_bytes()
            assert content.read_bytes()[: len(whole)] == whole
        assert content.read_bytes().endswith(b"n2\n")

    done = run(target, [command], nodes=2, launcher=another_node, keep=check)
    assert [rank["node"] for rank in done.phases[0]["ranks"]] == [0, 1]
    assert not list(another_node.its_tmp.iterdir())
    assert json.dumps(done.phases)


@two_nodes
def test_a_command_of_a_rank_that_was_killed_is_ended_on_its_node_and_its_output_kept(target, another_node):  # noqa: F811
    """The rank of the other node is killed by its own command, which then goes on alone."""
    command = "echo before; if [ ${RANK} = 1 ]; then echo $$ > ${TARGET_ROOT}/pid; kill -9 $PPID; sleep 1000; fi"
    done = run(target, [CommandStep(command, on=ALL)], nodes=2, launcher=another_node)
    assert not done.complete
    unfinished = with_code(done.missing, "unfinished-phase")
    assert unfinished.values["phase"] == "step-01"
    assert printed(done)[1][1] == b"before\n"
    pid = (target / "pid").read_text().strip()
    status = Path(f"/proc/{pid}/stat")
    assert not status.exists() or " Z " in status.read_text()
    assert not list(another_node.its_tmp.iterdir())
