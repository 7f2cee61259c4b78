"""Columns that vary and were not asked about: held, or named, by every command."""

from __future__ import annotations

import re

import numpy as np
import pytest

import iosonde
from iosonde.core.table import Table, build_table
from iosonde.core.verdict import VerdictState as State

RNG = np.random.default_rng


def table(**columns: object) -> Table:
    return build_table({name: list(values) for name, values in columns.items()})  # type: ignore[call-overload]  # lists


def simpson(seed: int = 1) -> Table:
    """A is 15 % faster at each size, and was mostly run at the slow one."""
    noise, rows = RNG(seed), []
    for fs, size, n in (("A", 4, 4), ("A", 1024, 20), ("B", 4, 20), ("B", 1024, 4)):
        speed = {4: 430.0, 1024: 130.0}[size] * (1.15 if fs == "A" else 1.0)
        rows += [(fs, size, float(speed * noise.normal(1, 0.03))) for _ in range(n)]
    return table(fs=[row[0] for row in rows], size=[row[1] for row in rows], speed=[row[2] for row in rows])


def balanced(seed: int, effect: float = 2.0) -> Table:
    noise = RNG(seed)
    rows = [(fs, size) for fs in "AB" for size in (4, 1024) for _ in range(6)]
    speeds = [
        float(100 * (effect if fs == "B" else 1) * (1 if size == 4 else 1.1) * noise.normal(1, 0.05))
        for fs, size in rows
    ]
    return table(fs=[row[0] for row in rows], size=[row[1] for row in rows], speed=speeds)


def by_days(seed: int) -> Table:
    """B is faster; the day does nothing."""
    noise = RNG(seed)
    days = [f"d{number}" for number in noise.permutation([0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4])]
    speeds = [float(noise.normal(115 if row % 2 else 100, 10)) for row in range(12)]
    return table(fs=["AB"[row % 2] for row in range(12)], day=days, speed=speeds)


def shown(made: object) -> str:
    return str(made)


@pytest.mark.parametrize("ask", [iosonde.regress, iosonde.anova, iosonde.rank])
def test_an_effect_that_turns_when_the_rest_is_held_is_said(ask):
    made = ask(simpson(), "speed", "fs")
    (verdict,) = made.to_dict()["verdicts"]
    assert verdict["state"] == State.INCONCLUSIVE and "varies-besides" in verdict["doubts"]
    assert re.search(r"\n~ size .*\bwhere=", shown(made)) and "opposite" in said_of(made)


CLAIMS = {iosonde.regress: "significant effects: ", iosonde.anova: "belongs to ", iosonde.rank: " first ("}


def said_of(made: object) -> str:
    """The sentence on one line, and in the JSON where it holds one."""
    content = made.to_dict()  # type: ignore[attr-defined]  # a Result
    (ranking,) = content.get("rankings", [content])
    sentence = made.answer.sentence  # type: ignore[attr-defined]  # a Result
    assert ranking.get("sentence", sentence) == sentence and sentence in " ".join(shown(made).split())
    return str(sentence)


@pytest.mark.parametrize("ask", CLAIMS)
def test_no_sentence_claims_what_the_rest_takes_away(ask):
    hosts = table(host=[{"A": "n1", "B": "n2"}[fs] for fs in balanced(4).column("fs").values])
    for data in (simpson(), Table({**balanced(4).columns, **hosts.columns})):
        made = ask(data, "speed", "fs")
        assert made.to_dict()["verdicts"][0]["state"] in (State.INCONCLUSIVE, State.NOT_SEPARABLE)
        assert CLAIMS[ask] not in re.sub(r"\w+ to fs or host \(", "", said_of(made))
    assert CLAIMS[ask] in said_of(ask(balanced(2), "speed", "fs"))


@pytest.mark.parametrize("ask", CLAIMS)
def test_a_sentence_claims_the_effects_that_the_rest_leaves(ask):
    """fs turns when size is held, and mode does not."""
    data, noise = simpson(), RNG(6)
    mode = ["on" if k % 2 else "off" for k in range(len(data))]
    speeds = [
        float(y) * (3.0 if on == "on" else 1.0) * noise.normal(1, 0.01)
        for y, on in zip(data.column("speed").values, mode, strict=True)
    ]
    made = ask(Table({**data.columns, **table(mode=mode, speed=speeds).columns}), "speed", ["fs", "mode"])
    states = {"+".join(one["subject"]): one["state"] for one in made.to_dict()["verdicts"]}
    assert sorted(states.values()) == ["different", "inconclusive"]
    said = said_of(made)
    assert "mode" in said.split(CLAIMS[ask])[0 if ask is iosonde.rank else 1].split(".")[0]
    assert "fs:" in said


@pytest.mark.parametrize("seed", [8, 10, 44, 53])
def test_an_effect_that_is_only_less_sure_with_the_rest_held_stays(seed):
    """A column without an effect takes degrees of freedom: p = 0.04 becomes 0.06."""
    data = by_days(seed)
    held, plain = (iosonde.regress(data, "speed", on).to_dict()["verdicts"][0] for on in (["fs", "day"], "fs"))
    assert held["state"] == "inconclusive" and plain["state"] == "different" and "varies-besides" in plain["doubts"]
    for ask in CLAIMS:
        made = ask(data, "speed", "fs")
        assert made.to_dict()["verdicts"][0]["state"] == "different" and CLAIMS[ask] in said_of(made)
        assert "inconclusive" not in said_of(made)


@pytest.mark.parametrize("ask", [iosonde.regress, iosonde.anova, iosonde.rank])
def test_an_effect_that_stays_has_the_line_alone(ask):
    made = ask(balanced(2), "speed", "fs")
    (verdict,) = made.to_dict()["verdicts"]
    assert verdict["state"] == State.DIFFERENT and "varies-besides" in verdict["doubts"]
    assert re.search(r"\n~ size .*\bwhere=", shown(made)) and "size" not in said_of(made)


@pytest.mark.parametrize("ask", [iosonde.regress, iosonde.anova, iosonde.rank])
def test_nothing_is_said_where_all_that_varies_is_named(ask):
    assert "besides" not in shown(ask(balanced(2), "speed", ["fs", "size"]))


def test_slopes_over_what_varies_besides_are_inconclusive_where_they_turn():
    (verdict,) = iosonde.regress(simpson(), "speed", "fs").to_dict()["verdicts"]
    assert verdict["state"] == "inconclusive" and "varies-besides" in verdict["doubts"]
    (verdict,) = iosonde.regress(balanced(3), "speed", "fs").to_dict()["verdicts"]
    assert verdict["state"] == "different" and verdict["direction"] == "up"
    assert "varies-besides" in verdict["doubts"]
    verdicts = iosonde.regress(simpson(), "speed", ["fs", "size"]).to_dict()["verdicts"]
    assert [one["direction"] for one in verdicts] == ["down", "down"]
    assert not any("varies-besides" in one["doubts"] for one in verdicts)


def test_a_column_that_always_changes_with_the_factor_is_not_separable():
    data = balanced(4)
    hosts = table(host=[{"A": "n1", "B": "n2"}[fs] for fs in data.column("fs").values])
    made = iosonde.regress(Table({**data.columns, **hosts.columns}), "speed", "fs")
    (verdict,) = made.to_dict()["verdicts"]
    assert verdict["state"] == State.NOT_SEPARABLE and "goes-together" in verdict["doubts"]
    assert "host" in made.answer.sentence and "fs" in made.answer.sentence


def test_advice_without_a_workload_holds_what_looks_set():
    made = iosonde.advise(simpson(), "fs", "speed")
    content = made.to_dict()
    assert content["given"] == ["size"] and content["best_default"] == "A"
    assert any("size" in text for text in content["warnings"])
    (verdict,) = content["verdicts"]
    assert verdict["question"] == "best" and verdict["claim"] == "A" and verdict["state"] == "different"
    assert not verdict["doubts"]


def test_advice_names_what_it_cannot_hold():
    data = simpson()
    row = [str(100 + k) for k in range(len(data))]
    columns = {**data.columns, **table(host=[f"n{k}" for k in row]).columns}
    content = iosonde.advise(Table(columns), "fs", "speed").to_dict()
    assert content["given"] == ["size"] and "varies-besides" in content["verdicts"][0]["doubts"]
    assert any("host" in text for text in content["warnings"])


def test_advice_over_a_pooled_column_is_doubted():
    content = iosonde.advise(simpson(), "fs", "speed", given=[]).to_dict()
    assert "varies-besides" in content["verdicts"][0]["doubts"]
    assert any(re.search(r"\bsize\b", text) for text in content["warnings"])


def test_a_model_without_what_varies_is_doubted():
    noise = RNG(5)
    data = table(
        x=[float(k) for k in range(12)] * 4,
        mode=["a"] * 24 + ["b"] * 24,
        speed=[float(10 * (k % 12) + noise.normal(0, 3)) for k in range(48)],
    )
    (verdict,) = iosonde.fit(data, "speed", "x", families=["mean", "linear"]).to_dict()["verdicts"]
    assert verdict["question"] == "model" and verdict["state"] == "different"
    assert "varies-besides" in verdict["doubts"]
    (verdict,) = iosonde.fit(data, "speed", ["x", "mode"], families=["mean", "linear"]).to_dict()["verdicts"]
    assert verdict["doubts"] == [] and verdict["state"] == "different"


def test_a_model_of_noise_beats_nothing():
    states = []
    for seed in range(12):
        noise = RNG(seed)
        data = table(x=[float(k) for k in range(20)], speed=list(noise.normal(100, 5, 20)))
        states.append(iosonde.fit(data, "speed", "x", families=["mean", "linear"]).to_dict()["verdicts"][0]["state"])
    assert set(states) <= {"inconclusive", "different"} and states.count("different") <= 1


def test_means_over_what_varies_say_so():
    assert re.search(r"\bpool\s+size\b", shown(iosonde.summary(simpson(), "speed", "fs")))
    assert "pool" not in shown(iosonde.summary(simpson(), "speed", ["fs", "size"]))


def test_check_names_what_varies_inside_the_cells_that_were_asked_for():
    codes = [one["code"] for one in iosonde.check(simpson(), "speed", by="fs").to_dict()["findings"]]
    assert "S110" in codes
    codes = [one["code"] for one in iosonde.check(simpson(), "speed").to_dict()["findings"]]
    assert "S110" not in codes


def test_python_keeps_apart_what_the_terminal_keeps_apart():
    named = iosonde.summary(simpson(), "speed").to_dict()
    assert named["by"] == ["fs", "size"] == iosonde.summary(simpson()).to_dict()["by"]
    assert len(iosonde.summary(simpson(), "speed", []).to_dict()["groups"]) == 1


def test_an_uncertain_gain_is_said_to_be_too_high_on_average():
    def words_on(spread: float) -> set[str]:
        noise = RNG(7)
        rows = [(w, s) for w in range(12) for s in "ab" for _ in range(3)]
        speeds = [float(100 * (1.2 if s == "b" else 1) * noise.normal(1, spread)) for _, s in rows]
        data = table(work=[f"w{w}" for w, _ in rows], s=[s for _, s in rows], speed=speeds)
        made = iosonde.advise(data, "s", "speed", given="work")
        assert {rule["set"]["s"] for rule in made.to_dict()["rules"]} == {"b"}
        return set(re.findall(r"\w+", str(made)))

    assert "average" in words_on(0.2) and "average" not in words_on(0.02)


# Rows that are parts of trials


def null_ranks(seed: int, rank_order: bool = False) -> Table:
    noise, rows = RNG(seed), []
    for side in "ab":
        for trial in range(4):
            mean = 100 + 8 * noise.standard_normal()
            rows += [(side, trial, rank, float(mean + 2 * noise.standard_normal())) for rank in range(6)]
    if rank_order:
        rows = [(side, 0, rank, y) for side, _, rank, y in sorted(rows, key=lambda row: row[2])]
    names = ("side", "trial", "rank", "speed")
    return table(**{name: [row[place] for row in rows] for place, name in enumerate(names)})


def test_ranks_are_no_trials():
    states = [
        iosonde.regress(null_ranks(seed), "speed", "side").to_dict()["verdicts"][0]["state"] for seed in range(30)
    ]
    assert states.count("different") <= 4
    assert [row["n"] for row in iosonde.summary(null_ranks(1), "speed").to_dict()["groups"]] == [4, 4]
    for ask in (iosonde.anova, iosonde.rank):
        assert ask(null_ranks(1), "speed", "side").to_dict()["n"] == 8


def test_ranks_of_unknown_trials_prove_nothing():
    for seed in range(10):
        made = iosonde.regress(null_ranks(seed, rank_order=True), "speed", "side")
        (verdict,) = made.to_dict()["verdicts"]
        assert verdict["state"] == "inconclusive" and "subsamples" in verdict["doubts"]
        assert "ranks" in made.answer.sentence
