"""A trial of commands on one rank: what is recorded, what is said when it goes wrong, what is left behind."""

import os
import sys
from pathlib import Path

import pytest

from iosonde.core.errors import InputError
from iosonde.core.stored import StoredRun
from iosonde.measure import items, trial
from iosonde.measure.spec import ALL, CommandStep, Control, NativeStep
from iosonde.measure.workloads.envelope import Settings
from iosonde.store import Store

sys.path.insert(0, str(Path(__file__).parents[1]))
from messages import assert_problem, codes
from steps_bench import printed, run


@pytest.fixture
def target(tmp_path):
    (tmp_path / "target").mkdir()
    return tmp_path / "target"


def test_steps_run_in_order_at_one_setting_and_are_recorded(target, tmp_path):
    steps = [
        CommandStep("echo ${NODENAME}/${RANKS} ${record_size} $IOSONDE_STRIPE", on=ALL, name="show"),
        NativeStep("envelope", Settings(small_files=3, large_file_size=2**16, transfer_size=2**16).to_json()),
        CommandStep("cat ${MACHINEFILE}; ls ${TARGET}; ls ${TARGET_ROOT}; touch ${TARGET}/mine; exit 3", expect=(0, 3)),
    ]
    done = run(
        target,
        steps,
        factors={"record_size": 65536, "stripe": 4},
        set_up=(CommandStep("echo up"),),
        tear_down=(CommandStep("ls ${TARGET}/mine"),),
    )
    assert done.complete, done.missing
    assert printed(done)[1] == {0: b"0/1 65536 4\n"}
    machinefile, _, rest = printed(done)[3][0].decode().partition("\n")
    assert machinefile == "localhost"
    assert "rank00000" in rest and rest.endswith("iosonde-test\n")
    assert printed(done, "set-up")[1][0] == b"up\n"
    assert printed(done, "tear-down")[1][0].endswith(b"/mine\n")
    stages = [(phase["operation"], phase.get("stage")) for phase in done.phases if "command" in phase]
    assert stages == [("set-up-01", "set_up"), ("show", "step"), ("step-03", "step"), ("tear-down-01", "tear_down")]
    assert done.phases[-2]["ranks"][0]["exit_code"] == 3
    seconds = {(row.operation, row.rank): row.value for row in done.observations if row.metric == "seconds"}
    assert seconds.keys() == {("show", 0), ("show", None), ("step-03", 0), ("step-03", None)}
    assert all(0 < value < 60 for value in seconds.values())
    assert any(row.metric == "rate_last_done" for row in done.observations)
    assert done.factors["record_size"] == 65536
    assert not list(target.iterdir())
    kept = Store.create(tmp_path / "store")
    kept.append(done)
    assert not kept.problems()


def test_iozone_finds_a_line_for_each_rank_in_its_file_of_clients(target, tmp_path, monkeypatch):
    (tmp_path / "iozone").write_text("#!/bin/sh\n")
    (tmp_path / "iozone").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    done = run(target, [CommandStep("cat ${IOZONE_CLIENTS}; echo ${TARGET}")])
    lines = printed(done)[1][0].decode().splitlines()
    assert lines == [f"localhost {lines[-1]} {tmp_path / 'iozone'}", lines[-1]]


@pytest.mark.parametrize(
    ("command", "more", "code", "values"),
    [
        ("echo no such volume; exit 4", {}, "exit-code", {"exit_code": 4, "output": "no such volume"}),
        ("echo a; kill -9 $$", {}, "killed-by-signal", {"signal": 9, "name": "SIGKILL", "output": "a"}),
        ("sleep 1000", {"timeout_s": 0.3}, "timeout", {"limit": "300 ms", "output": ""}),
        ("printf 'a\\033[1m\\n'; exit 1", {}, "exit-code", {"exit_code": 1, "output": ""}),
    ],
)
def test_a_command_that_failed_is_told_in_a_sentence_and_the_rest_is_torn_down(target, command, more, code, values):
    after = CommandStep("touch ${TARGET}/after")
    done = run(target, [CommandStep(command, **more), after], tear_down=(CommandStep("ls -A ${TARGET}; echo down"),))
    failed, unfinished = done.missing
    assert_problem(failed, code, step="step-01", rank=0, **values)
    assert_problem(unfinished, "unfinished-phase", phase="step-02", ranks=0)
    assert printed(done, "tear-down")[1][0] == b"down\n"
    assert not [row for row in done.observations if row.metric == "seconds"]
    assert not list(target.iterdir())


def test_a_trial_whose_directory_was_replaced_meanwhile_is_not_complete(target, tmp_path):
    (tmp_path / "mine").mkdir()
    done = run(target, [CommandStep("mv ${TARGET} ${TARGET}.away; ln -s %s ${TARGET}" % (tmp_path / "mine"))])
    assert codes(done.missing) == ["directory-replaced"]
    assert not list(target.iterdir()) and (tmp_path / "mine").is_dir()


def test_a_large_output_reaches_the_store_as_it_was(target, tmp_path):
    """A command that prints much, and binary: it goes from file to file and never through memory."""
    size, kept = 30 * 2**20, Store.create(tmp_path / "store")
    command = CommandStep(f"head -c {size} /dev/urandom | tee {tmp_path}/copy")
    spools = tmp_path / "spools"
    spools.mkdir()
    done = run(target, [command], keep=kept.append, spool_parent=spools)
    assert done.complete, done.missing
    raw = Store.open(tmp_path / "store").run("run").raw["step-01-rank-0000.out"]
    assert isinstance(raw, Path)  # too large to be read with its run
    assert raw.read_bytes() == (tmp_path / "copy").read_bytes()
    assert not kept.problems()
    assert not list(spools.iterdir())


def test_a_daemon_of_the_set_up_lives_until_the_tear_down(target, tmp_path):
    up = CommandStep(f"sleep 1000 & echo $! > {tmp_path}/pid")
    seen = CommandStep(f"cut -d ' ' -f 3 /proc/$(cat {tmp_path}/pid)/stat | grep '[SR]'")
    done = run(target, [seen], set_up=(up,), tear_down=(seen,))
    assert done.complete, done.missing
    status = Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/stat")
    assert not status.exists() or " Z " in status.read_text()  # nobody may have asked how it ended yet


def test_a_set_up_that_fails_lets_no_step_start(target):
    done = run(target, [CommandStep("echo ran")], set_up=(CommandStep("exit 2"),))
    assert_problem(done.missing[0], "exit-code", step="set-up-01", rank=0, exit_code=2)
    assert not printed(done)


@pytest.mark.long
def test_what_the_trial_limit_ends_keeps_what_was_finished(target):
    done = run(target, [CommandStep("echo first"), CommandStep("echo half; sleep 1000")], deadline_s=3)
    assert_problem(done.missing[0], "ended-by-watchdog", limit="deadline")
    assert "step-02" in done.missing[0].values["states"]
    assert_problem(done.missing[1], "unfinished-phase", phase="step-02", ranks=0)
    assert printed(done) == {1: {0: b"first\n"}, 2: {0: b"half\n"}}
    assert not list(target.iterdir())


@pytest.mark.parametrize(
    ("steps", "more", "said"),
    [
        ([CommandStep("x ${NODNAME}")], {}, "step 1: unknown placeholder ${NODNAME}"),
        ([CommandStep("x ${LEVEL}")], {}, "step 1: unknown placeholder ${LEVEL}"),
        ([NativeStep("envelope", {"small_files": "${smal}"})], {}, "unknown placeholder ${smal}"),
        ([CommandStep("x")], {"controls": (Control("stripe", "set ${LEVL}"),)}, "factor stripe: unknown placeholder"),
    ],
)
def test_an_unknown_placeholder_is_refused_before_anything_starts(target, steps, more, said):
    with pytest.raises(InputError) as caught:
        run(target, steps, factors={"small": 3}, **more)
    assert said in caught.value.message
    assert not list(target.iterdir())


def test_levels_keep_their_type_on_the_way_into_a_workload():
    (item,) = items.build_items(
        (),
        [NativeStep("envelope", {"small_files": "${files}", "cache": "${cache}"})],
        (),
        {"files": 7, "cache": "warm"},
    )
    assert item["settings"] == {"small_files": 7, "cache": "warm"}
    (part,) = items.lay_out_items([item], 0, 1, 0)
    assert part.plans[0].phase.files.count == 7


def test_every_item_has_a_name_and_frames_of_its_own():
    echo = CommandStep("x", name="echo")
    made = items.build_items([echo], [echo, CommandStep("y"), NativeStep("envelope")], [CommandStep("z")], {})
    assert [item["label"] for item in made] == ["echo-01", "echo-02", "step-02", "envelope", "tear-down-01"]
    parts = items.lay_out_items(made, 0, 1, 0)
    used = [range(part.first, part.first + max(1, len(part.plans))) for part in parts]
    assert [frame for frames in used for frame in frames] == list(range(used[-1].stop))


def test_what_is_too_long_for_a_command_line_travels_in_a_file(target):
    long = CommandStep("# " + os.urandom(40_000).hex() + "\necho ${RANK}")
    assert printed(run(target, [long]))[1][0] == b"0\n"


def test_two_workloads_of_one_kind_are_never_mixed(target, tmp_path):
    """And every number of both can be computed again from their operations."""
    from iosonde.engine import _native
    from iosonde.stats.overview import recompute

    small = Settings(small_files=3, large_file_size=2**16, transfer_size=2**16)
    steps = [NativeStep("envelope", small.to_json()), NativeStep("envelope", {**small.to_json(), "small_files": 5})]
    done = run(target, steps)
    assert done.complete, done.missing
    assert {row.operation.split(".")[0] for row in done.observations} == {"envelope-01", "envelope-02"}
    kept = Store.create(tmp_path / "store")
    kept.append(done)
    again = recompute.recompute_rates(
        StoredRun(kept.document("run")), kept.run("run", operations=True).operations, _native.KINDS
    )
    stored = {(row.operation, row.metric, row.rank): row.value for row in done.observations}
    assert again == pytest.approx(stored)


def test_the_source_says_what_measured():
    def source(*steps):
        return trial._name_source(trial.Bench("e", steps, None, None, {}, 1, 1.0))

    assert source(NativeStep("envelope")).split() == ["iosonde", "envelope"]
    assert source(CommandStep("x")).split() == ["iosonde", "commands"]
