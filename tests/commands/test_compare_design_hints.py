"""What compare says where the order or a block explains the spread: the estimate without it, or how to obtain it."""

import numpy as np
import pandas as pd

import iosonde
from iosonde.core.verdict import VerdictState


def compare(data: pd.DataFrame, **options) -> tuple[dict, str]:
    answer = iosonde.compare(data, response="mbs", group="fs", **options)
    return answer.to_dict()["verdicts"][0], " ".join(str(answer).split())


def test_the_ratio_of_drifting_sides_in_turn_is_that_without_the_drift():
    """b is 20 % slower; values rise by 9 % while each side is measured, which hides half of it."""
    rng, fs = np.random.default_rng(2), np.repeat(["a", "b"], 20)
    speed = np.where(fs == "b", 0.8, 1.0) * (1 + 0.0047 * np.arange(40))
    verdict, _ = compare(pd.DataFrame({"fs": fs, "mbs": 200 * speed * np.exp(0.005 * rng.standard_normal(40))}))
    estimate = verdict["estimate"]
    assert verdict["state"] == VerdictState.DIFFERENT
    assert estimate["low"] < 0.8 < estimate["high"] < 0.84


def test_sides_in_turns_that_drift_together_are_said_to_differ_without_the_drift():
    rng, fs = np.random.default_rng(2), np.tile(["a", "b"], 20)
    speed = np.where(fs == "b", 1.05, 1.0) * (1 - 0.01 * np.arange(40))
    verdict, text = compare(pd.DataFrame({"fs": fs, "mbs": 200 * speed * np.exp(0.01 * rng.standard_normal(40))}))
    assert verdict["state"] == VerdictState.INCONCLUSIVE
    assert "pair=" in text


def build_days(days: float) -> pd.DataFrame:
    """A trial of each side on 8 days; b is 5 % faster."""
    rng, fs = np.random.default_rng(5), np.tile(["a", "b"], 8)
    day = np.repeat(np.exp(days * rng.standard_normal(8)), 2)
    values = 300 * day * np.where(fs == "b", 1.05, 1.0) * np.exp(0.015 * rng.standard_normal(16))
    return pd.DataFrame({"date": np.repeat([f"2026-03-0{place}" for place in range(1, 9)], 2), "fs": fs, "mbs": values})


def test_days_that_explain_the_spread_are_offered_as_pairs():
    verdict, text = compare(build_days(0.15))
    assert verdict["state"] == VerdictState.INCONCLUSIVE
    assert "pair='date'" in text
    assert compare(build_days(0.15), pair="date")[0]["state"] == VerdictState.DIFFERENT


def test_days_without_effect_are_no_hint():
    assert "pair=" not in compare(build_days(0.0))[1]
