"""What a command's text tells of MPI: where it runs by default, what is warned about, what outputs say of tasks."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.programs import get_first_program, list_programs
from iosonde.measure import mpi_program, same_file
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
    found = get_first_program(f"A=b C='x y' \"{program}\" -w")
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
    for program in list_programs(text):
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


@pytest.mark.parametrize(
    ("command", "programs", "alone"),
    [
        ("ior -w", [("ior", 0, (), ("-w",))], True),
        ("A=1 B='x y' ior 'a b' | tee log", [("ior", 12, ("A", "B"), ("a b",)), ("tee", 24, (), ("log",))], True),
        ("a; b", [("a", 0, (), ()), ("b", 3, (), ())], False),
        ("a;", [("a", 0, (), ())], True),
        ("a &", [("a", 0, (), ())], False),
        ("a || b", [("a", 0, (), ()), ("b", 5, (), ())], False),
        ("a >out 2>&1 <in b", [("a", 0, (), ("b",))], True),
        ("# c\na", [("a", 4, (), ())], True),
        ("! a", [("!", 0, (), ("a",))], False),
        ("A=1", [], None),
        ('"a', [('"', 0, (), ("a",))], True),
        ("(a)", [("a", 1, (), ())], False),
    ],
)
def test_programs_of_a_command_by_hand(command, programs, alone):
    found = list_programs(command)
    assert [(each.word, each.at, each.assigned, each.words) for each in found] == programs
    assert {each.alone for each in found} == ({alone} if programs else set())


def test_programs_are_known_by_name():
    found = get_first_program("/opt/bin/mpiexec.hydra -n 2 ior")
    assert (found.name, found.is_launcher, found.is_tool) == ("mpiexec.hydra", True, False)
    tool = get_first_program("/opt/bin/mdtest")
    assert (tool.name, tool.is_launcher, tool.is_tool) == ("mdtest", False, True)
    assert get_first_program("") is None


@pytest.mark.parametrize(
    ("command", "launched"),
    [
        ("mpirun -n 2 /o/ior -w", ("mpirun", "/o/ior")),
        ("mpirun -n 2 ./mine", None),
        ("ior", None),
        ("", None),
        ("/b/srun mdtest ior", ("/b/srun", "mdtest")),
    ],
)
def test_the_tool_that_a_launcher_starts(command, launched):
    assert mpi_program.find_launched_tool(command) == launched


@pytest.mark.parametrize(
    ("command", "tools", "has"),
    [
        ("mpirun -n 2 ior", ["ior"], True),
        ("env A=b ior", ["ior"], True),
        ("echo ior", ["ior"], False),
        ("fio", ["ior", "fio"], True),
        ("mpirun -n 2 fio", ["ior"], False),
    ],
)
def test_a_command_that_runs_one_of_several_programs(command, tools, has):
    assert mpi_program.has_any_program(command, tools) is has


@pytest.mark.parametrize(
    ("command", "code"),
    [("", "no-program"), ("mpirun ior", "launcher-not-allowed"), ("ior; ior", "several-programs"), ("ior | cat", None)],
)
def test_why_a_command_is_no_job(command, code):
    found = mpi_program.explain_unfit_for_mpi(command)
    assert (found and found[0].code) == code and (found is None or found[1])


@pytest.mark.parametrize(
    ("command", "differs"),
    [
        ("a ${RANK}", True),
        ("a ${HOSTNAME}", True),
        ("a $IOSONDE_RANK", True),
        ("a ${IOSONDE_LOCAL_RANK}", True),
        ("a ${RANKS} $IOSONDE_RANKS", False),
        ("a $$RANK", False),
    ],
)
def test_a_command_that_differs_between_ranks(command, differs):
    assert mpi_program.is_different_by_rank(command) is differs


@pytest.mark.parametrize(
    ("on", "tasks", "expected", "breaks"),
    [
        ("mpi", [1, 1], 2, True),
        ("mpi", [1], 1, False),
        ("all", [1, 1], 2, False),
        ("mpi", [None], 2, False),
        ("mpi", [None, None], 2, True),
        ("mpi", [None, 2], 2, False),
        ("mpi", [None] * 3, 2, False),
        ("mpi", [2], 2, False),
    ],
)
def test_a_job_that_broke_into_several(on, tasks, expected, breaks):
    item = {"on": on, "label": "x"}
    found = one_job.describe_broken_job(item, {"tool": "ior", "tasks": tasks, "expected": expected})
    assert len(found) == breaks
    if breaks:
        assert_problem(found[0], "separate-jobs", jobs=len(tasks), expected=expected)
    assert one_job.describe_broken_job(item, None) == []


@pytest.mark.parametrize(
    ("on", "command", "expected"),
    [
        ("single", "mpirun -n ${NODES} ior", 4),
        ("single", "mpirun ior", None),
        ("single", "ior ${RANKS}", 0),
        ("all", "ior", 4),
        ("all", "fio", 0),
        ("all", "ior ${RANK}", 0),
        ("each", "ior", 0),
        ("mpi", "./mine", 4),
    ],
)
def test_the_tasks_that_a_step_should_have(on, command, expected):
    assert one_job._count_expected_tasks({"on": on, "command": command}, 4) == expected


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("ior -o=/x/f", "/x/f"),
        ("ior -r -w -o /x/f", "/x/f"),
        ("ior -o", None),
        ("mdtest -d /x", "/x"),
        ("fio --filename=/x --readwrite=rw", "/x"),
        ("fio --filename=/x --readwrite=randrw", "/x"),
        ("fio --filename=/x", None),
        ("iozone -i 0 -f /x", "/x"),
        ("iozone -i 1 -f /x", None),
        ("iozone -f /x", "/x"),
        ("dd of=f", "f"),
        ("dd of=f ${RANK}", None),
        ("dd of=${TARGET}/f ${RANK}", "${TARGET}/f"),
        ("dd of=$HOME/f", None),
        ("dd of=`hostname`", None),
        ("cp a b; dd of=/x", "/x"),
        ("cp a b", None),
    ],
)
def test_files_that_copies_write_by_hand(command, name):
    assert find_file_written_by_all(command, 2, 1) == name
    assert find_file_written_by_all(command, 1, 1) is None


@pytest.mark.parametrize(
    ("name", "nodes", "per_node", "is_unique"),
    [
        ("${RANK}", 2, 2, True),
        ("${NODE_INDEX}", 2, 1, True),
        ("${HOSTNAME}", 2, 2, False),
        ("${HOSTNAME}${LOCAL_RANK}", 2, 2, True),
        ("${LOCAL_RANK}", 2, 2, False),
        ("${LOCAL_RANK}", 1, 2, True),
        ("f", 1, 1, True),
        ("${RANKS}", 1, 2, False),
    ],
)
def test_names_that_every_copy_has_for_itself(name, nodes, per_node, is_unique):
    assert same_file._has_unique_name(name, nodes, per_node) is is_unique
