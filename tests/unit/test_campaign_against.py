"""Pairs: what is planned and sealed, when measuring ends, what `compare` then says, on measurements made up here."""

import json
import math
import time
from dataclasses import replace

import numpy as np
import pytest

from iosonde.campaign import trials
from iosonde.campaign.campaign import build_campaign
from iosonde.campaign.request import Request
from iosonde.campaign.resume import Pairs, resume_or_begin
from iosonde.commands.compare.answer import Sides, compare
from iosonde.commands.compare.text import lines
from iosonde.commands.compare.text_against import build_grid
from iosonde.core import decision
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.pair_rule import build_pair_rule
from iosonde.core.problems import SpecError
from iosonde.core.types import Observation, Run
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.stats.estimate.compare import CANNOT_TELL, EQUAL, NEGLIGIBLE
from iosonde.stats.estimate.sequential import LEAST
from iosonde.store import Store
from messages import assert_problem, raises


def wanted(tmp_path, what="old", against="new", **more):
    given = {"store": str(tmp_path / "store"), "seed": 7, **more}
    return build_campaign(Request(what=what, against=against, **given))


class Bench:
    """A campaign whose trials take no time: ``seconds(side, rng)`` of each side, and which fail."""

    def __init__(self, tmp_path, ratio=1.0, cv=0.01, fails=lambda trial: False, **more):
        self.wanted = wanted(tmp_path, **more)
        self.path, self.ratio, self.cv, self.fails = tmp_path / "store", ratio, cv, fails
        self.rng, self.said = np.random.default_rng(1), []

    def rows(self, trial, level):
        """Slower for B where the ratio is above 1; a second metric goes the other way."""
        b = trial.factors["variant"] == self.wanted.spec.levels("variant")[1]
        value = level * math.exp(self.cv * self.rng.normal()) * (self.ratio if b else 1)
        return [
            Observation("step-01", "seconds", value, "s"),
            Observation("step-01", "seconds", value, "s", 0),
            Observation("write", "files", 100 / value, "files"),
        ]

    def measure(self, trial):
        missing = ["step-01: rank 0: the command ended with exit code 1"] if self.fails(trial) else []
        number = len(list((self.path / "runs").iterdir()))
        factors = {**trial.factors, "repetition": trial.repetition, "block": trial.block}
        rows = [] if missing else self.rows(trial, 1.0)
        return Run(
            f"{self.experiment.id}-{number:04d}",
            self.experiment.id,
            "iosonde commands",
            "2030-01-01T00:00:00Z",
            1.0,
            factors,
            rows,
            facts={"order": trial.index},
            missing=missing,
        )

    def run(self, stop_after=None, ends_at=None):
        """Up to so many trials, as if it were killed then; the same again goes on."""
        there = (self.path / "store.json").exists()
        store = Store.open(self.path) if there else None
        self.experiment, done = resume_or_begin(store, self.wanted, 0.95, self.said.append)
        store = store or Store.create(self.path)
        store.save_experiment(self.experiment)
        left = [math.inf if stop_after is None else stop_after]

        def measure(trial):
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            return self.measure(trial)

        looks = Pairs(build_pair_rule(self.experiment), self.experiment, store)
        rules = trials.Rules(looks=looks, ends_at=ends_at, ends_because=Message("budget-exhausted", "the budget"))
        try:
            return trials.measure_planned_trials(
                self.experiment, done, rules, measure, store.append, store.save_experiment, lambda *_: None
            )
        except KeyboardInterrupt:
            return None

    def answer(self, **asked):
        return compare(open_data(self.path), ResponseQuery(**asked), Sides())


def test_each_block_is_a_pair_in_random_order(tmp_path):
    made = wanted(tmp_path, nodes=(1, 2), repetitions=40)
    trials = replace(made, spec=replace(made.spec, against=None)).experiment().trials
    blocks = {}
    for trial in trials:
        blocks.setdefault(trial.block, []).append(trial)
    assert len(blocks) == 80
    for pair in blocks.values():
        assert {one.factors["variant"] for one in pair} == {"old", "new"}
        assert len({one.factors["nodes"] for one in pair}) == 1
        assert abs(pair[0].index - pair[1].index) == 1
    first = [pair[0].factors["variant"] for pair in blocks.values()]
    assert 20 < first.count("old") < 60


def test_rule_metric_and_margin_are_sealed_before_the_first_trial(tmp_path):
    bench = Bench(tmp_path, margin="3%", metric="seconds")
    bench.run(stop_after=0)
    sealed = Store.open(bench.path).experiments()[0].settings[decision.KEY]
    assert decision.explain_broken_seal(sealed, bench.experiment.id, None) == ""
    assert (sealed["metric"], sealed["margin"], sealed["level"]) == ("seconds", 0.03, 0.95)
    assert sealed["pairs"] == {
        "factor": "variant",
        "a": "old",
        "b": "new",
        "metric": "seconds",
        "margin": 0.03,
        "level": 0.95,
        "most": 100,
        "cells": 1,
    }
    sealed["pairs"]["margin"] = 0.5
    assert decision.explain_broken_seal(sealed, bench.experiment.id, None)


def test_a_clear_difference_ends_it_and_compare_says_it(tmp_path):
    bench = Bench(tmp_path, ratio=1.2)
    ended = bench.run()
    assert (ended.early, ended.measured) == ("", 12)
    made = bench.answer()
    assert made.items[0].verdict == "different"
    content = made.to_dict()
    one = content["comparisons"][0]
    assert (one["p"], one["pairs"]) == (None, 6)
    assert all(content[name] == one[name] for name in ("ratio", "verdict", "pairs", "p", "sentence"))
    ratio = made.items[0].ratio
    assert (ratio.low, ratio.high) == (pytest.approx(1.2, rel=0.05),) * 2 and ratio.level == 0.95
    (said,) = made.sentences
    assert all(number in said for number in ("20 %", "95 %", "6 pairs"))
    assert said.replace(" ", "") in "".join(lines(made)).replace(" ", "")


def test_sides_without_names_of_their_own_show_their_commands(tmp_path):
    tool = "tool --file=x --and-a-name-that-is-long"
    bench = Bench(tmp_path, ratio=1.2, what=f"{tool} -t 4k", against=f"{tool} -t 1m")
    bench.run()
    made = bench.answer()
    shown = list(lines(made))
    assert shown[:2] == [f"A: {tool} -t 4k", f"B: {tool} -t 1m"]
    assert made.to_dict()["commands"] == [
        {"side": "A", "command": f"{tool} -t 4k"},
        {"side": "B", "command": f"{tool} -t 1m"},
    ]


def test_commands_that_are_the_names_of_their_sides_stand_there_once(tmp_path):
    bench = Bench(tmp_path, ratio=1.2)
    bench.run()
    assert next(iter(lines(bench.answer()))).startswith("A: old, B: new; 95 % intervals")


def test_the_interval_is_the_one_of_the_rule_at_stopping(tmp_path):
    from iosonde.stats.estimate import sequential

    bench = Bench(tmp_path, ratio=1.03, cv=0.02)
    bench.run()
    one = bench.answer().items[0]
    expected = sequential.estimate_sequential_ratio(np.log(one.b) - np.log(one.a), 0.95, 100)
    assert one.ratio == expected
    assert one.verdict != CANNOT_TELL
    assert len(bench.experiment.trials) == 12
    assert one.n == len(Store.open(bench.path).experiments()[0].trials) / 2 > 6


def test_practically_equal_ends_it(tmp_path):
    bench = Bench(tmp_path, ratio=1.0, cv=0.02)
    ended = bench.run()
    assert 12 <= ended.measured < 60
    assert bench.answer().items[0].verdict == EQUAL


def test_a_small_difference_is_said_to_be_within_the_margin(tmp_path):
    bench = Bench(tmp_path, ratio=0.98, cv=0.001)
    bench.run()
    one, (said,) = bench.answer().items[0], bench.answer().sentences
    assert 0.98 - 0.01 < one.ratio.low < one.ratio.high < 1 and one.rule.margin == 0.05
    assert one.verdict == NEGLIGIBLE and "2.0 %" in said


def test_a_budget_that_is_spent_is_no_verdict(tmp_path):
    bench = Bench(tmp_path, cv=0.3, repetitions=8)
    ended = bench.run()
    assert ended.measured == 16
    one, (said,) = bench.answer().items[0], bench.answer().sentences
    assert one.verdict == CANNOT_TELL and one.n == one.rule.most == 8 < one.n_needed()
    assert f"{one.ratio.low:.2g}" in said and "8 pairs" in said
    bench.run()  # nothing is left: the same command is another comparison
    assert len(Store.open(bench.path).experiments()) == 2
    assert "2" in bench.answer().warnings[0].split()


LIMIT = ("slower>5%",)


def test_a_sealed_limit_is_told_before_it_ends(tmp_path):
    """Six pairs say that B is slower, and it ends only when they say whether by 5 %."""
    plain, limited = (
        Bench(tmp_path / name, ratio=1.09, cv=0.04, **more)
        for name, more in (("plain", {}), ("limited", {"fail_if": LIMIT}))
    )
    shorter, longer = plain.run().measured, limited.run().measured
    assert shorter < longer
    said = limited.answer()
    assert said.judged is not None and said.judged.failed == (("slower>5%", "step-01 time"),) and said.problem
    assert said.items[0].ratio.low > 1.05 and plain.answer().items[0].ratio.low < 1.05
    sealed = Store.open(limited.path).experiments()[0].settings[decision.KEY]
    assert sealed["pairs"]["fail_if"] == ["slower>5%"] and "slower>5%" in sealed["stopping"]


def test_a_limit_that_is_not_passed_ends_it_though_nothing_is_equal(tmp_path):
    bench = Bench(tmp_path, ratio=1.0, cv=0.03, fail_if=("slower>20%",), margin="1%")
    assert bench.run().measured == 12
    said = bench.answer()
    assert not said.problem and said.judged.untold == () and said.items[0].verdict == CANNOT_TELL
    assert said.items[0].to_json()["n_needed"] is None


def test_a_limit_that_pairs_cannot_tell_is_said_with_how_many_would(tmp_path):
    bench = Bench(tmp_path, ratio=1.06, cv=0.1, fail_if=LIMIT, repetitions=8)
    assert bench.run().measured == 16
    said = bench.answer()
    assert not said.problem and said.judged.untold
    one = said.items[0]
    (warning,) = said.warnings
    assert {"8", "'slower>5%'"} <= set(warning.split()) and f"about {one.n_needed()}" in warning
    spread = np.std(np.log(one.b / one.a), ddof=1)
    from iosonde.stats.estimate import sequential

    away = math.log(one.ratio.value) - math.log(1.05)
    assert one.n_needed() == math.ceil((sequential.compute_critical_t(8, 0.95, 8) * spread / away) ** 2)


def test_a_limit_of_a_number_that_cannot_be_so_is_not_told(tmp_path):
    bench = Bench(tmp_path, fail_if=LIMIT, metric="files")
    assert bench.run().measured == 12
    said = bench.answer()
    assert [condition for condition, _ in said.judged.untold] == ["slower>5%"] and not said.judged.failed
    assert said.items == () or said.items[0].name[1] == "files"
    assert not said.problem


def test_a_condition_that_is_none_is_refused_before_it_begins(tmp_path):
    with pytest.raises(SpecError) as refused:
        wanted(tmp_path, fail_if=("slow>5%",))
    (problem,) = refused.value.problems
    assert (problem.key, problem.values["condition"]) == ("against", "slow>5%")
    with raises("option-requires-option", option="fail_if"):
        wanted(tmp_path, against=None, fail_if=LIMIT)


def test_another_limit_is_another_comparison_and_none_is_as_it_was(tmp_path):
    one, other, plain = (wanted(tmp_path, fail_if=limit).identity() for limit in (LIMIT, ("slower>1%",), ()))
    assert one != other and "fail_if" not in plain["against"]
    assert wanted(tmp_path, fail_if=("slower>0.05",)).identity() == one


def test_an_early_end_says_that_pairs_are_too_few(tmp_path):
    bench = Bench(tmp_path, ratio=2.0)
    bench.run(stop_after=8)
    one, (said,) = bench.answer().items[0], bench.answer().sentences
    assert (one.n, one.verdict, LEAST) == (4, CANNOT_TELL, 6) and {"4", "6"} <= set(said.split())


def test_time_ends_it_between_trials(tmp_path):
    bench = Bench(tmp_path)
    ended = bench.run(ends_at=time.monotonic() - 1)
    assert ended.measured == 0
    assert_problem(ended.early, "budget-exhausted", n_ahead=12, n=12)
    assert bench.answer().items == () and bench.answer().sentences[0].split().count("0") == 2


@pytest.mark.parametrize("killed_after", [1, 7, 12, 13])
def test_the_same_command_goes_on_after_a_kill(tmp_path, killed_after):
    """The pairs that are measured are those of an undisturbed campaign, and so is the rule."""
    bench = Bench(tmp_path, cv=0.03)
    bench.run(stop_after=killed_after)
    sealed = Store.open(bench.path).experiments()[0].settings[decision.KEY]
    bench.run()
    (experiment,) = Store.open(bench.path).experiments()
    assert experiment.settings[decision.KEY] == sealed
    (said,) = bench.said
    assert_problem(said, "resuming", experiment=experiment.id, n_done=killed_after)
    assert len(list((bench.path / "runs").iterdir())) == len(experiment.trials)
    other = tmp_path / "other"
    other.mkdir()
    whole = Bench(other, cv=0.03)
    whole.run()
    assert [t.factors for t in whole.experiment.trials] == [t.factors for t in experiment.trials[:12]]
    assert whole.answer().items[0].n == bench.answer().items[0].n


def test_another_margin_metric_or_level_cannot_change_what_was_sealed(tmp_path):
    bench = Bench(tmp_path, cv=0.05)
    bench.run(stop_after=4)
    for more in ({"margin": "20%"}, {"metric": "write files"}, {"repetitions": 50}):
        assert not wanted(tmp_path, **more).is_of(bench.experiment)
    again, _ = resume_or_begin(Store.open(bench.path), bench.wanted, 0.5, bench.said.append)
    assert build_pair_rule(again).level == 0.95
    assert bench.answer(level=0.9).items[0].ratio.level == 0.95
    (warning,) = set(bench.answer(level=0.9).warnings) - set(bench.answer(level=0.95).warnings)
    assert "95 %" in warning


def test_a_changed_seal_and_a_condition_are_said(tmp_path):
    bench = Bench(tmp_path, ratio=1.2)
    bench.run()
    made = compare(open_data(bench.path, ["block<4"]), ResponseQuery(), Sides())
    assert made.warnings and made.items[0].n < bench.answer().items[0].n and bench.answer().warnings == ()
    path = next((bench.path / "experiments").iterdir())
    document = json.loads(path.read_text())
    document["settings"]["decision"]["pairs"]["margin"] = 0.5
    path.write_text(json.dumps(document))
    assert (
        decision.explain_broken_seal(document["settings"]["decision"], bench.experiment.id, None)
        in bench.answer().warnings[0]
    )


def test_a_side_that_always_fails_ends_it_and_counts_nowhere(tmp_path):
    bench = Bench(tmp_path, fails=lambda trial: trial.factors["variant"] == "new")
    ended = bench.run()
    assert ended.incomplete == 3
    assert ended.measured <= 6
    assert_problem(ended.early, "incomplete-in-a-row", n=3)
    made = bench.answer()
    assert made.items == ()
    assert [word for word in made.sentences[0].split() if word.isdigit()] == ["3", "0"]
    assert made.sentences[0] in " ".join(lines(made))


def test_a_trial_that_fails_by_chance_costs_its_pair(tmp_path):
    bench = Bench(tmp_path, ratio=1.2, fails=lambda trial: trial.block == 2 and trial.factors["variant"] == "old")
    ended = bench.run()
    assert (ended.measured, ended.incomplete, ended.early) == (14, 1, "")
    one = bench.answer().items[0]
    assert (one.n, one.alone) == (6, 1)
    assert "6 pairs; 1 run" in bench.answer().sentences[0]


def test_a_verdict_that_was_reached_is_not_reopened_by_its_incomplete_pair(tmp_path):
    bench = Bench(tmp_path, ratio=1.2, fails=lambda trial: trial.index == 3)
    bench.run()
    bench.run(stop_after=0)
    assert len(Store.open(bench.path).experiments()) == 2


@pytest.mark.parametrize("options", [{"metric": "bandwidth"}, {"metric": "seconds,p99", "fail_if": ("slower>5%",)}])
def test_a_metric_that_the_first_trial_lacks_is_refused(tmp_path, options):
    bench = Bench(tmp_path, **options)
    for _ in range(2):  # the second run resumes, and measures nothing
        with raises("unknown-metric", InputError, suggestions="step-01 seconds, write files"):
            bench.run()
        assert len(list((bench.path / "runs").iterdir())) == 1
    assert bench.answer().items == ()


def test_the_first_metric_that_exists_decides_without_a_gate(tmp_path):
    bench = Bench(tmp_path, ratio=1.2, metric="p99,seconds")
    bench.run()
    assert bench.answer().items[0].name[1] == "seconds"


def test_a_metric_may_be_named_in_the_words_of_a_summary(tmp_path):
    bench = Bench(tmp_path, ratio=1.2, metric="IOPS,p99", fail_if=("slower>5%",))
    bench.rows = lambda trial, level, rows=bench.rows: [
        *rows(trial, level),
        Observation("read", "rate", 1 / rows(trial, level)[0].value, "operations/s"),
        Observation("read", "completion_latency_p99", rows(trial, level)[0].value, "s"),
    ]
    bench.run()
    answer = bench.answer()
    assert answer.items[0].name[1] == "rate"
    gated, others = {"read IOPS", "read completion latency p99"}, {"step-01 time", "write files"}
    assert {name for _, name in answer.judged.failed} == gated
    assert {name for name, _ in answer.judged.not_gated} == others


@pytest.mark.parametrize(
    ("metric", "shown"),
    [("write", ["bandwidth_last_done"]), ("write,bandwidth_mean", ["bandwidth_last_done", "bandwidth_mean"])],
)
def test_an_operation_is_shown_by_its_headlines_and_others_by_their_own_name(tmp_path, metric, shown):
    bench = Bench(tmp_path, ratio=1.2, metric=metric)
    units = {
        "bandwidth_last_done": "bytes/s",
        "open_time": "s",
        "bandwidth_max": "bytes/s",
        "bandwidth_mean": "bytes/s",
    }
    bench.rows = lambda trial, level, rows=bench.rows: [
        Observation("write", name, 1e8 / rows(trial, level)[0].value, unit) for name, unit in units.items()
    ]
    bench.measure = lambda trial, measure=bench.measure: replace(measure(trial), headlines={"write": ["bandwidth"]})
    bench.run()
    answer = bench.answer()
    assert [item.name[1] for item in answer.items] == shown
    labels = [row[1] for row in build_grid(answer)[1]]
    assert len(set(labels)) == len(labels)


def test_other_numbers_share_alpha_and_do_not_decide(tmp_path):
    bench = Bench(tmp_path, ratio=1.2)
    bench.rows = lambda trial, level, rows=bench.rows: [
        *rows(trial, level),
        Observation("read", "files", 1 + 0.1 * bench.rng.random(), "files"),
    ]
    bench.run()
    primary, *others = bench.answer().items
    assert primary.primary and primary.ratio.level == 0.95
    assert [one.primary for one in others] == [False, False]
    assert {one.ratio.level for one in others} == {0.975}
    assert [one.name[0] for one in bench.answer(response=("read",)).items] == ["read"]
    with raises("unknown-response", response="nothing"):
        bench.answer(response=("nothing",))


def test_cells_share_alpha_and_all_of_them_have_to_tell(tmp_path):
    bench = Bench(tmp_path, ratio=1.2, nodes=(1, 2))
    bench.run()
    made = bench.answer()
    assert [one.cell for one in made.primary] == [{"nodes": 1}, {"nodes": 2}]
    assert {one.ratio.level for one in made.primary} == {0.975}
    assert [one.verdict for one in made.primary] == ["different"] * 2 and "nodes=2" in made.sentences[1]


# What is asked


def steps(made):
    return [(step.command, step.when) for step in made.spec.steps]


def test_short_commands_are_their_own_names_others_are_a_and_b(tmp_path):
    assert wanted(tmp_path).spec.levels("variant") == ("old", "new")
    assert wanted(tmp_path, what="x" * 40).spec.levels("variant") == ("A", "B")
    assert wanted(tmp_path, what="a ${REPETITION}", against="b").spec.levels("variant") == ("A", "B")
    assert wanted(tmp_path, what="true", against="true").spec.levels("variant") == ("A", "B")
    made = wanted(tmp_path, what="true", against="true", a_name="before")
    assert steps(made) == [("true", {"variant": "before"}), ("true", {"variant": "B"})]


def test_a_file_may_set_each_side_up_by_itself(tmp_path):
    path = tmp_path / "one.yaml"
    path.write_text(
        "set_up: [{command: 'mount old', when: {variant: A}}, {command: 'mount new', when: {variant: B}}]\n"
        "steps: ['echo ${variant}']\nagainst: {command: 'echo ${variant}', a_name: A, b_name: B, margin: 0.02}\n"
    )
    made = build_campaign(Request(what=str(path)))
    assert [step.when for step in made.spec.set_up] == [{"variant": "A"}, {"variant": "B"}]
    assert made.spec.against.margin == 0.02
    again = build_campaign(Request(what=str(path), margin="4%"))
    assert again.spec.against.margin == 0.04


def test_a_factor_of_two_levels_may_be_compared(tmp_path):
    path = tmp_path / "one.yaml"
    path.write_text("factors: {size: [4KiB, 1MiB]}\nsteps: ['dd bs=${size}']\nagainst: {factor: size}\n")
    made = build_campaign(Request(what=str(path)))
    rule = made.pair_rule(0.95)
    assert (rule.factor, rule.a, rule.b) == ("size", "4096", "1048576")
    assert made.experiment().settings == made.identity() | {"file": made.file}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("steps: [a, b]\nagainst: c", {"code": "not-one-command", "n_commands": 2}),
        ("steps: [a]\nagainst: {factor: x}", {"code": "unknown-factor", "factor": "x"}),
        (
            "factors: {x: [1, 2, 3]}\nsteps: ['${x}']\nagainst: {factor: x}",
            {"code": "not-two-levels", "factor": "x", "n_levels": 3},
        ),
        ("steps: [a]\nagainst: {margin: 5%}", {"code": "missing-comparison"}),
        ("steps: [a]\nagainst: {command: b, margin: wide}", {"key": "against.margin"}),
        (
            "steps: [a]\nagainst: {command: b, a_name: 4KiB, b_name: 8KiB}",
            {"code": "ambiguous-side", "a": "4KiB", "b": "8KiB"},
        ),
        ("steps: [a]\nagainst: {command: b, a_name: x, b_name: x}", {"code": "duplicate-side", "side": "x"}),
        (
            "factors: {variant: [1, 2]}\nsteps: ['${variant}']\nagainst: b",
            {"code": "duplicate-factor", "factor": "variant"},
        ),
        ("steps: [a]\nagainst: b\nuntil: ci<5%", {"code": "conflicting-keys", "key": "against"}),
        ("steps: [a]\nagainst: b\nrepetitions: 5", {"code": "too-few-pairs", "pairs": 5}),
        ("steps: [a]\nagainst: b\ndesign: {kind: latin, runs: 4}", {"code": "conflicting-keys", "key": "against"}),
        (
            "factors: {x: [1, 2]}\nsteps: [{command: a, when: {x: 3}}]",
            {"code": "unknown-level", "level": 3, "key": "steps[0].when.x"},
        ),
        (
            "steps: [{command: a, when: {x: 3}}]",
            {"code": "unknown-factor", "factor": "x", "key": "steps[0].when.x"},
        ),
    ],
)
def test_what_makes_no_pairs_is_refused(tmp_path, text, what):
    path = tmp_path / "one.yaml"
    path.write_text(text)
    with pytest.raises(SpecError) as refused:
        build_campaign(Request(what=str(path)))
    (problem,) = refused.value.problems
    assert_problem(problem, what.pop("code", problem.code), **what)


def test_options_of_pairs_without_pairs_are_refused():
    with raises("option-requires-option", option="metric"):
        build_campaign(Request(what="true", metric="write"))


@pytest.mark.parametrize(
    ("option", "value"), [("margin", 0.5), ("pair", ("block",)), ("adjust", ("nodes",)), ("base_only", True)]
)
def test_an_option_that_the_sealed_rule_leaves_no_effect_is_refused(tmp_path, option, value):
    bench = Bench(tmp_path, ratio=1.2)
    bench.run()
    with raises("sealed-rule", option=f"--{option.replace('_', '-')}"):
        compare(open_data(bench.path), ResponseQuery(), Sides(**{option: value}))
