"""The promises under faults, on the real command with one rank: killed, full, interrupted, crowded targets.

Each test says what a user would find afterwards: a store that opens, finished trials, a clean target, a resume.
"""

import errno
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import here
from iosonde.store import Store

TINY = ["--small-files", "5", "--large-size", "256KiB", "--transfer-size", "64KiB", "--seed", "1"]


def words(target, store, *more):
    return [
        sys.executable,
        "-m",
        "iosonde.cli.main",
        "run",
        "--target",
        str(target),
        "--store",
        str(store),
        *TINY,
        *more,
    ]


def run(target, store, *more, **options):
    return subprocess.run(words(target, store, *more), capture_output=True, text=True, timeout=120, **options)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "precious").write_text("mine")
    return tmp_path / "target", tmp_path / "store"


def left_in(target):
    return sorted(path.name for path in target.iterdir())


def can_mount():
    probe = ["unshare", "--user", "--map-root-user", "--mount", "true"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="no user name spaces: no small file system")
def test_a_command_that_fills_the_temporary_directory_costs_its_trial_alone(tmp_path):
    """What the steps before it did is kept, the run says what was full, and there is no traceback."""
    (tmp_path / "steps.yaml").write_text("steps:\n- {command: echo first, name: first}\n- yes | head -c 8000000\n")
    (tmp_path / "small").mkdir()
    script = (
        f"mount -t tmpfs -o size=2m none small && exec {sys.executable} -m iosonde.cli.main run steps.yaml "
        "--repetitions 1 --store store --spool small"
    )
    inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script]
    done = subprocess.run(inside, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    (document,) = Store.open(tmp_path / "store").runs()
    assert "step-02" in document["missing"][0] and "full" in document["missing"][0]
    assert [phase["operation"] for phase in document["phases"]] == ["first", "step-02"]
    assert not list((tmp_path / "small").iterdir())


def test_a_campaign_leaves_the_target_as_it_was(place):
    target, store = place
    done = run(target, store, "--repetitions", "2")
    assert done.returncode == 0, done.stderr
    assert left_in(target) == ["precious"]
    assert len(Store.open(store).run_ids()) == 2
    assert all(not document["missing"] for document in Store.open(store).runs())


def test_killed_at_random_moments_nothing_finished_is_lost(place, tmp_path):
    target, store = place
    spool = tmp_path / "spool"
    spool.mkdir()
    rules = ["--repetitions", "8", "--spool", str(spool)]
    draw = random.Random(20261121)
    finished = set()
    for _ in range(6):
        process = subprocess.Popen(words(target, store, *rules), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.6, 3.0))
        process.kill()
        process.wait()
        if (store / "store.json").exists():
            kept = set(Store.open(store).run_ids())
            assert finished <= kept
            finished = kept
    ended = run(target, store, *rules)
    assert ended.returncode == 0, ended.stderr
    opened = Store.open(store)
    assert not opened.problems()
    # On a fast machine one attempt may have finished: the next then began a new experiment.
    for experiment in opened.experiments():
        complete = [one for one in opened.runs(experiment=experiment.id) if not one["missing"]]
        assert sorted(one["facts"]["order"] for one in complete) == list(range(8))
    assert left_in(target) == ["precious"]
    assert not list(spool.iterdir())


def ranks_of(parent):
    """Process ids of the ranks that a running campaign has started."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    return [int(pid) for pid, ppid, args in rows if int(ppid) == parent and "iosonde.measure.rank.program" in args]


def test_a_killed_rank_leaves_an_incomplete_run_and_the_rest_goes_on(place):
    target, store = place
    process = subprocess.Popen(
        words(target, store, "--repetitions", "3", "--small-files", "800"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline, killed = time.monotonic() + 60, False
    while not killed and time.monotonic() < deadline:
        # Only once it works: a rank that has not said anything yet is the launcher's failure, also tested.
        for pid in ranks_of(process.pid) if list(target.glob("iosonde-*/trial-*/rank*")) else ():
            os.kill(pid, signal.SIGKILL)
            killed = True
        time.sleep(0.005)
    assert killed
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    documents = Store.open(store).runs()
    broken = [document for document in documents if document["missing"]]
    assert len(documents) == 3
    assert len(broken) == 1
    assert "signal 9" in broken[0]["missing"][0]
    assert "incomplete" in said
    assert left_in(target) == ["precious"]
    again = run(target, store, "--repetitions", "3", "--small-files", "800")
    assert again.returncode == 0, again.stderr
    assert "resuming" in again.stderr


def test_interrupted_it_cleans_up_and_says_how_to_go_on(place):
    target, store = place
    process = subprocess.Popen(
        words(target, store, "--repetitions", "50"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not list(store.glob("runs/*-0001")):
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "interrupted" in said and "resumes" in said
    assert "Traceback" not in said
    assert left_in(target) == ["precious"]
    assert len(Store.open(store).run_ids()) >= 2
    assert not Store.open(store).problems()


def test_two_campaigns_on_one_target_do_not_meet(place, tmp_path):
    target, _ = place
    stores = [tmp_path / "a", tmp_path / "b"]
    both = [
        subprocess.Popen(
            words(target, store, "--verify", "--alongside"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for store in stores
    ]
    for process in both:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    for store in stores:
        assert len([document for document in Store.open(store).runs() if not document["missing"]]) == 6
    assert left_in(target) == ["precious"]


def test_the_same_campaign_twice_at_once_is_refused(place):
    target, store = place
    first = subprocess.Popen(
        words(target, store, "--repetitions", "50"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not list(store.glob("runs/*-0000")):
        time.sleep(0.02)
        assert first.poll() is None
    again = run(target, store, "--repetitions", "50")
    second = run(target, store, "--repetitions", "50", "--alongside")
    first.send_signal(signal.SIGTERM)
    assert first.wait(60) == 130
    assert again.returncode == second.returncode == 2
    assert all(f"process {first.pid}" in refused.stderr for refused in (again, second))
    assert "--alongside" in again.stderr and "--alongside" not in second.stderr
    assert left_in(target) == ["precious"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--large-size", "1PiB", "--transfer-size", "1MiB"], "PiB"),
        (["--max-bytes", "1KiB"], "--max-bytes"),
        (["--max-files", "3"], "--max-files"),
        (["--large-size", "100KiB"], "102400"),
        (["--nodes", "1,zwei"], "1,zwei"),
        (["--until", "soon"], "ci<5%"),
        (["--launcher", "carrier-pigeon"], "'carrier-pigeon'"),
        (["--cache", "warm", "--before-reads", "true"], "--before-reads"),
        (["--max-seconds", "1s"], "--max-seconds"),
        (["--nodes", "100000"], "memory"),
        (["--level", "3"], "3"),
        (["--spool", "/no/such/directory"], "--spool"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_a_sentence(place, more, says):
    target, store = place
    done = here.iosonde(*words(target, store, *more)[3:], where=target.parent)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert left_in(target) == ["precious"]
    assert not store.exists()


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_target_whose_name_is_no_utf8_is_refused(tmp_path, command):
    target = os.fsencode(tmp_path) + b"/b\xff"
    os.mkdir(target)
    words = [sys.executable, "-m", "iosonde.cli.main", command, "--target", target, "--store", str(tmp_path / "s")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "UTF-8" in done.stderr
    assert os.listdir(target) == []


@pytest.mark.parametrize("how", ["option", "environment"])
def test_nothing_temporary_is_written_to_the_target(place, how):
    """/tmp may be the target: results that ranks leave meanwhile belong neither there nor into the measurement."""
    target, store = place
    more = ["--spool", str(target)] if how == "option" else []
    done = run(target, store, *more, env=os.environ | ({} if more else {"TMPDIR": str(target)}))
    assert done.returncode == 2
    assert str(target) in done.stderr and "--spool" in done.stderr
    assert left_in(target) == ["precious"]


def test_with_a_spool_elsewhere_a_target_may_hold_the_temporary_files_of_others(place, tmp_path):
    """A hook's output was left beside the workspace while it ran."""
    target, store = place
    seen = tmp_path / "seen"
    hook = f'ls -A "$TARGET" >>{seen}'
    more = ["--spool", str(tmp_path), "--cache", "cold", "--before-reads", hook, "--repetitions", "1"]
    done = run(target, store, *more, env=os.environ | {"TMPDIR": str(target)})
    assert done.returncode == 0, done.stderr
    (experiment,) = Store.open(store).experiments()
    assert set(seen.read_text().split()) == {"precious", f"iosonde-{experiment.id}"}


@pytest.mark.parametrize("what", ["absent", "file", "store below"])
def test_a_wrong_target_leaves_nothing_behind(place, what):
    target, store = place
    wrong = {"absent": target / "none", "file": target / "precious", "store below": target}[what]
    store = target / "results" if what == "store below" else store
    done = run(wrong, store)
    assert done.returncode == 2
    assert "hint: " in done.stderr
    assert not store.exists()
    assert left_in(target) == ["precious"]


def can_mount_in_namespace():
    probe = ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    try:
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not can_mount_in_namespace(), reason="no user namespaces: a small full target cannot be made")
def test_a_target_that_fills_up_keeps_the_run_and_is_cleaned(place):
    """The space is there when the campaign starts, and taken by somebody else while it runs."""
    target, store = place
    command = " ".join(words(target, store, "--large-size", "8MiB", "--repetitions", "5"))
    script = f"""
        mount -t tmpfs -o size=60M none {target}
        timeout 60 sh -c '
          until ls {target}/iosonde-*/trial-*/rank00000/empty/f* >/dev/null 2>&1; do sleep 0.002; done
          until fallocate -l 50M {target}/somebody-elses 2>/dev/null; do sleep 0.001; done' &
        {command}; code=$?
        wait
        rm {target}/somebody-elses
        ls -A {target}
        exit $code
    """
    namespace = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script]
    done = subprocess.run(namespace, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    assert os.strerror(errno.ENOSPC) in done.stderr
    assert "iosonde-" not in done.stdout.splitlines()[-1:]
    documents = Store.open(store).runs()
    assert any(os.strerror(errno.ENOSPC) in sentence for sentence in documents[-1]["missing"])
    assert "Traceback" not in done.stderr


def test_a_planted_link_does_not_lead_out(place, tmp_path):
    """Somebody replaces the rank's directory by a link while the campaign runs."""
    target, store = place
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("mine")
    process = subprocess.Popen(
        words(target, store, "--repetitions", "2", "--small-files", "500"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    planted = False
    while process.poll() is None:
        for path in target.glob("iosonde-*/trial-*/rank00000/small"):
            try:
                path.rename(path.with_name("moved"))
                path.symlink_to(outside)
                planted = True
            except OSError:
                continue
        time.sleep(0.001)
    assert planted
    assert sorted(path.name for path in outside.iterdir()) == ["precious"]
    assert left_in(target) == ["precious"]


def test_no_more_operations_are_recorded_than_asked_for_and_all_are_counted(place):
    target, store = place
    done = run(target, store, "--repetitions", "1", "--small-files", "40", "--max-operations", "200")
    assert done.returncode == 0, done.stderr
    (document,) = Store.open(store).runs()
    assert 0 < document["operations"] <= 200
    create = next(phase for phase in document["phases"] if phase["operation"] == "create")
    assert not create["recorded_all"]
    assert create["totals"]["create"]["count"] == 40


def test_the_summary_as_json_is_on_stdout_alone(place):
    target, store = place
    done = run(target, store, "--repetitions", "2", "--json")
    document = json.loads(done.stdout)
    assert {group["operation"] for group in document["groups"]} >= {"create", "read_nto1_large"}
    assert Path(store).exists()


def test_a_resume_on_other_nodes_is_another_block():
    from iosonde.campaign import resume

    class Seen:
        def runs(self, experiment):
            return [{"facts": {"allocation": name}} for name in ("n[1-4]", "n[1-4]", "n[5-8]")]

    assert resume.number_of("n[1-4]", Seen(), "e") == 0
    assert resume.number_of("n[5-8]", Seen(), "e") == 1
    assert resume.number_of("n9", Seen(), "e") == 2


def test_a_campaign_killed_between_its_pilot_and_the_rest_goes_on(place):
    """The pilot is there and the longer plan is not: what kill -9 leaves at that moment."""
    target, store = place
    assert run(target, store).returncode == 0
    (experiment,) = Store.open(store).experiments()
    experiment.settings["until"] = "ci<0.1%"
    Store.open(store).save_experiment(experiment)
    again = run(target, store, "--until", "ci<0.1%", "--budget", "3s")
    assert "resuming" in again.stderr
    (experiment,) = Store.open(store).experiments()
    assert len(experiment.trials) > 6


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_cost_nothing(place, closed):
    target, store = place
    command = " ".join(words(target, store, "--repetitions", "1"))
    done = subprocess.run(["bash", "-c", f"{command} {closed}"], stdin=subprocess.DEVNULL, timeout=120)
    assert done.returncode == 0
    assert left_in(target) == ["precious"]
    assert len(Store.open(store).run_ids()) == 1


@pytest.mark.parametrize("name", ["sp ace", "$(touch PWNED)"])
def test_a_target_that_a_shell_would_take_apart_is_refused_before_anything_starts(tmp_path, name):
    (tmp_path / name).mkdir()
    for command, code in (('ls "${TARGET}" > ${TARGET}/f', 2), ('ls "$IOSONDE_TARGET"', 0)):
        words = ["run", command, "--target", name, "--repetitions", "1", "--store", "s"]
        done = subprocess.run(
            [sys.executable, "-m", "iosonde.cli.main", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == code, done.stderr
        assert (tmp_path / "s").exists() == (code == 0)
    assert not (tmp_path / "PWNED").exists()
    assert 'write "$IOSONDE_TARGET"' in done.stderr or code == 0


def test_a_workspace_that_is_replaced_leads_nowhere(place, tmp_path):
    """A link takes the place of iosonde-ID between two trials, or in one: foreign trials stay, and none is believed."""
    target, store = place
    victim = tmp_path / "victim"
    for number in range(10):
        (victim / f"trial-{number:04d}").mkdir(parents=True)
        (victim / f"trial-{number:04d}" / "thesis.tex").write_text("precious")
    process = subprocess.Popen(
        words(target, store, "--repetitions", "10"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    while len(list(store.glob("runs/2*"))) < 2:
        time.sleep(0.01)
        assert process.poll() is None
    (workspace,) = target.glob("iosonde-*")
    workspace.rename(target / "away")
    workspace.symlink_to(victim)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 3, said
    assert str(workspace) in said and "replaced" in said
    assert [path.name for path in sorted(victim.rglob("*")) if path.is_file()] == ["thesis.tex"] * 10
    assert len(list(victim.rglob("*"))) == 20
    complete = [run["facts"]["order"] for run in Store.open(store).runs() if not run["missing"]]
    assert len(complete) <= 3


def test_what_an_earlier_experiment_had_to_leave_is_removed_by_the_next(place):
    """Its last trial was kept and could not be removed: nothing of it is left to resume."""
    target, store = place
    assert run(target, store, "--repetitions", "1").returncode == 0
    (old,) = Store.open(store).experiments()
    (target / f"iosonde-{old.id}" / "trial-0000" / "rank00000").mkdir(parents=True)
    (target / "iosonde-20261122-0badcafe" / "trial-0000").mkdir(parents=True)  # of no experiment of this store
    again = run(target, store, "--repetitions", "1")
    assert again.returncode == 0, again.stderr
    assert f"removed {target}/iosonde-{old.id}" in again.stderr
    assert left_in(target) == ["iosonde-20261122-0badcafe", "precious"]


def test_what_a_killed_probe_left_is_removed_by_the_next(place, monkeypatch):
    target, store = place
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "small_node"))
    told = [sys.executable, "-m", "iosonde.cli.main", "probe", "--target", str(target), "--size", "64MiB"]
    told += ["--repetitions", "1", "--store", str(store), "--launcher", "local"]
    process = subprocess.Popen(told, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list(target.glob("iosonde-*/.iosonde-workspace")) and process.poll() is None:
        time.sleep(0.005)
    process.kill()
    process.wait()
    left, _ = left_in(target)
    again = subprocess.run(told, capture_output=True, text=True, timeout=120)
    assert again.returncode == 0, again.stderr
    assert f"removed {target}/{left}" in again.stderr
    assert left_in(target) == ["precious"]


@pytest.mark.parametrize(("parse", "complete"), [("none", True), ("dd", False)])
def test_only_an_importer_misses_what_was_cut_from_the_middle_of_an_output(place, tmp_path, parse, complete):
    command = "seq 1 900000; dd if=/dev/zero of=/dev/null bs=4k count=1"
    step = f'{{command: "{command}", parse: {parse}, keep_output: 1MiB}}'
    (tmp_path / "x.yaml").write_text(f"target: target\nrepetitions: 1\nsteps: [{step}]\n")
    here.iosonde("run", "x.yaml", "--store", "store", where=tmp_path)
    store = Store.open(tmp_path / "store")
    run = store.run(store.run_ids()[0])
    (rank,) = run.phases[0]["ranks"]
    assert run.complete == complete
    assert rank["cut_bytes"] > 2**22 and rank["output_bytes"] < 2**20 + 2**17
    assert complete or {"step-01", "cut"} <= set(re.findall(r"[\w-]+", run.missing[0]))
    (path,) = (tmp_path / "store").glob("runs/*/raw/*.out")
    assert path.stat().st_size == rank["output_bytes"]
