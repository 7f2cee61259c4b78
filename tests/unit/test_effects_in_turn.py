"""Effects of factors whose levels were measured in turn, and settings that lack values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import iosonde
from iosonde.core.verdict import VerdictState
from iosonde.stats.assumptions.drift import detect_drift_in_turn
from iosonde.stats.overview.measured_order import find_measured_order
from iosonde.stats.overview.uneven_missing import describe_uneven_missing

NO_CELLS = np.zeros(20, dtype=np.intp)


def in_turn(slope: float, step: float, seed: int = 1) -> pd.DataFrame:
    """A ten times, then B ten times; values fall by ``slope`` a trial, and B is ``step`` higher."""
    places = np.arange(20)
    noise = np.random.default_rng(seed).standard_normal(20)
    return pd.DataFrame(
        {
            "v": np.repeat(["A", "B"], 10),
            "start": [f"2026-11-20T10:{minute:02}:00" for minute in places],
            "y": 100 - slope * places + step * (places >= 10) + noise,
        }
    )


def effect_of(answer) -> dict[str, object]:
    """The verdict about v."""
    return next(one for one in answer.to_dict()["verdicts"] if one["question"] == "effect" and one["subject"] == ["v"])


ASKED = {
    "summary": lambda data: iosonde.summary(data, "y", by="v"),
    "rank": lambda data: iosonde.rank(data, response="y", on="v"),
}


@pytest.mark.parametrize("command", ASKED)
def test_a_drift_that_explains_an_effect_leaves_it_open(command):
    verdict = effect_of(ASKED[command](in_turn(0.8, 0.0)))
    assert verdict["state"] == VerdictState.INCONCLUSIVE
    assert {"order", "drift"} <= set(verdict["doubts"])


@pytest.mark.parametrize("command", ASKED)
def test_a_step_beyond_the_drift_is_an_effect_with_its_doubt(command):
    verdict = effect_of(ASKED[command](in_turn(0.8, -40.0)))
    assert verdict["state"] == VerdictState.DIFFERENT
    assert "drift" in verdict["doubts"]


@pytest.mark.parametrize("command", ASKED)
def test_an_effect_without_drift_stays_and_its_order_is_a_doubt(command):
    verdict = effect_of(ASKED[command](in_turn(0.0, -40.0)))
    assert (verdict["state"], verdict["doubts"]) == (VerdictState.DIFFERENT, ["order"])


@pytest.mark.parametrize("command", ASKED)
def test_the_order_of_rows_without_times_is_no_doubt(command):
    verdict = effect_of(ASKED[command](in_turn(0.0, -40.0).drop(columns="start")))
    assert (verdict["state"], verdict["doubts"]) == (VerdictState.DIFFERENT, [])


def test_rows_in_another_order_than_time_are_put_in_order():
    data = in_turn(0.8, 0.0)
    mixed = data.assign(start=data["start"].sample(frac=1, random_state=3).tolist())
    assert effect_of(ASKED["summary"](mixed))["doubts"] == []


def test_levels_that_take_turns_are_not_in_turn():
    levels = np.tile([0, 1], 10)
    assert detect_drift_in_turn(levels, 100.0 - np.arange(20), NO_CELLS, np.arange(20.0), 0.95) is None


def test_three_levels_in_turn_are_held_one_against_the_next():
    levels = np.repeat([0, 1, 2], 10)
    noise = np.random.default_rng(2).standard_normal(30)
    drift = detect_drift_in_turn(
        levels, 100 - np.arange(30) + noise, np.zeros(30, dtype=np.intp), np.arange(30.0), 0.95
    )
    assert drift is not None
    assert drift.explains_effect
    stepped = 100 - np.arange(30) + noise - 50 * (levels == 2)
    drift = detect_drift_in_turn(levels, stepped, np.zeros(30, dtype=np.intp), np.arange(30.0), 0.95)
    assert drift is not None
    assert not drift.explains_effect


def lacking(a: int, b: int) -> pd.DataFrame:
    """So many of ten values of each side are missing."""
    y = np.arange(20.0) % 7 + 50
    y[:a], y[10 : 10 + b] = np.nan, np.nan
    return pd.DataFrame({"v": np.repeat(["A", "B"], 10), "y": y})


@pytest.mark.parametrize(("a", "b", "uneven"), [(0, 5, True), (5, 5, False), (0, 1, False), (6, 0, True)])
def test_a_setting_that_lacks_more_values_is_named(a, b, uneven):
    answer = iosonde.summary(lacking(a, b), "y", by="v")
    best = next(one for one in answer.to_dict()["verdicts"] if one["question"] == "best")
    assert ("missing-values" in best["doubts"]) is uneven


@pytest.mark.parametrize("command", ["summary", "rank", "anova", "regress", "compare"])
@pytest.mark.parametrize("is_fast", [True, False])
def test_a_level_of_one_of_several_factors_that_lacks_more_values_is_open_everywhere(command, is_fast):
    """b lacks 6 of 24 values at the largest size; where it is the slower side, they only confirm that."""
    rng, ratio = np.random.default_rng(4), 1.2 if is_fast else 0.8
    data = pd.DataFrame({"fs": np.repeat(["a", "b"], 24), "size": np.tile(np.repeat(["1", "4", "16"], 8), 2)})
    speed = data["size"].astype(float) * np.where(data["fs"] == "b", ratio, 1.0)
    data["mbs"] = 100 * speed * np.exp(0.01 * rng.standard_normal(48))
    data.loc[42:, "mbs"] = np.nan
    data["size"] = "s" + data["size"]
    ask = {
        "summary": lambda: iosonde.summary(data, "mbs", by=["fs", "size"]),
        "rank": lambda: iosonde.rank(data, response="mbs", on=["fs", "size"]),
        "anova": lambda: iosonde.anova(data, response="mbs", on=["fs", "size"]),
        "regress": lambda: iosonde.regress(data, response="mbs", on=["fs", "size"]),
        "compare": lambda: iosonde.compare(data, response="mbs", group="fs"),
    }[command]
    names = {"compare": ["a", "b"], "regress": ["fs[b]"]}.get(command, ["fs"])
    (verdict,) = [each for each in ask().to_dict()["verdicts"] if list(each["subject"]) == names]
    assert "missing-values" in verdict["doubts"]
    if is_fast:
        assert verdict["state"] == VerdictState.INCONCLUSIVE


def test_many_settings_are_corrected_for():
    names = [f"s{place}" for place in range(20)]
    data = pd.DataFrame({"v": np.repeat(names, 4), "y": np.where(np.isin(np.arange(80), [0, 1, 40]), np.nan, 1.0)})
    table = iosonde.open(data).table
    assert describe_uneven_missing(table, table.numbers("y"), ["v"]) == ""
    assert describe_uneven_missing(table.take(np.arange(8)), table.numbers("y")[:8], ["v"]) == ""


def slope_of(data):
    """The state and the doubts of what regress, and anova, say of v."""
    for answer in (iosonde.regress(data, response="y", on="v"), iosonde.anova(data, response="y", on="v")):
        verdict = answer.to_dict()["verdicts"][0]
        yield verdict["state"], set(verdict["doubts"])


def test_a_slope_that_a_drift_explains_is_open():
    for state, doubts in slope_of(in_turn(0.8, 0.0)):
        assert state == VerdictState.INCONCLUSIVE
        assert {"order", "drift"} <= doubts


def test_a_slope_without_drift_stays_and_its_order_is_a_doubt():
    for state, doubts in slope_of(in_turn(0.0, -40.0)):
        assert state == VerdictState.DIFFERENT
        assert tuple(doubts) == ("order",)


def test_a_column_that_changes_with_the_level_does_not_hide_the_step():
    levels = np.repeat([0, 1], 10)
    drift = detect_drift_in_turn(levels, np.arange(20.0) + 800 * levels, levels, np.arange(20.0), 0.95)
    assert drift is not None
    assert not drift.explains_effect


def crossed(slope: float) -> pd.DataFrame:
    """Two file systems, the one after the other, on two sizes in turn; values fall by ``slope`` a trial."""
    places = np.arange(24)
    y = 100 - slope * places + np.random.default_rng(4).standard_normal(24)
    return pd.DataFrame({"fs": np.repeat(["a", "b"], 12), "size": np.tile([4, 16], 12), "y": y})


@pytest.mark.parametrize("command", ["summary", "rank"])
def test_no_joint_effect_is_claimed_where_a_drift_explains_a_factor(command):
    ask = {
        "summary": lambda data: iosonde.summary(data, "y", by=["fs", "size"]),
        "rank": lambda data: iosonde.rank(data, response="y", on=["fs", "size"]),
    }[command]
    states = {one["state"] for one in ask(crossed(0.8)).to_dict()["verdicts"]}
    assert VerdictState.DIFFERENT not in states


def test_members_of_a_block_share_its_drift():
    data = in_turn(0.8, 0.0)
    data = data.assign(pool=np.where(data["v"] == "A", np.where(np.arange(20) % 5 == 0, "p", "q"), "r"))
    verdicts = iosonde.summary(data, "y", by=["v", "pool"]).to_dict()["verdicts"]
    assert all(one["state"] != VerdictState.DIFFERENT for one in verdicts)


@pytest.mark.parametrize("name", ["block", "block_kib", "order"])
def test_a_factor_is_no_clock(name):
    """A size that is called block was taken for the number of the block in which a trial was measured."""
    sizes = np.random.default_rng(3).permutation(np.repeat([1, 2, 3], 8))
    data = pd.DataFrame({name: sizes, "y": 100 + 20.0 * sizes + np.random.default_rng(5).standard_normal(24)})
    for answer in (iosonde.summary(data, "y", by=name), iosonde.regress(data, response="y", on=name)):
        verdict = answer.to_dict()["verdicts"][0]
        assert (verdict["state"], verdict["doubts"]) == (VerdictState.DIFFERENT, [])


@pytest.mark.parametrize(("values", "is_order"), [([0, 1, 2, 3], True), ([2, 2, 1, 1], True), ([4, 8, 16, 32], False)])
def test_what_does_not_count_is_no_order(values, is_order):
    table = iosonde.open(pd.DataFrame({"v": list("abab"), "block": values, "y": [1.0, 2.0, 3.0, 4.0]})).table
    assert (find_measured_order(table, ("y", "v")) is not None) is is_order


@pytest.mark.long
def test_pairs_of_levels_are_corrected_for():
    rng = np.random.default_rng(6)
    levels, cells = np.repeat(np.arange(8), 5), np.zeros(40, dtype=np.intp)
    found = [
        detect_drift_in_turn(levels, 100 + rng.standard_normal(40), cells, np.arange(40.0), 0.95) for _ in range(200)
    ]
    assert sum(drift is not None for drift in found) <= 8  # of 200; 2 are expected


def test_effects_doubt_gaps_and_a_setting_without_values_is_named():
    data = lacking(0, 5)
    for answer in (iosonde.summary(data, "y", by="v"), iosonde.rank(data, response="y", on="v")):
        assert "missing-values" in effect_of(answer)["doubts"]
    warnings = iosonde.summary(lacking(0, 10), "y", by="v").to_dict()["warnings"]
    assert any("v=B" in text for text in warnings)


def looped() -> pd.DataFrame:
    """Two file systems in turn, each in loops over clients and blocks, three times."""
    rows = [(fs, clients, block) for fs in "ab" for clients in (1, 4, 16) for block in (4, 64) for _ in range(3)]
    data = pd.DataFrame(rows, columns=["fs", "clients", "block"])
    y = 100.0 * data["clients"] ** 0.8 * np.where(data["fs"] == "b", 1.5, 1.0)
    return data.assign(y=y * (1 + 0.01 * np.random.default_rng(7).standard_normal(len(data))))


COMMANDS = {
    "summary": lambda data: iosonde.summary(data, "y", by="fs"),
    "rank": lambda data: iosonde.rank(data, response="y", on="fs"),
    "anova": lambda data: iosonde.anova(data, response="y", on="fs"),
    "regress": lambda data: iosonde.regress(data, response="y", on="fs"),
    "compare": lambda data: iosonde.compare(data, "fs", response="y"),
    "compare --adjust none": lambda data: iosonde.compare(data, "fs", response="y", adjust="none"),
    "advise": lambda data: iosonde.advise(data, response="y", choose="fs"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_order_of_loops_is_no_drift(command):
    """`values drift with the order in which they were measured, by 210 %`: it was clients 1, 4, 16."""
    answer = COMMANDS[command](looped()).to_dict()
    assert answer["verdicts"]
    doubts = {doubt for verdict in answer["verdicts"] for doubt in verdict["doubts"]}
    assert "drift" not in doubts and (command == "regress" or "dependent" not in doubts)  # regress tests its residuals
    assert "S103" not in {finding["code"] for finding in answer.get("findings", ())}


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "compare --adjust none"])
def test_a_drift_is_the_same_for_all_commands(command):
    y = pd.DataFrame({"fs": np.repeat(["a", "b"], 20), "y": 200 - 2.0 * np.arange(40)})
    y["y"] += np.random.default_rng(8).normal(0, 2, 40)
    states = {
        (verdict["state"], "drift" in verdict["doubts"]) for verdict in COMMANDS[command](y).to_dict()["verdicts"]
    }
    assert all(has_drift and state == VerdictState.INCONCLUSIVE for state, has_drift in states) and states


@pytest.mark.parametrize("command", ["summary", "rank", "compare"])
def test_the_order_of_hosts_inside_a_factor_is_no_drift(command):
    """Hosts differ, and were measured one after the other in each file system; nothing drifts."""
    effects = [0, 28, 10, -6, 35, 12]
    rng = np.random.default_rng(9)
    data = pd.DataFrame({"fs": np.repeat(["a", "b"], 30), "host": np.repeat([f"n{place}" for place in range(6)], 10)})
    data["y"] = 380 + np.repeat(effects, 10) + 3 * rng.standard_normal(60)
    ask = {
        "summary": lambda: iosonde.summary(data, "y", by=["fs", "host"]),
        "rank": lambda: iosonde.rank(data, response="y", on=["fs", "host"]),
        "compare": lambda: iosonde.compare(data, response="y", group="fs"),
    }[command]
    verdicts = ask().to_dict()["verdicts"]
    assert not any("drift" in verdict["doubts"] for verdict in verdicts)
    if command != "compare":
        assert any(verdict["state"] == VerdictState.DIFFERENT for verdict in verdicts)
