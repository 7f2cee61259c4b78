"""Two ``--target`` are two levels of the factor ``target``, measured in turns; each is looked after as one alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from iosonde.campaign.campaign import build_campaign
from iosonde.campaign.plan import plan_campaign
from iosonde.campaign.request import Request
from iosonde.campaign.run import run_campaign
from iosonde.campaign.targets import derive_target_names, parse_targets, prefix_target_errors
from iosonde.cli.group import cli
from iosonde.commands.plan.text import lines
from iosonde.core.errors import TargetError, TargetFaultError
from iosonde.core.problems import SpecError
from iosonde.core.types import Factor
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import open_data
from iosonde.measure.target.keeper import Keeper
from iosonde.store import Store
from messages import assert_problem, raises


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("g", "n"):
        (tmp_path / name).mkdir()
    return tmp_path


def asked(*targets: str, what: str | None = "true", **more) -> Request:
    return Request(what=what, target=targets or None, **{"store": "store", "seed": 1, **more})


def levels(request: Request) -> dict[str, str]:
    spec = build_campaign(request).spec
    return {name: str(path) for name, path in spec.targets.items()}


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["/mnt/g", "/mnt/n"], ["g", "n"]),
        (["/mnt/g/data", "/mnt/n/data"], ["g", "n"]),
        (["/a/x/1", "/a/y/1", "/b/x/1"], ["a/x/1", "a/y/1", "b/x/1"]),
        (["/mnt", "/mnt/sub"], ["mnt", "sub"]),
        (["/", "/x"], ["/", "x"]),
        (["/mnt/n", "/mnt/g"], ["n", "g"]),
        (["/b/x/1", "/a/y/1", "/a/x/1"], ["b/x/1", "a/y/1", "a/x/1"]),
        (["/n/data", "/g/data", "/a/data"], ["n", "g", "a"]),
    ],
)
def test_a_level_is_the_shortest_name_that_tells_the_paths_apart(paths, names):
    assert derive_target_names([Path(path) for path in paths]) == names


def test_options_and_a_file_mean_the_same_two_levels(here):
    wanted = {"gluster": str(here / "g"), "nfs": str(here / "n")}
    (here / "two.yaml").write_text("targets: {gluster: g, nfs: n}\nsteps: [{command: 'true', on: all, parse: auto}]\n")
    assert levels(asked("gluster=g", "nfs=n")) == levels(asked(what="two.yaml")) == wanted
    assert levels(asked("g", "n")) == {"g": str(here / "g"), "n": str(here / "n")}
    made = build_campaign(asked("gluster=g", "nfs=n"))
    assert made.spec.factors[-1] == Factor("target", "", ("gluster", "nfs"))
    assert made.identity() == build_campaign(asked(what="two.yaml")).identity()
    assert made.identity()["targets"] == wanted and "target" not in made.identity().get("factors", {})
    (here / "again.json").write_text(json.dumps(made.identity()))
    assert build_campaign(asked(what="again.json")).identity() == made.identity()


def test_one_target_is_no_factor_unless_it_has_a_name(here):
    one = build_campaign(asked("g")).spec
    assert one.targets == {"": here / "g"} and [factor.name for factor in one.factors] == ["nodes", "ranks_per_node"]
    assert build_campaign(asked("gluster=g")).spec.levels("target") == ("gluster",)


def test_an_option_overrides_either_key_of_a_file(here):
    (here / "two.yaml").write_text("targets: {gluster: g, nfs: n}\nsteps: ['true']\n")
    assert levels(asked("n", what="two.yaml")) == {"": str(here / "n")}
    (here / "one.yaml").write_text("target: g\nsteps: ['true']\n")
    assert set(levels(asked("g", "n", what="one.yaml"))) == {"g", "n"}


@pytest.mark.parametrize(
    ("text", "code", "key"),
    [
        ("target: g\ntargets: {a: g, b: n}", "conflicting-keys", "target"),
        ("targets: {a: g, b: ./g}", "duplicate-target", "targets.b"),
        ("targets: {a: g, b: n}\nfactors: {target: [1]}", "reserved-name", "factors.target"),
        ("targets: {}", "empty-value", "targets"),
        ("targets: {'': g}", "empty-name", "targets"),
    ],
)
def test_what_cannot_be_two_targets_is_refused(here, text, code, key):
    (here / "bad.yaml").write_text(f"{text}\nsteps: ['true']\n")
    with pytest.raises(SpecError) as refused:
        build_campaign(asked(what="bad.yaml"))
    assert_problem(refused.value.problems[0], code, key=key)


def test_one_name_for_two_directories_is_refused(here):
    with raises("duplicate-target", name="a"):
        build_campaign(asked("a=g", "a=n"))


def test_a_target_that_is_missing_is_said_by_its_name(here):
    with raises("no-such-directory", TargetError, place="target nfs", target=here / "none"):
        plan_campaign(asked("gluster=g", "nfs=none"))


def test_the_plan_shows_every_target_and_trials_in_turns(here):
    made = plan_campaign(asked("gluster=g", "nfs=n", what="echo ${TARGET}", repetitions=2))
    shown = "\n".join(lines(made))
    assert [line.split()[-2:] for line in shown.splitlines()[:9] if f"{here}/" in line][:2] == [
        ["gluster", f"{here}/g"],
        ["nfs", f"{here}/n"],
    ]
    for block in (0, 1):
        assert {one.factors["target"] for one in made.experiment.trials if one.block == block} == {"gluster", "nfs"}
    first = made.experiment.trials[0].factors["target"]
    assert f"echo {here}/{first[0]}/iosonde-" in shown


def test_the_store_must_not_lie_on_any_of_them(here):
    with raises("store-on-target"):
        plan_campaign(asked("gluster=g", "nfs=n", store="n/store"))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("what", ['echo "$IOSONDE_TARGET ${TARGET} ${target}" >&2; touch ${TARGET}/x', "user:ls"])
def test_each_trial_is_on_its_own_target_which_is_left_as_it_was(here, what):
    more = {"set": ("files=10",)} if what == "user:ls" else {}
    run_campaign(asked("gluster=g", "nfs=n", what=what, repetitions=2, **more)).check()
    runs = Store.open(here / "store").runs()
    assert len(runs) == 4
    for one in runs:
        place = here / one["factors"]["target"][0]
        assert one["facts"]["target"] == str(place) and one["facts"]["machine"]["mount"]["type"]
        if what != "user:ls":
            said = (here / "store" / "runs" / one["id"] / "raw").glob("*")
            assert any(
                f"{place}/iosonde-" in path.read_text() and one["factors"]["target"] in path.read_text()
                for path in said
            )
    assert not list((here / "g").iterdir()) and not list((here / "n").iterdir())
    found = build_responses(open_data("store"), ResponseQuery(response=("seconds",)))
    assert found and all("target" in one.names and "filesystem" not in one.names for one in found)


@pytest.mark.long
@pytest.mark.slow
def test_two_targets_are_compared_pair_by_pair_until_it_is_clear(here):
    command = "case ${target} in slow) sleep 0.2;; esac"
    words = ["run", command, "--target", "fast=g", "--target", "slow=n", "--against", "target", "--store", "s"]
    done = CliRunner().invoke(cli, [*words, "--fail-if", "slower>50%"])
    assert done.exit_code == 1
    (experiment,) = Store.open(here / "s").experiments()
    assert experiment.settings["decision"]["pairs"]["a"] == "fast"
    assert {trial.factors["target"] for trial in experiment.trials} == {"fast", "slow"}
    assert json.loads(CliRunner().invoke(cli, ["compare", "s", "--json"]).stdout)["group"] == "target"


@pytest.mark.long
def test_the_envelope_is_compared_over_the_factor(here):
    run_campaign(asked("gluster=g", "nfs=n", what=None, repetitions=2, small_files=5, large_size=2**20)).check()
    done = CliRunner().invoke(cli, ["compare", "store", "--group", "target"])
    assert done.exit_code == 0 and "gluster" in done.output and "nfs" in done.output


@pytest.mark.slow
def test_a_target_that_fails_is_named_and_the_other_is_cleaned(here, monkeypatch):
    plain = Keeper.on

    def on(self, workspace, operation, what, **more):
        if operation == "trial" and workspace.path.parent.name == "n":
            raise TargetFaultError("no-response", "{path} does not answer", path=workspace.path)
        plain(self, workspace, operation, what, **more)

    monkeypatch.setattr(Keeper, "on", on)
    request = asked("gluster=g", "nfs=n", repetitions=3, seed=4)
    with raises("no-response", TargetFaultError, place="target nfs"):
        run_campaign(request).check()
    assert not list((here / "g").iterdir())


@pytest.mark.slow
def test_python_takes_a_dict_of_targets(here):
    import iosonde

    made = iosonde.plan("true", target={"gluster": here / "g", "nfs": here / "n"}, seed=1)
    assert made.answer.experiment.factors[-1].levels == ("gluster", "nfs")
    assert len(iosonde.plan("true", target=[here / "g", here / "n"], seed=1).answer.experiment.factors) == 3


@pytest.mark.parametrize(
    ("words", "targets"),
    [
        (["/mnt/n"], {"": "/mnt/n"}),
        (["/mnt/n", "/mnt/g"], {"n": "/mnt/n", "g": "/mnt/g"}),
        (["nfs=/mnt/n"], {"nfs": "/mnt/n"}),
        (["nfs=/a/x", "/b/y", "/c/z"], {"nfs": "/a/x", "y": "/b/y", "z": "/c/z"}),
        (["/b/y", "nfs=/a/y"], {"y": "/b/y", "nfs": "/a/y"}),
        (["./a=b"], {"": "./a=b"}),
        (["a=b=c"], {"a": "b=c"}),
        (["a=~/x"], {"a": "~/x"}),
        ([], {}),
    ],
)
def test_a_target_has_the_name_that_is_given_else_one_of_its_own(words, targets):
    found = parse_targets(words)
    assert list(found.items()) == list(targets.items())


def test_a_name_that_is_given_and_derived_is_refused():
    with raises("duplicate-target", name="y"):
        parse_targets(["y=/a", "/b/y", "/c/z"])


@pytest.mark.parametrize(
    ("name", "message", "shown"),
    [("nfs", "gone", "target nfs: gone"), ("", "gone", "gone"), ("nfs", "target nfs: gone", "target nfs: gone")],
)
def test_an_error_of_a_named_target_says_its_name_once(name, message, shown):
    with pytest.raises(TargetError) as error, prefix_target_errors(name):
        raise TargetError("gone", message, "look for it")
    assert (error.value.code, error.value.message, error.value.hint) == ("gone", shown, "look for it")


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ([], []),
        (["/a/x"], ["x"]),
        (["/a/x", "/b/x"], ["a", "b"]),
        (["/a/x/1", "/b/x/1", "/b/y/1"], ["a/x/1", "b/x/1", "b/y/1"]),
        (["/a", "/a"], ["/a", "/a"]),
    ],
)
def test_names_are_the_shortest_that_distinguish(paths, names):
    assert derive_target_names([Path(path) for path in paths]) == names


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["/a"], {"": "/a"}),
        (["n=/a=b"], {"n": "/a=b"}),
        (["./n=b"], {"": "./n=b"}),
        (["~n=b"], {"": "~n=b"}),
        (["/a/x", "n=/b", "/c/y"], {"x": "/a/x", "n": "/b", "y": "/c/y"}),
        (["/a/x", "n=/b"], {"x": "/a/x", "n": "/b"}),
    ],
)
def test_a_target_is_a_directory_with_or_without_a_name(words, expected):
    assert parse_targets(words) == expected


def test_two_targets_of_one_name_are_refused():
    with raises("duplicate-target", name="x"):
        parse_targets(["y=/c", "x=/b", "/a/x"])
