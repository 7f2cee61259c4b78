"""What a command's text tells of MPI: where it runs by default, what is warned about, what outputs say of tasks."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.measure import mpi_program
from iosonde.measure.collect import aggregate, one_job
from iosonde.measure.same_file import find_file_written_by_all
from iosonde.measure.spec import ALL, EACH, MPI, SINGLE
from messages import assert_problem


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ("ior -t ${t} -o ${TARGET}/f", MPI),
        ("A=b C='x y' /opt/bin/mdtest -n 10", MPI),
        ('"$HOME/bin/md-workbench" -I 3', MPI),
        ("io500 config.ini", MPI),
        ("ior -w | tee log", MPI),
        ("2>log ior -w > out 2>&1;\n", MPI),
        ("ior \\\n -w\n", MPI),
        ("mpiexec -n 2 ior -w", SINGLE),
        ("X=1 /opt/mpiexec.hydra -n 2 ior | cat", SINGLE),
        ("srun -n 4 ./mine", SINGLE),
        ("ior -o ${TARGET}/${NODENAME}", ALL),  # copies are meant
        ('ior -o "/x/$IOSONDE_RANK"', ALL),
        ("cd /x && ior -w", ALL),
        ("ior -w; ior -r", ALL),
        ("ior -w & wait", ALL),
        ("for i in 1 2; do ior; done", ALL),
        ("timeout 60 ior", ALL),
        ("iozone -i0", ALL),
        ("RSH=ssh iozone -+m ${IOZONE_CLIENTS} -t 2", SINGLE),
        ("echo 'ior && x' ior", ALL),
        ("", ALL),
    ],
)
def test_where_a_command_runs_that_does_not_say_it(command, where):
    assert mpi_program.choose_default_on(command, ALL) == where


def test_the_program_is_found_where_the_launcher_has_to_stand():
    program = "/opt/my ior"
    found = mpi_program.get_first_program(f"A=b C='x y' \"{program}\" -w")
    assert (found.word, found.name, found.at, found.assigned) == (program, Path(program).name, 12, ("A", "C"))
    assert mpi_program.quote_launcher(["mpiexec", "--host", "a b"]) == "mpiexec --host 'a b' "


@pytest.mark.parametrize(
    ("command", "tools"),
    [
        ("cd /x && ior -w; mdtest", ["ior", "mdtest"]),
        ("env A=b timeout 9 /o/ior", ["ior"]),
        ("mpiexec -n 2 ior", []),
        ("for i in 1; do ior; done", ["ior"]),
        ("echo ior", []),
    ],
)
def test_tools_are_seen_where_they_run_without_a_launcher(command, tools):
    assert mpi_program.list_mpi_tools(command) == tools


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("mpiexec -n 2 ior", "mpiexec starts the ranks itself"),
        ("cd /x && ior", "runs several"),
        (" # no", "no program"),
        ("! ior", "runs several"),
    ],
)
def test_what_cannot_be_one_job_is_said(command, said):
    assert said in mpi_program.explain_unfit_for_mpi(command)[0]
    assert mpi_program.explain_unfit_for_mpi("A=b ./mine x | cat") is None


@given(st.text(max_size=60))
def test_any_text_is_taken_apart(text):
    for program in mpi_program.list_programs(text):
        assert text[program.at :]
    assert mpi_program.choose_default_on(text, EACH)


@pytest.mark.parametrize(
    ("command", "nodes", "per_node", "name"),
    [
        ("ior -w -o ${TARGET}/f", 2, 1, "${TARGET}/f"),
        ("ior -w -o/x/f", 2, 1, "/x/f"),
        ("ior -r -o ${TARGET}/f", 2, 1, None),
        ("ior -w -o ${TARGET}/f", 1, 1, None),
        ("ior -o ${TARGET}/f.${RANK}", 2, 8, None),
        ("ior -o ${TARGET}/f.${NODENAME}", 2, 1, None),
        ("ior -o ${TARGET}/f.${NODENAME}", 2, 2, "${TARGET}/f.${NODENAME}"),
        ("ior -o ${TARGET}/f.${NODENAME}.${LOCAL_RANK}", 2, 2, None),
        ("ior -o ${TARGET}/f.${LOCAL_RANK}", 1, 2, None),
        ("ior -o ${TARGET}/f.$(hostname)", 2, 1, None),
        ("fio --name=x --rw=randwrite --filename=${TARGET}/f", 2, 1, "${TARGET}/f"),
        ("fio --name=x --rw=read --filename=${TARGET}/f", 2, 1, None),
        ("iozone -i0 -i1 -f ${TARGET}/f", 2, 1, "${TARGET}/f"),
        ("iozone -i1 -f ${TARGET}/f", 2, 1, None),
        ("dd if=/dev/zero of=/x/f bs=1M", 2, 1, "/x/f"),
        ("dd if=/x/f of=/dev/null", 2, 1, None),
        ("cd ${TARGET}/${RANK} && iozone -a -f f", 2, 1, None),
    ],
)
def test_one_file_that_several_copies_write_is_seen(command, nodes, per_node, name):
    assert find_file_written_by_all(command, nodes, per_node) == name


def outputs(*tasks, tool="ior"):
    return [SimpleNamespace(tool=tool, factors={} if count is None else {"ranks": count}, rows=[]) for count in tasks]


def said(on, command, *tasks, ranks=2):
    item = {"on": on, "command": command, "label": "step-01", "launch": ["/opt/mpiexec", "-n", "2"]}
    found = one_job.count_tasks(item, {0: outputs(*tasks)}, ranks)
    return found, one_job.describe_broken_job(item, found)


@pytest.mark.parametrize("tasks", [(1, 1), (1,), (None, None)])
def test_a_job_that_fell_apart_is_named_with_its_launcher(tasks):
    found, why = said(MPI, "ior", *tasks)
    assert found == {"tool": "ior", "expected": 2, "tasks": list(tasks)}
    assert_problem(*why, "separate-jobs", step="step-01", tool="ior", launcher="/opt/mpiexec", expected=2)


@pytest.mark.parametrize("tasks", [(2,), (2, 2), (None,), (4,)])
def test_one_job_is_left_alone(tasks):
    assert said(MPI, "ior", *tasks)[1] == []


def test_what_is_expected_of_other_steps():
    assert said(SINGLE, "mpiexec -n ${RANKS} ior", 1, 1)[0]["expected"] == 2
    assert said(SINGLE, "mpiexec -n 2 ior", 1, 1)[0]["expected"] is None
    assert said(SINGLE, "ior", 1)[0] is None
    assert said(ALL, "ior -o /x", 1)[0]["expected"] == 2
    assert said(ALL, "ior -o /x/${RANK}", 1)[0] is None
    item = {"on": MPI, "command": "./mine", "label": "x"}
    assert one_job.count_tasks(item, {0: outputs(1, tool="fio")}, 2) is None


def test_several_outputs_of_one_command_are_iterations_of_one_trial():
    def row(value, iteration):
        return SimpleNamespace(
            operation="write",
            metric="bandwidth_last_done",
            value=value,
            unit="bytes/s",
            rank=None,
            iteration=iteration,
            count=None,
            includes="",
            factors=None,
        )

    executions = [
        SimpleNamespace(factors={"ranks": 1}, rows=[row(v, i) for i, v in enumerate(values)])
        for values in ((1.0, 2.0), (3.0, 4.0))
    ]
    made = aggregate.aggregate_tool_results({0: executions}, MPI, "", "step-01", 1.0).observations
    assert [(one.value, one.repetition) for one in made] == [(1.0, 0), (2.0, 1), (3.0, 2), (4.0, 3)]


@pytest.mark.parametrize(
    ("command", "only"),
    [
        ("mdtest -C -i 10 -n 100 -S", True),
        ("mpirun -n 2 mdtest -n 9 -C", True),
        ("mdtest -n 100", False),
        ("mdtest -C -T -n 9", False),
        ("mdtest -C -n 9 && mdtest -T -n 9", True),
        ("ior -C", False),
        ("mdtest -r", False),
    ],
)
def test_mdtest_that_only_creates_is_known(command, only):
    assert mpi_program.is_mdtest_create_only(command) is only
