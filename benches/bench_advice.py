"""How often is `iosonde advise` wrong? Simulated experiments whose truth is known.

    python benches/bench_advice.py [--experiments N] [--quick]

Prints the tables of docs/method/advice.md. Noise is log-normal; workloads differ in speed by a factor of about two.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from iosonde.core.table import Table, build_table
from iosonde.core.types import Estimate
from iosonde.explain.advise import DEFAULT, NOTHING, RULES, Advice, advise_settings
from iosonde.explain.advise_cases import Cases, compare_cases
from iosonde.explain.advise_intervals import find_best_settings
from iosonde.explain.advise_needs import compute_deciding_needs, compute_sufficient_values
from iosonde.explain.advise_parts import estimate_grouped_mean
from iosonde.explain.instances import build_instances

SETTINGS = 8
NOISE = 0.1
SHAPES = ((1, 5), (1, 20), (4, 10), (16, 3))  # instances, trials of each cell
EFFECTS = (0.0, 0.03, 0.05, 0.10)


@dataclass(frozen=True)
class Truth:
    """``better`` says by how much setting ``s`` is faster than the rest at a size between 0 and 1."""

    name: str
    better: Callable[[float, int], float]

    def share(self, size: float, setting: int) -> float:
        """The true share of the best."""
        best = max(self.better(size, s) for s in range(SETTINGS))
        return (1 + self.better(size, setting)) / (1 + best)


def one_better(effect: float) -> Truth:
    return Truth(f"one better by {100 * effect:g} %" if effect else "all alike", lambda size, s: effect * (s == 3))


def two_better(effect: float) -> Truth:
    """One setting for small sizes, another for large ones."""
    return Truth(f"two, by {100 * effect:g} %", lambda size, s: effect * (s == (3 if size < 0.5 else 5)))


def sizes(n: int) -> np.ndarray:
    return (np.arange(n) + 0.5) / n


def trials(truth: Truth, n: int, repeats: int, rng: np.random.Generator) -> Table:
    size, setting, _ = (a.reshape(-1) for a in np.meshgrid(sizes(n), range(SETTINGS), range(repeats), indexing="ij"))
    base = np.repeat(np.exp(rng.normal(4, 0.7, n)), SETTINGS * repeats)
    speed = [1 + truth.better(x, int(s)) for x, s in zip(size, setting, strict=True)]
    value = base * speed * np.exp(rng.normal(0, NOISE, len(base)))
    return build_table({"size": size.tolist(), "set": [f"s{s}" for s in setting], "v": value.tolist()})


def number(name: str) -> int:
    return int(name[1:])


def true_gains(truth: Truth, made: Advice, n: int) -> tuple[float, float]:
    """(what the rules of this advice bring over its best default, what that brings over a setting at random)."""
    best = number(made.best_default)
    fixed = np.mean([truth.share(x, best) for x in sizes(n)])
    rules = np.mean(
        [
            truth.share(x, number(str(rule.setting[0]))) if (rule := made.find_rule_for({"size": x})) else fixed
            for x in sizes(n)
        ]
    )
    random = np.mean([truth.share(x, s) for x in sizes(n) for s in range(SETTINGS)])
    return float(rules - fixed), float(fixed - random)


def held(made: Estimate | None, truth: float) -> bool:
    return made is not None and made.low is not None and made.high is not None and made.low <= truth <= made.high


def row(truth: Truth, n: int, repeats: int, experiments: int) -> str:
    """One line: what was advised how often, what was promised, and how often the interval held the truth."""
    kinds, promised, true, low, inside = [], [], [], 0, 0
    for seed in range(experiments):
        rng = np.random.default_rng((seed, n, repeats))
        made = advise_settings(trials(truth, n, repeats, rng), "v", ["set"], ["size"])
        of_rules, of_default = true_gains(truth, made, n)
        gain, real = (made.gain.share, of_rules) if made.kind == RULES and made.gain else (made.over_random, of_default)
        kinds.append(made.kind)
        inside += held(gain, real)
        low += gain is not None and gain.high is not None and gain.high < real
        promised.append(gain.value if gain else math.nan)
        true.append(real)
    counts = [kinds.count(kind) * 100 // experiments for kind in (NOTHING, DEFAULT, RULES)]
    cells = [
        truth.name,
        n,
        repeats,
        *counts,
        f"{100 * np.mean(promised):+.1f}",
        f"{100 * np.mean(true):+.1f}",
        100 * inside // experiments,
        100 * low // experiments,
    ]
    return f"| {' | '.join(map(str, cells))} |"


def settles(experiments: int) -> list[str]:
    """Whether so many values or trials as ``needs`` asks for tell what is there, where it is what it looked like."""
    lines = []
    for size in (0.2, 0.5, 1.0):
        n = compute_sufficient_values(Estimate(size, size - 2.2 / math.sqrt(12), size + 2.2 / math.sqrt(12), 0.95, 12))
        sd = 2.2 / 2.200985  # the half width above is t(95 %, 11) · sd / √12
        rng = np.random.default_rng(n)
        told = [
            e.low is not None and e.low > 0
            for e in (estimate_grouped_mean(rng.normal(size, sd, n), 0.95) for _ in range(experiments))
        ]
        lines.append(f"| a gain of {size:g} standard deviations | {n} values | {100 * np.mean(told):.0f} |")
    for effect in (0.05, 0.1, 0.2):
        asked = trials_asked(effect)
        told = [differ(effect, asked, seed) for seed in range(experiments)]
        lines.append(f"| two settings that differ by {100 * effect:g} % | {asked} trials | {100 * np.mean(told):.0f} |")
    return lines


def pair(effect: float, repeats: int, seed: int) -> Table:
    """Two settings of one instance."""
    rng = np.random.default_rng(seed)
    value = np.exp(rng.normal(0, NOISE, 2 * repeats)) * np.repeat([1.0, 1 + effect], repeats)
    return build_table({"set": ["s0"] * repeats + ["s1"] * repeats, "v": value.tolist()})


def compare_pair(table: Table) -> Cases:
    made = build_instances(table, "v", ["set"], [], False)
    return compare_cases(made, find_best_settings(made), 0.95)


def differ(effect: float, repeats: int, seed: int) -> bool:
    """Whether two settings that differ are told apart."""
    return not bool(compare_pair(pair(effect, repeats, seed)).ties.all())


def trials_asked(effect: float) -> int:
    """What ``needs`` asks for where the difference and the noise (in two trials each) are just these."""
    spread = NOISE / math.sqrt(2)
    logs = [0 - spread, 0 + spread, math.log1p(effect) - spread, math.log1p(effect) + spread]
    many = build_table({"set": ["s0"] * 2 + ["s1"] * 2, "v": np.exp(logs).tolist()})
    cases = compare_pair(many)
    cell = compute_deciding_needs(cases.instances, {}, cases.ties, 0.95).cells[0]
    return cell.trials + (cell.more or 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--experiments", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="3 experiments of each kind")
    asked, _ = parser.parse_known_args()
    experiments = 3 if asked.quick else asked.experiments
    print(f"{SETTINGS} settings, {100 * NOISE:g} % noise, {experiments} experiments a row\n")
    print("| truth | instances | trials | nothing | default | rules | promised | true | held | low |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    cases = [(one_better(effect), *shape) for shape in SHAPES for effect in EFFECTS]
    cases += [(two_better(effect), 16, 3) for effect in (0.05, 0.1, 0.2)] + [(one_better(0.0), 24, 5)]
    for truth, n, repeats in cases:
        print(row(truth, n, repeats, experiments), flush=True)
    print("\n| what is there | asked for | told, % |\n|---|---|---|")
    print("\n".join(settles(10 * experiments)))


if __name__ == "__main__":
    main()
