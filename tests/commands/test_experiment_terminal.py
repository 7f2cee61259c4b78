"""``run`` and ``plan`` with a file or a command: the whole way, overrides, resume, and words for what is wrong."""

import json
import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

import here
from iosonde.campaign.campaign import list_importers
from iosonde.campaign.document import build_document
from iosonde.campaign.request import Request
from iosonde.campaign.spec import file as spec_file
from iosonde.campaign.spec.schema import schema_text
from iosonde.cli.group import cli
from iosonde.core.errors import InputError
from iosonde.core.problems import SpecError
from iosonde.store import Store
from messages import assert_problem

SWEEP = """
name: sweep
factors:
  size: [64KiB, 128KiB]
steps:
  - workload: phases
    phases:
      - name: write
        files: rank${RANK}/f
        steps: [create, {kind: write, transfer_size: "${size}", size: 256KiB}, fsync, close]
"""


def iosonde(*words, where, **options):
    return subprocess.run(
        [sys.executable, "-m", "iosonde.cli.main", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=where,
        check=False,
        **options,
    )


@pytest.fixture
def place(tmp_path):
    (tmp_path / "target").mkdir()
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    return tmp_path


def spec_of(*what, **asked):
    """What options mean, without a process."""
    return spec_file.build_experiment(build_document(Request(*what, **asked)), list_importers())


@pytest.mark.long
def test_a_file_is_measured_kept_and_resumed(place):
    words = ["run", "sweep.yaml", "--target", "target", "--store", "store", "--repetitions", "2", "--seed", "1"]
    done = iosonde(*words, "--budget", "50ms", where=place)
    assert done.returncode == 0, done.stderr
    first = Store.open(place / "store").run_ids()
    assert 0 < len(first) < 4
    (place / "other.yaml").write_text("# the name of a file, comments and terms are no part of it\n" + SWEEP)
    words[1] = "other.yaml"
    again = iosonde(*words, where=place)
    assert again.returncode == 0, again.stderr
    store = Store.open(place / "store")
    (experiment,) = store.experiments()
    assert {run["factors"]["size"] for run in store.runs()} == {65536, 131072}
    assert len(store.run_ids()) == 4 and set(first) < set(store.run_ids())
    assert experiment.settings["file"] == {"name": "sweep.yaml", "text": SWEEP}
    assert not list((place / "target").iterdir())
    stored = next((place / "store" / "experiments").glob("*.json"))
    plan = iosonde("plan", stored, "--json", where=place)
    assert plan.returncode == 0, plan.stderr
    assert json.loads(plan.stdout)["experiment"] == {
        key: value for key, value in experiment.settings.items() if key not in ("file", "decision")
    }
    assert not json.loads(plan.stdout)["unknown"]


@pytest.mark.long
def test_the_older_form_runs_unchanged_without_a_target(place):
    """Golden G17, its own input: single on the first node, all on every node, nothing parsed by default. What is
    to be parsed and is no tool's output is no fault: it is said."""
    commands = [
        {"type": "single", "command": "echo setup"},
        {"type": "all", "command": "echo ${NODENAME}", "parse": True},
        {"type": "single", "command": "echo done"},
    ]
    (place / "test.json").write_text(json.dumps({"commands": commands}))
    words = ["--nodes", "1,2,3", "--repetitions", "1", "--store", "s"]
    done = iosonde("run", "--file", "test.json", *words, where=place)
    assert done.returncode == 0, done.stderr
    printed = {}
    for path in (place / "s").glob("runs/*/raw/*.out"):
        nodes = json.loads((path.parents[1] / "run.json").read_text())["factors"]["nodes"]
        printed.setdefault(nodes, {})[path.stem] = path.read_text().strip()
    assert "S112" in done.stdout and "3 of 3 trials" in done.stdout
    (experiment,) = Store.open(place / "s").experiments()
    assert experiment.name == "test"
    for nodes in (1, 2, 3):
        own = {f"step-02-rank-{rank:04d}": str(rank) for rank in range(nodes)}
        assert printed[nodes] == {"step-01-rank-0000": "setup", "step-03-rank-0000": "done", **own}


@pytest.mark.long
def test_a_bare_command_is_a_step(place):
    done = iosonde(
        "run",
        "echo ${TARGET}",
        "--parse",
        "none",
        "--target",
        "target",
        "--store",
        "s",
        "--repetitions",
        "1",
        "--page",
        "page.html",
        where=place,
    )
    assert done.returncode == 0, done.stderr
    assert "page.html" in done.stderr and "echo ${TARGET}" in (place / "page.html").read_text()
    (path,) = (place / "s").glob("runs/*/raw/*.out")
    assert path.read_text().startswith(str(place / "target" / "iosonde-"))
    command = "echo hi"
    done = iosonde("run", command, "--store", "s2", "--repetitions", "1", where=place)
    assert done.returncode == 0, done.stderr
    assert re.search(r"S112 .*step-01 .* 1 of 1 ", " ".join(done.stdout.split()))
    assert Store.open(place / "s2").experiments()[0].name == command


@pytest.mark.parametrize(
    ("words", "code", "names"),
    [
        (["sweeep.yaml"], "no-such-file", ("sweeep.yaml", " sweep.yaml?")),
        (["--file", "none"], "no-such-file", ("none ",)),
        (["--file", "target"], "not-a-file", ("target ",)),
        ([], "missing-target", ()),
        ([" "], "empty-command", ()),
        (["sweep.yaml"], "", ("sweep.yaml:6: steps[0]: ", " phases ")),
        (["sweep.yaml", "--target", "nowhere"], "no-such-directory", ("nowhere: ",)),
        (["sweep.yaml", "--target", "target", "--set", "siz=1"], "unknown-factor", ("'siz'", " size?")),
        (["sweep.yaml", "--target", "target", "--set", "size"], "invalid-assignment", ("--set size: ",)),
        (["sweep.yaml", "--target", "target", "--set", "size=1_000"], "", ("--set size: 1_000",)),
        (["sweep.yaml", "--target", "target", "--set", "size=1,a"], "mixed-level-types", ("--set size: ",)),
        (["sweep.yaml", "--target", "target", "--set", "nodes=3"], "not-a-factor", ("--set nodes=3: ", " --nodes")),
        (["sweep.yaml", "--target", "target", "--small-files", "3"], "option-not-applicable", ("--small-files ",)),
        (["sweep.yaml", "--target", "target", "--on", "all"], "option-not-applicable", ("--on ",)),
        (["ls", "--file", "sweep.yaml"], "conflicting-options", ("'ls'", "--file sweep.yaml")),
        (["ls ${FOO}"], "unknown-placeholder", (" ${FOO}",)),
        (["ls", "--parse", "iozon"], "", ("--parse: ", "'iozon'", " iozone?")),
        (["ls", "--cache", "cold"], "option-not-applicable", ("--cache ",)),
    ],
)
def test_what_is_wrong_is_named_with_a_cure(place, monkeypatch, words, code, names):
    """No code: a mistake in the document has that of its kind."""
    monkeypatch.chdir(place)
    done = CliRunner().invoke(cli, ["plan", *words])
    error = done.exception
    assert isinstance(error, InputError) and not done.stdout
    assert error.code == (code or error.code) and error.exit_code == 2
    assert all(name in f"{error.message} | {error.hint}" for name in names)


def test_a_number_out_of_the_range_of_its_option_is_refused(place):
    done = here.iosonde("plan", "ls", "--repetitions", "-1", where=place)
    assert done.returncode == 2 and "--repetitions" in done.stderr and not done.stdout


def test_a_page_that_could_not_be_written_is_said_before_anything_is_measured(place, monkeypatch):
    monkeypatch.chdir(place)
    done = CliRunner().invoke(cli, ["run", "true", "--store", "s", "--page", "nowhere/page.html"])
    assert_problem(done.exception, "no-such-directory", path="nowhere/page.html")
    assert not (place / "s").exists()


def test_control_characters_of_a_file_do_not_reach_the_terminal(place):
    (place / "a.yaml").write_text('name: "\\e[31m"\nsteps: ["echo \\e[32m"]\nfactors: {f: ["\\e[33m"]}\n')
    done = iosonde("plan", "a.yaml", where=place)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    (place / "b.yaml").write_text('"\\e[31m": 1\nsteps: "\\e[32m"\n')
    done = iosonde("plan", "b.yaml", where=place)
    assert done.returncode == 2
    assert "\x1b" not in done.stderr


def test_options_override_the_keys_of_their_names(place):
    os.chdir(place)
    asked = spec_of(
        "sweep.yaml",
        target=("target",),
        nodes=(1, 2),
        seed=3,
        name="n",
        set=("size=4KiB",),
        budget=5.0,
        repetitions=9,
        before_reads="sync",
        between_trials="drop",
    )
    assert asked.spec.targets == {"": place / "target"}
    assert (asked.spec.levels("nodes"), asked.spec.levels("size")) == ((1, 2), (4096,))
    assert (asked.spec.seed, asked.spec.name, asked.spec.repetitions, asked.terms.budget_s) == (3, "n", 9, 5.0)
    assert (asked.spec.cache.between_trials, asked.spec.cache.before_reads) == ("drop", "sync")


def test_the_envelope_is_what_options_alone_mean(place):
    asked = spec_of(target=(str(place),), quick=True, small_files=7, direct=True)
    (step,) = asked.spec.steps
    assert (step.workload, step.settings["small_files"], step.settings["direct"]) == ("envelope", 7, True)
    assert asked.spec.repetitions == 2


def test_the_schema_is_printed_and_is_a_schema(place):
    from jsonschema import Draft202012Validator

    done = iosonde("plan", "--schema", where=place)
    assert done.stdout == schema_text()
    Draft202012Validator.check_schema(json.loads(done.stdout))


def test_the_stopping_rule_looks_at_times_where_there_is_nothing_else(tmp_path):
    """A command without a rate: --until must not end with the pilot because it saw no metric."""
    from iosonde.campaign.resume import group_values_by_metric
    from iosonde.core.types import Experiment, Observation, Run

    store = Store.create(tmp_path / "s")
    factors = {"nodes": 1, "ranks_per_node": 1, "repetition": 0}
    times = [Observation("copy", "seconds", 2.5, "s"), Observation("copy", "seconds", 2.5, "s", 0)]
    store.append(Run("e-0", "e", "iosonde commands", "2026-11-21T10:00:00Z", 1.0, factors, times))
    rate = Observation("read", "bandwidth_mean", 7.0, "bytes/s")
    store.append(Run("f-0", "f", "iosonde commands", "2026-11-21T10:00:00Z", 1.0, factors, [*times, rate]))
    experiments = [Experiment(name, name, [], {}, [], 1, "2026-11-21T10:00:00Z") for name in ("e", "f")]
    assert [list(group_values_by_metric(store, one).values()) for one in experiments] == [[[2.5]], [[7.0]]]


@pytest.mark.parametrize(
    ("step", "key", "names"),
    [
        ({"type": "single"}, "commands[0]", (" 'command' ", "docs/experiment.md")),
        ({"type": "all", "command": "a", "prase": True}, "commands[0].prase", (" parse?",)),
    ],
)
def test_the_older_form_is_checked_before_it_is_made_new(place, step, key, names):
    (place / "old.json").write_text(json.dumps({"commands": [step]}))
    with pytest.raises(SpecError) as refused:
        spec_of(str(place / "old.json"))
    assert refused.value.values["key"] == key
    assert all(name in f"{refused.value.message} | {refused.value.hint}" for name in names)
