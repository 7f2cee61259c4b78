"""Advice from a store: on every operation without naming one, over the setting that was in use before the campaign."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from advised_sample import options
from click.testing import CliRunner

from iosonde.campaign.request import Request
from iosonde.campaign.run import run_campaign
from iosonde.cli.group import cli
from iosonde.core.errors import InputError
from iosonde.core.stored import StoredRun
from iosonde.core.table import build_table
from iosonde.explain.advise import Wish, advise_settings
from iosonde.explain.advise_words import describe_advice
from iosonde.store import Store
from messages import assert_problem


def said(*words: str) -> str:
    done = CliRunner().invoke(cli, ["advise", *words, "--choose", "write_behind,cache"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return " ".join(done.stdout.split())


def content(*words: str) -> dict:
    return json.loads(said(*words, "--json"))


def test_a_store_needs_nothing_but_what_may_be_chosen(tmp_path):
    place = options(tmp_path / "s")
    made = content(place)["advice"]
    assert [one["response"] for one in made] == ["write bandwidth_last_done", "read bandwidth_last_done"]
    one = content(place, "--response", "write")
    assert len(one.pop("verdicts")) == 1
    assert made[0] | {"schema": 1} == one
    text = said(place)
    assert "write bandwidth: " in text and "--response 'write bandwidth'" in text
    drawn = CliRunner().invoke(cli, ["advise", place, "--choose", "write_behind,cache", "--plot", "x.svg"])
    assert isinstance(drawn.exception, InputError)
    assert_problem(drawn.exception, "ambiguous-response", n_responses=2)


def test_the_setting_in_use_is_what_the_system_had_before(tmp_path):
    place = options(tmp_path / "s", {"write_behind": "off", "cache": "64B"})
    made = content(place, "--response", "write")
    assert made["gain"]["over"] == "off/64" and made["advised"] == "default"
    assert made["gain"]["ratio"]["low"] > 2
    text = said(place, "--response", "write")
    assert "write_behind=off,cache=64B" in text
    assert "Advice: on/" in text and "for off/64" in text
    other = content(place, "--response", "write", "--current", "write_behind=on,cache=64")
    assert other["gain"]["over"] == "on/64" and not any("write_behind=" in one for one in other["warnings"])
    # A condition that leaves the first trial out takes nothing from what is known.
    assert content(place, "--where", "run!=e-0000", "--response", "write")["gain"]["over"] == "off/64"


@pytest.mark.parametrize(
    ("found", "warned"), [({"write_behind": "off"}, False), ({"write_behind": "off", "cache": "7"}, True)]
)
def test_a_setting_that_is_not_known_or_was_not_measured_is_none_in_use(tmp_path, found, warned):
    made = content(options(tmp_path / "s", found), "--response", "write")
    assert made["over_random"] is not None and made["gain"]["over"].startswith("on/")
    assert warned == any("cache=7" in one for one in made["warnings"])


def test_experiments_that_found_different_settings_have_none_in_use(tmp_path):
    place = options(tmp_path / "s", {"write_behind": "off", "cache": "64"})
    store = Store.open(options(tmp_path / "other", {"write_behind": "on", "cache": "64"}, ("later",)))
    for one in store.runs():
        shutil.copytree(store.path / "runs" / one["id"], tmp_path / "s" / "runs" / one["id"])
    Store.open(place).save_experiment(store.experiment("later"))
    assert content(place, "--experiment", "all", "--response", "write")["over_random"] is not None
    assert content(place, "--experiment", "later", "--response", "write")["gain"]["over"] == "on/64"


def campaigned(tmp_path, level: str, **more) -> list[StoredRun]:
    state = tmp_path / "state"
    state.write_text(level)
    (tmp_path / "x.yaml").write_text(
        f"factors: {{mode: {{levels: [a, b], set: 'echo ${{LEVEL}} > {state}', read: 'cat {state}'}},\n"
        f"  other: {{levels: [1], set: 'echo ${{LEVEL}} > {state}-2', read: 'cat {state}-2'}}}}\n"
        "steps: ['true']\nrepetitions: 2\n"
    )
    store = str(tmp_path / "store")
    run_campaign(Request(what=str(tmp_path / "x.yaml"), store=store, seed=1, **more))
    return [StoredRun(one) for one in Store.open(store).runs()]


@pytest.mark.slow
def test_a_campaign_keeps_what_it_found_before_it_set_anything(tmp_path):
    runs = campaigned(tmp_path, "b\n")
    assert all(one.initial_levels == {"mode": "b"} for one in runs), "what cannot be read yet is left out"


def two_options(seed: int, faster: float, noise: float):
    """Option a, on of which is so many times as fast, and option b, which does nothing; four trials of each setting."""
    rng = np.random.default_rng(seed)
    rows = [
        (a, b, rate * np.exp(rng.normal(0, noise)))
        for a, rate in (("on", faster), ("off", 1.0))
        for b in range(4)
        for _ in range(4)
    ]
    return build_table({name: list(one) for name, one in zip("aby", zip(*rows, strict=True), strict=True)})


def test_a_clear_answer_is_not_hidden_by_a_setting_at_random():
    """off/on was 3.5 times as fast, "No advice" the answer."""
    assert all(advise_settings(two_options(seed, 3.5, 0.2), "y", ["a", "b"]).kind == "default" for seed in range(5))
    unsure = [advise_settings(two_options(seed, 2.0, 0.35), "y", ["a", "b"]) for seed in range(12)]
    said = [describe_advice(made) for made in unsure if made.kind == "nothing"]
    assert said
    clear = [text for text in said if "a=on" in text]
    assert clear and all("a=off" in text and "--current" in text for text in clear)


def noisy(rng: np.random.Generator, means: list[float], instances: int, noise: float):
    rows = [
        (str(i), f"s{at}", mean * np.exp(rng.normal(0, noise)))
        for i in range(instances)
        for at, mean in enumerate(means)
        for _ in range(4)
    ]
    given, setting, y = map(list, zip(*rows, strict=True))
    return build_table({"given": given, "set": setting, "y": y})


@pytest.mark.parametrize(("means", "instances"), [([1, 1, 1, 3], 1), ([1, 1, 1, 1], 1), ([1, 1.3, 2], 3)])
def test_shares_are_from_0_to_1_with_intervals_that_hold_the_truth(means, instances):
    """They were 97.9 (46.1 to 149.7) %."""
    rng, held, shares = np.random.default_rng(6), 0, 0
    given = ["given"] if instances > 1 else []
    for _ in range(12):
        made = advise_settings(
            noisy(rng, means, instances, 0.25), "y", ["set"], given, wish=Wish(current={"set": "s0"})
        )
        best = means[int(made.best_default[1:])]
        for share, truth in ((made.gain.reference, means[0]), (made.gain.advised, best)):
            assert 0 <= share.low <= share.value <= share.high <= 1
            held += share.low <= truth / max(means) <= share.high
            shares += 1
        assert made.gain.lowest <= 1 and -1 <= made.gain.share.low <= made.gain.share.high <= 1
    assert held >= 0.9 * shares


def test_equal_settings_of_few_instances_are_rarely_told_apart():
    rng = np.random.default_rng(8)
    wish = Wish(current={"set": "s0"})
    told = [advise_settings(noisy(rng, [1.0] * 6, 1, 0.2), "y", ["set"], wish=one).kind for one in (wish, Wish()) * 40]
    assert sum(kind != "nothing" for kind in told) <= 8
