"""What travels to nodes as a word, and the small programs and scripts that steps call there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import thread_ranks
from iosonde.core.errors import InputError, LaunchError, TargetError
from iosonde.core.types import Trial
from iosonde.measure import (
    asked_commands,
    assignment,
    error_sentence,
    items,
    levels_program,
    mpi_jobs,
    on_servers,
    placeholders,
    spools,
    user_commands,
    victim_program,
    workloads,
)
from iosonde.measure.assignment import Assignment, Sealed
from iosonde.measure.bench import Bench
from iosonde.measure.levels_program import LevelsTask, NodeLevel
from iosonde.measure.spec import CacheRegime, CommandStep, Control, NativeStep
from iosonde.measure.target.workspace import Workspace
from iosonde.measure.workloads import translation
from messages import codes, raises

# Assignments


def test_a_short_assignment_is_one_word_and_a_long_one_a_file(tmp_path):
    asked = Assignment(
        "/t",
        str(tmp_path),
        2,
        [{"kind": "command"}],
        1,
        9,
        values={"a b": 'x"$('},
        controls=[{"factor": "f", "set": "s", "on": "each"}],
        cache={"between_trials": "drop"},
    )
    assert Assignment.from_word(asked.to_word()) == asked and not list(tmp_path.iterdir())
    assert asked.factor_controls == [Control("f", "s", on="each")] and asked.regime == CacheRegime("drop")
    long = Assignment("/t", str(tmp_path), 2, [{"command": bytes(range(256)).hex() * 99}], 7, 9)
    assignment_file = tmp_path / assignment.FILE
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "MOST_CHARACTERS", len(long.to_word()))
        assert Assignment.from_word(long.to_word()) == long
        assert not assignment_file.exists()
        patch.setattr(assignment, "MOST_CHARACTERS", len(long.to_word()) - 1)
        sealed = Assignment.from_word(long.to_word())
    assert sealed == Sealed(str(tmp_path), 2) and assignment_file.exists()
    opened = thread_ranks.run_ranks(thread_ranks.on_hosts("a", "b"), sealed.opened)
    assert opened == [long, long]


def test_an_assignment_that_rank_0_cannot_read_is_a_fault_of_all(tmp_path):
    def fail(ranks):
        with raises("spool-not-shared", LaunchError, host="a", spool=tmp_path):
            Sealed(str(tmp_path), 2).opened(ranks)

    thread_ranks.run_ranks(thread_ranks.on_hosts("a", "b"), fail)


# Levels of nodes


@pytest.mark.parametrize(
    ("levels", "wanted"),
    [
        ({}, [("first", [None], [0]), ("each", [None, None], [0, 2])]),
        (
            {"first": ["7"], "each": ["1", "2"]},
            [("first", ["7"], [0]), ("each", ["1", "2"], [0, 2])],
        ),
        ({"each": ["1"]}, [("first", [None], [0]), ("each", ["1", None], [0, 2])]),
    ],
)
def test_each_factor_is_read_or_reset_where_it_is_set(monkeypatch, levels, wanted):
    """Rank 1 is the second one of the first node."""

    def set_level(control, values, target):
        assert values["a"] == "b" and values["HOSTNAME"] == ("n1" if values["NODE_INDEX"] == 2 else "n0")
        return NodeLevel(f"{control.factor} {target} {values['NODE_INDEX']}")

    controls = [{"factor": "first"}, {"factor": "each", "on": "each"}]
    monkeypatch.setattr(levels_program, "_set_level", set_level)
    task = LevelsTask(3, "", controls, {"a": "b"}, levels)
    first, *others = thread_ranks.run_ranks(
        thread_ranks.on_hosts("n0", "n0", "n1"), lambda ranks: levels_program.read_or_reset_levels(task, ranks)
    )
    assert others == [None, None]
    assert list(first.items()) == [
        (name, [NodeLevel(f"{name} {target} {rank}") for target, rank in zip(targets, ranks, strict=True)])
        for name, targets, ranks in wanted
    ]


@pytest.mark.parametrize(
    ("printed", "target", "calls", "found"),
    [
        (["on"], None, ["get"], NodeLevel("on")),
        (["64KiB"], "65536", ["get"], NodeLevel("64KiB")),
        (["off", "on"], "on", ["get", "set on", "get"], NodeLevel("on")),
        (["off", "off"], "on", ["get", "set on", "get"], "off"),
        (["off", "x" * 99], "on", ["get", "set on", "get"], "x" * 80),
        (["a\nb"], None, ["get"], "2"),
        ([" \n"], None, ["get"], "0"),
    ],
)
def test_a_level_is_reset_if_it_differs_and_read_again(monkeypatch, printed, target, calls, found):
    ran, left = [], list(printed)

    def run(text, environment, what):
        ran.append(text)
        assert "f" in what.split() or "f:" in what.split()
        assert environment["IOSONDE_LEVEL"] == ("" if text == "get" else target)
        return "" if text.startswith("set") else f"{left.pop(0)}\n"

    monkeypatch.setattr(levels_program.hooks, "run", run)
    level = levels_program._set_level(Control("f", "set ${LEVEL}", "get"), {}, target)
    assert ran == calls
    if isinstance(found, NodeLevel):
        assert level == found
    else:
        assert found in level.fault.split() and level.level == (printed[-1] if len(printed) > 1 else "")


def test_a_control_that_a_shell_would_split_is_a_fault():
    level = levels_program._set_level(Control("f", "", "get ${HOSTNAME}"), {"HOSTNAME": "a b"}, None)
    assert level.level == "" and level.fault.startswith("factor f: ")


@pytest.mark.parametrize("results", [{"f": [NodeLevel("on"), NodeLevel(fault="no")]}, None])
def test_rank_0_leaves_the_levels_of_all_nodes(tmp_path, monkeypatch, results):
    task = LevelsTask(2, str(tmp_path), [], {})
    monkeypatch.setattr(levels_program.sys, "argv", ["program", task.to_word()])
    monkeypatch.setattr(levels_program.mpi, "connect_ranks", lambda count: {2: "ranks"}[count])
    monkeypatch.setattr(levels_program, "read_or_reset_levels", lambda *of: results if of == (task, "ranks") else 1)
    levels_program.main()
    if results is None:
        assert not list(tmp_path.iterdir())
    else:
        left = json.loads((tmp_path / "levels.json").read_text())
        assert left == {"f": [{"level": "on", "fault": ""}, {"level": "", "fault": "no"}]}


# Programs of steps


def test_a_victim_elsewhere_has_a_workspace_named_after_its_trial(tmp_path):
    words = ["--where", str(tmp_path), "--trial", "/t/iosonde-e1/trial-0003"]
    victim_program.main(["make", *words])
    assert Workspace(tmp_path / "iosonde-victim-iosonde-e1", "victim-iosonde-e1").is_ours()
    victim_program.main(["make", *words])
    victim_program.main(["remove", *words])
    assert not list(tmp_path.iterdir())
    for what in ("make", "remove"):
        victim_program.main([what, "--where", "target", "--trial", f"{tmp_path}/iosonde-e1/trial-0003"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (TargetError("is-full", "full", "wait"), "full; wait"),
        (TargetError("is-full", "full"), "full"),
        (TargetError("is-full", "a\udcff"), "a?"),
        (OSError(28, "No space", "/a"), str(OSError(28, "No space", "/a"))),
        (ValueError("x"), None),
    ],
)
def test_an_error_of_a_program_is_one_line(monkeypatch, error, text):
    printed, passed = [], []
    monkeypatch.setattr(sys, "excepthook", lambda *of: passed.append(of))
    monkeypatch.setattr(error_sentence.os, "write", lambda *of: printed.append(of))
    error_sentence.for_errors()
    sys.excepthook(type(error), error, None)
    assert printed == ([(2, f"{text}\n".encode())] if text else [])
    assert passed == ([] if text else [(ValueError, error, None)])


def test_benchmarks_in_turn_are_all_or_without_the_one_that_fetches():
    alone, fetching = user_commands.join_user_commands(), user_commands.join_user_commands("a b")
    assert alone.startswith("remote=''; ( ") and fetching.startswith("remote='a b'; ( ")
    assert alone.endswith(" && ( mv copy tree && rm -r work )")
    assert fetching.endswith(" && ( mv copy tree && rm -r work fetched )")
    counts = [sum(len(steps) for steps, _ in user_commands.BENCHMARKS.values()) + 1 for _ in (0, 1)]
    fetches = len(user_commands.BENCHMARKS["rcp"][0])
    assert [text.count("( ") - text.count("$( ") - text.count("$(( ") for text in (alone, fetching)] == [
        counts[0] - fetches,
        counts[1],
    ]
    assert user_commands.GO not in fetching and tuple(sorted(user_commands.NAMES)) == user_commands.NAMES


def test_a_count_of_a_benchmark_is_checked_against_the_known_one(tmp_path):
    (tmp_path / "known").mkdir()
    (tmp_path / "known" / "files").write_text("3")
    for count, code in ((3, 0), (2, 1)):
        text = user_commands._check_count(f"echo {count}", "files").removeprefix(user_commands.GO)
        done = subprocess.run(["sh", "-c", text], cwd=tmp_path, capture_output=True, check=False)
        assert (done.returncode, done.stdout != b"") == (code, code == 1)


# Servers and MPI jobs


def test_steps_on_servers_list_them():
    made = on_servers.assign_servers([{"on": "servers"}, {"on": "all"}, {}], ("s1", "s2"))
    assert made == [{"on": "servers", "servers": ["s1", "s2"]}, {"on": "all"}, {}]


def test_the_script_for_servers_exports_the_values_and_waits_for_all():
    script = on_servers.build_server_script("work $IOSONDE_A", ["s1", "s2"], {"a": "x y"})
    assert script.startswith("pids=\n") and script.endswith("exit $worst")
    for host in ("s1", "s2"):
        assert f"export IOSONDE_A='\"'\"'x y'\"'\"' IOSONDE_SERVER={host}; work $IOSONDE_A" in script
    assert script.count("export ") == 2


def test_the_program_of_a_step_is_filled_in():
    step = CommandStep("A=b /opt/${version}/ior${RANK} -w", "mpi")
    assert mpi_jobs.fill_program_name(step, {"version": 4}) == "/opt/4/ior0"
    assert mpi_jobs.fill_program_name(step, {"version": 4, "RANK": 7}) == "/opt/4/ior7"
    assert mpi_jobs.fill_program_name(CommandStep("# nothing"), {}) == ""
    steps = [step, CommandStep("x"), NativeStep("envelope"), CommandStep("mdtest", "mpi")]
    assert mpi_jobs.select_mpi_jobs(steps) == [steps[0], steps[3]]


def test_the_launcher_gets_the_size_the_library_and_the_variables_of_a_job(monkeypatch):
    jobs, names = [], []
    monkeypatch.setattr(mpi_jobs.program, "find_library_of_program", lambda name: names.append(name) or "library")
    launcher = SimpleNamespace(job=lambda *of: jobs.append(of) or ["mpiexec"])
    values = {"NODES": "2", "RANKS_PER_NODE": 3, "x": 1}
    found = mpi_jobs.build_launch_words(launcher, "A=b C=d ior -w", 2, 3, values)
    variables = ("IOSONDE_TRIAL_ID", "IOSONDE_NODES", "IOSONDE_RANKS_PER_NODE", "IOSONDE_X", "A", "C")
    assert found == (["mpiexec"], "library") and jobs == [(2, 3, "library", variables)] and names == ["ior"]
    asked = [{"command": "A=b ior -w", "on": "mpi"}, {"command": "ior", "on": "all"}, {"command": "#", "on": "mpi"}, {}]
    made = mpi_jobs.prepare_mpi_items(asked, launcher, values)
    assert made == [
        {"command": "A=b ior -w", "on": "mpi", "launch": ["mpiexec"], "at": 4},
        {"command": "ior", "on": "all"},
        {"command": "#", "on": "mpi"},
        {},
    ]
    assert jobs[1][:2] == (2, 3)


def test_variables_of_launchers_are_listed(monkeypatch):
    monkeypatch.setattr(mpi_jobs.os, "environ", dict.fromkeys(("SLURM_X", "PATH", "OMPI_Y", "XSLURM_"), ""))
    assert mpi_jobs.list_launcher_variables() == ["OMPI_Y", "SLURM_X"]


# Workloads and items


def test_workloads_are_found_by_name_or_refused(monkeypatch):
    for name in ("envelope", "noncontiguous", "phases"):
        assert workloads.find_producer(name).__name__ == f"iosonde.measure.workloads.{name}"
    monkeypatch.setattr(
        workloads, "find_entry_points", lambda group: {"ior": 1, "mine": 2} if group == workloads.GROUP else {}
    )
    monkeypatch.setattr(workloads, "load_plugin", lambda *of: of)
    assert workloads.list_workloads() == ["envelope", "ior", "mine", "noncontiguous", "phases"]
    assert workloads.find_producer("mine") == (workloads.GROUP, "mine")
    assert workloads.find_missing("ior") is None and workloads.find_missing("none") is None
    missing = workloads.find_missing("mdtest")
    assert missing is not None
    with raises(missing.code):
        workloads.find_producer("mdtest")
    with raises("unknown-workload", InputError, workload="none", workloads=", ".join(workloads.list_workloads())):
        workloads.find_producer("none")
    assert workloads.list_own_placeholders("phases") == {
        name: f"${{{name}}}" for name in ("RANK", "RANKS", "PEER", "PART")
    }
    assert workloads.list_own_placeholders("envelope") == {}


@pytest.mark.parametrize(
    ("command", "code", "values"),
    [
        ("/opt/ior -w 'a b'", None, ["-w", "a b"]),
        ("ior 'a", "invalid-command-line", {"command": "ior 'a"}),
        ("/opt/mpirun -n 2 ior", "launcher-not-allowed", {"tool": "mpirun"}),
        ("dd if=x", "unsupported-tool", {"tool": "dd", "tools": ", ".join(("ior", "mdtest"))}),
        ("", "unsupported-tool", {"tool": ""}),
    ],
)
def test_a_command_line_of_a_tool_is_translated_or_refused(monkeypatch, command, code, values):
    monkeypatch.setattr(translation, "_find_translators", lambda: {"ior": lambda words: words, "mdtest": None})
    if code is None:
        assert translation.translate(command) == values
    else:
        with raises(code, InputError, **values):
            translation.translate(command)


def test_translators_are_those_of_installed_workloads(monkeypatch):
    modules = {"ior": SimpleNamespace(translate="by ior"), "mine": SimpleNamespace()}
    monkeypatch.setattr(translation, "find_entry_points", lambda group: dict.fromkeys(modules))
    monkeypatch.setattr(translation.workloads, "find_producer", modules.get)
    assert translation._find_translators() == {"ior": "by ior"}
    modules.clear()
    with pytest.raises(InputError):
        translation.translate("ior")


def test_items_are_the_steps_of_a_trial_at_its_levels():
    steps = [
        CommandStep("a", name="same", when={"x": 1}),
        CommandStep("b", name="same", when={"x": 2}, expect=(0, 3), timeout_s=9.0),
        CommandStep("c", "all", name="same"),
        NativeStep("phases", {"phases": "${x} ${RANK}"}),
    ]
    made = items.build_items([], steps, [CommandStep("d")], {"x": 2})
    command = {"kind": "command", "parse": None, "keep_output": None}
    assert made == [
        {
            **command,
            "stage": "step",
            "number": 2,
            "label": "same-01",
            "command": "b",
            "on": "single",
            "timeout_s": 9.0,
            "expect": [0, 3],
            "when": {"x": 2},
        },
        {
            **command,
            "stage": "step",
            "number": 3,
            "label": "same-02",
            "command": "c",
            "on": "all",
            "timeout_s": None,
            "expect": [0],
            "when": {},
        },
        {
            "stage": "step",
            "number": 4,
            "kind": "native",
            "label": "phases",
            "workload": "phases",
            "settings": {"phases": "2 ${RANK}"},
        },
        {
            **command,
            "stage": "tear_down",
            "number": 1,
            "label": "tear-down-01",
            "command": "d",
            "on": "single",
            "timeout_s": None,
            "expect": [0],
            "when": {},
        },
    ]


WRITE = {"kind": "write", "transfer_size": 1, "count": 1}
READ = {**WRITE, "kind": "read"}


@pytest.mark.parametrize(
    ("steps", "file_system", "code"),
    [
        (["open", WRITE], "fuse.hdfs", "written-once"),
        (["create", WRITE], "fuse.hdfs", None),
        (["create", {**WRITE, "offsets": "seq"}], "fuse.hdfs", None),
        (["create", {**WRITE, "offsets": "rnd", "size": 9}], "fuse.hdfs", "written-once"),
        (["create", {**WRITE, "base": 1}], "fuse.hdfs", "written-once"),
        (["open", READ], "fuse.hdfs", None),
        ([{**WRITE, "kind": "append"}], "fuse.hdfs", None),
        (["open", {"kind": "mix", "count": 1, "of": [{"weight": 1, "step": WRITE}]}], "fuse.hdfs", "written-once"),
        (["open", WRITE], "ext4", None),
    ],
)
def test_phases_that_a_file_system_of_files_written_once_cannot_do(monkeypatch, steps, file_system, code):
    monkeypatch.setattr(items, "WRITTEN_ONCE", ("fuse.hdfs",))
    phases = [{"name": "p", "files": "f", "steps": steps}]
    ((plan,),) = (workloads.find_producer("phases").plan(_settings(phases), 0, 1, 0),)
    found = items.explain_unsupported_phase(plan, file_system, 1)
    assert codes([found]) == [code or ""] and bool(found) == bool(code)
    assert items.can_all(file_system) is (file_system == "ext4")


def _settings(phases):
    return workloads.find_producer("phases").Settings(phases)


def test_a_phase_that_the_last_rank_cannot_do_is_skipped_by_all(monkeypatch):
    monkeypatch.setattr(items, "WRITTEN_ONCE", ("fuse.hdfs",))
    inside = {**WRITE, "base": "${RANK}"}
    phases = [{"name": name, "files": "f", "steps": ["create", step]} for name, step in (("a", WRITE), ("b", inside))]
    native = items.build_items((), [NativeStep("phases", {"phases": phases}), CommandStep("x")], (), {})
    made, command = items.mark_skipped_phases(native, 2, "fuse.hdfs", 1)
    assert codes(made["skip"]) == ["", "written-once"] and command == native[1]
    assert items.mark_skipped_phases(native, 1, "fuse.hdfs", 1) == native
    part, after = items.lay_out_items([made, command], 1, 2, 0)
    assert [plan.phase is None for plan in part.plans] == [False, True]
    assert [plan.skipped == made["skip"][1] for plan in part.plans] == [False, True]
    assert (part.first, after.first, after.plans) == (0, 2, [])
    assert items.count_timed_phases([part]) == 2 and items.count_timed_phases([after]) == 1


# Commands that are checked before


def test_commands_are_listed_with_where_they_stand():
    commands = SimpleNamespace(
        set_up=(CommandStep("a"),),
        steps=(NativeStep("phases"), CommandStep("b")),
        tear_down=(CommandStep("c"),),
        controls=(Control("f", "s", "r"),),
        cache=CacheRegime("remount", "u", "m"),
    )
    assert list(asked_commands.iterate_shell_commands(commands)) == [
        ("step 1", "a"),
        ("step 2", "b"),
        ("step 1", "c"),
        ("factor f", "s"),
        ("factor f", "r"),
        ("cache", "u"),
        ("cache", "m"),
    ]
    level = SimpleNamespace(**vars(commands) | {"controls": (Control("f", "${LEVEL} ${x} ${RANK}"),)})
    asked_commands.check_placeholders(level, ["x"])
    with raises("unknown-placeholder", name="x", place="factor f"):
        asked_commands.check_placeholders(level, [])
    wrong = SimpleNamespace(**vars(commands) | {"tear_down": (CommandStep("${LEVEL}"),)})
    with raises("unknown-placeholder", name="LEVEL", place="step 1"):
        asked_commands.check_placeholders(wrong, ["x"])


def test_the_values_of_a_trial():
    trial = Trial(5, {"nodes": 2, "ranks_per_node": 3, "x": "y"}, 1, 0, 99)
    known = {"RANKS": 6, "NODES": 2, "RANKS_PER_NODE": 3, "TRIAL": 5, "REPETITION": 1, "SEED": 99}
    assert placeholders.build_trial_values(trial, None) == {**trial.factors, **known}
    root = Path("/t/iosonde-e/trial-0005")
    with_root = {"TARGET": str(root), "TARGET_ROOT": "/t"}
    assert placeholders.build_trial_values(trial, root) == {**trial.factors, **known, **with_root}


@pytest.mark.parametrize(
    ("facts", "filesystem", "kind"),
    [
        ({}, {}, ""),
        ({"machine": None}, {}, ""),
        ({"machine": {"filesystem": {"a": 1}, "mount": {"type": "nfs4"}}}, {"a": 1}, "nfs4"),
        ({"machine": {"filesystem": None, "mount": {"type": None}}}, {}, ""),
    ],
)
def test_a_bench_knows_its_file_system(facts, filesystem, kind):
    bench = Bench("e", (), None, None, facts, 1, 1.0)
    assert (bench.filesystem, bench.filesystem_type, bench.sets) == (filesystem, kind, False)


def test_a_bench_sets_something_by_a_set_up_or_a_control():
    def sets(**more):
        return Bench("e", (), None, None, {}, 1, 1.0, **more).sets

    assert sets(set_up=(CommandStep("x"),)) and sets(controls=(Control("f", "", "r"), Control("g", "s")))
    assert not sets(controls=(Control("f", "", "r"),), tear_down=(CommandStep("x"),))


# Spools


@pytest.mark.parametrize(("holds", "remembers"), [(False, True), (True, False)])
def test_a_spool_is_removed_unless_it_holds_outputs(tmp_path, monkeypatch, holds, remembers):
    remembered = []
    monkeypatch.setattr(spools.leftovers, "list_remaining_files", lambda beats: ["file", beats.name])
    monkeypatch.setattr(spools.leftovers, "remember_files", lambda *of: remembered.append(of))
    with spools.open_trial("e", tmp_path, tmp_path / "r" if remembers else None) as spool:
        assert spool.folder.parent == tmp_path and spool.folder.name.startswith("iosonde-spool-e-")
        spool.holds_outputs = holds
    assert spool.folder.exists() is holds
    assert remembered == ([(tmp_path / "r", ["file", "beats"])] if remembers else [])


def test_the_last_heartbeats_are_those_of_the_spools_of_the_experiment(tmp_path, monkeypatch):
    folders = [spools.make_spool(name, tmp_path) for name in ("e", "e", "other")]

    def read(place):
        if place.parent == folders[0]:
            raise OSError(13, "no")
        return [place]

    monkeypatch.setattr(spools.beats, "read_beats", read)
    assert spools.read_local_beats("e", tmp_path) == [folders[1] / "beats"]
    monkeypatch.setattr(spools.tempfile, "gettempdir", lambda: str(tmp_path))
    assert spools.read_local_beats("other") == [folders[2] / "beats"]


def test_what_is_left_of_an_experiment_here_is_ended_then_removed(tmp_path, monkeypatch):
    folder, other = spools.make_spool("e", tmp_path), spools.make_spool("f", tmp_path)
    (folder / spools.PARENT_MARK).touch()
    since, calls = (folder / spools.PARENT_MARK).stat().st_mtime, []
    monkeypatch.setattr(spools.command, "end_trial", lambda *of: calls.append(("end", *of)))
    monkeypatch.setattr(spools.leftovers, "remove_recorded", lambda *of: calls.append(("recorded", *of)))
    monkeypatch.setattr(spools.leftovers, "remove_since", lambda *of: calls.append(("since", *of)))
    spools.remove_here("e", tmp_path)
    assert calls == [("end", str(folder)), ("recorded", folder / "beats"), ("since", since)]
    assert other.exists() and not folder.exists()
