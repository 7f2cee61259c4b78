"""The sentence of best, worst and what matters: its shares against analysis of variance, its p values by simulation."""

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import f as f_dist

from iosonde.core.stored import StoredRun
from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.stats.assumptions import holds
from iosonde.stats.overview import story
from iosonde.stats.overview.cells import TrialCell
from iosonde.stats.overview.overview import build_overview_row
from iosonde.stats.overview.probed_limits import ProbedLimits
from iosonde.stats.overview.story import Background, build_stories, describe_stories, estimate_cell_effects
from iosonde.stats.overview.types import judge_stories
from iosonde.stats.regression.anova import compute_anova
from iosonde.stats.regression.effect_types import (
    HARDLY_MATTERS,
    FactorEffect,
    correct_effects,
    describe_minor_effects,
    list_effect_claims,
)
from messages import assert_problem, codes

NOT_TESTED, NOT_SEPARABLE = "not tested", "not separable"


def tell(found: list[TrialCell], **background: Any):
    rows = [build_overview_row(cell, 0.95) for cell in found]
    return build_stories(rows, found, 0.95, Background(besides=holds("varies-besides"), **background))


def cells(rng, effect=(0.0, 0.0), repeats=4, noise=0.05) -> list[TrialCell]:
    return [
        TrialCell(
            {"t": t, "n": n},
            "bandwidth_last_done",
            "bytes/s",
            np.exp(20 + effect[0] * place + effect[1] * n + noise * rng.normal(size=repeats)),
            "write",
        )
        for place, t in enumerate(("4k", "64k", "1m"))
        for n in (1, 2)
    ]


def told(found: list[TrialCell], beside: list[TrialCell] | None = None):
    return tell(found, headline_cells=beside or [])


def said(found: list[TrialCell]) -> str:
    return " ".join(describe_stories(told(found), {}))


def judged(found: list[TrialCell]):
    return correct_effects([estimate_cell_effects(found, 0.95)])[0]


def states(found: list[TrialCell]) -> dict[tuple[str, ...], str]:
    return {
        verdict.subject: str(verdict.state)
        for verdict in judge_stories(told(found), {})
        if verdict.question == "effect"
    }


def table_of_cells(found: list[TrialCell]):
    columns = {name: [str(cell.by[name]) for cell in found for _ in cell.values] for name in found[0].by}
    return build_table({**columns, "y": np.concatenate([cell.values for cell in found]).tolist()})


def test_shares_are_those_of_the_analysis_of_variance():
    found = cells(np.random.default_rng(1), (0.3, 0.1))
    sources = {one.name: one for one in compute_anova(table_of_cells(found), "y", ["t", "n", "t:n"], 0.95).sources}
    for one in judged(found).effects:
        assert one.explained.value == pytest.approx(sources[one.name].share)


@pytest.mark.long
def test_the_interval_of_a_share_covers_it():
    """n explains 4 % of the variation of these means and this noise."""
    effects = np.array([[10 + t + 0.5 * n for n in (0, 1)] for t in (0, 1, 2)])
    true = np.var(effects.mean(axis=0)) / (np.var(effects) + 0.6**2)
    rng, hits = np.random.default_rng(8), 0
    for _ in range(300):
        found = [
            TrialCell({"t": t, "n": n}, "y", "", rng.normal(effects[t, n], 0.6, 4)) for t in range(3) for n in (0, 1)
        ]
        share = {one.name: one.explained for one in judged(found).effects}["n"]
        hits += share.low <= true <= share.high
    assert hits >= 0.92 * 300


def of_one_factor(rng, spread: float, repeats: int = 3) -> list[TrialCell]:
    return [
        TrialCell({"t": t}, "bandwidth_last_done", "bytes/s", rng.normal(10 + t, spread, repeats), "write")
        for t in (0, 1, 2)
    ]


def test_three_trials_of_three_settings_are_covered_too():
    """Exactly, as the share of one factor depends on the noncentrality alone."""
    rng, spread, missed = np.random.default_rng(12), 1.2, [0, 0]
    true = np.var([0, 1, 2]) / (np.var([0, 1, 2]) + spread**2)
    for _ in range(600):
        (one,) = judged(of_one_factor(rng, spread)).effects
        missed[0] += one.explained.low > true
        missed[1] += one.explained.high < true
    assert max(missed) <= 0.025 * 600 + 3 * np.sqrt(600 * 0.025 * 0.975)


def test_an_interval_of_a_share_holds_0_where_the_test_says_so_and_only_there():
    """`transfer_size matters: 76 % (0–87 %)` was said of a p of 0.014."""
    rng = np.random.default_rng(13)
    found = [
        one for effect in (0.02, 0.05, 0.1) for _ in range(40) for one in judged(cells(rng, (effect, 0.03))).effects
    ]
    found += [judged(of_one_factor(rng, 0.9)).effects[0] for _ in range(60)]
    assert {one.explained.low > 0 for one in found} == {True, False}
    assert all((one.explained.low > 0) == (one.p < 0.05) for one in found)


def test_what_matters_has_a_share_above_0():
    for seed in range(60):
        text = said(of_one_factor(np.random.default_rng(seed), 0.9))
        assert "(0–" not in text and "(0.0–" not in text


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(0.1, 0.004, 0.23, 0.95, 9), "10 % (0.4–23 %)"),
        (Estimate(0.1, 0.0, 0.23, 0.95, 9), "10 % (0–23 %)"),
        (Estimate(0.025, 0.019, 0.033, 0.95, 9), "2.5 % (1.9–3.3 %)"),
    ],
)
def test_an_end_that_is_not_0_does_not_read_as_0(estimate, text):
    assert FactorEffect(("t",), estimate, 0.01).text == text


def test_what_matters_most_is_named_with_the_best_and_the_worst():
    (one,) = told(cells(np.random.default_rng(2), (0.5, 0.1)))
    assert (one.operation, one.best.by, one.worst.by) == ("write", {"t": "1m", "n": 2}, {"t": "4k", "n": 1})
    (sentence,) = describe_stories([one], {})
    assert_problem(sentence, "significant", factors=["t"], matters_most=True, untested=[])
    assert "t=1m, n=2" in sentence and "t=4k, n=1" in sentence
    t, n = one.effects.significant
    assert (t.factors, n.factors) == (("t",), ("n",))
    assert re.fullmatch(r"9\d % \(9\d–9\d %\)", t.text) and re.fullmatch(r"2\.\d % \(\d\.\d–\d\.\d %\)", n.text)
    assert sentence.index(t.text) < sentence.index(n.text)


def test_two_factors_that_act_together_alone_matter_and_one_depends_on_the_other():
    rng = np.random.default_rng(3)
    found = [TrialCell({"a": a, "b": b}, "y", "", rng.normal(10 + 5 * (a == b), 0.3, 5)) for a, b in np.ndindex(2, 2)]
    (effect,) = judged(found).significant
    assert effect.is_joint and effect.factors == ("a", "b")
    assert_problem(describe_stories(told(found), {})[0], "significant", factors=["a+b"], matters_most=False)
    found = [
        TrialCell({"a": a, "b": b, "c": c}, "y", "", rng.normal(10 + 5 * (a ^ b ^ c), 0.3, 5))
        for a, b, c in np.ndindex(2, 2, 2)
    ]
    (effect,) = judged(found).significant
    assert effect.is_joint and effect.factors == ("a", "b", "c")


def test_of_two_factors_that_matter_alike_none_is_said_to_matter_most():
    rng = np.random.default_rng(9)
    found = [
        TrialCell({"a": a, "b": b, "c": c}, "y", "", rng.normal(10 + a + b + 0.4 * c, 0.3, 6))
        for a, b, c in np.ndindex(2, 2, 2)
    ]
    (sentence,) = describe_stories(told(found), {})
    assert set(sentence.values["factors"]) == {"a", "b"} and sentence.values["matters_most"]
    assert [effect.name for effect in judged(found).significant][-1] == "c"


def test_less_is_better_of_a_time():
    found = [TrialCell({"x": x}, "seconds", "s", np.array([x, x * 1.01, x * 0.99]), "step-01") for x in (1.0, 2.0)]
    assert "best 1.00" in said(found) and "at x=1.0, worst" in said(found)


@pytest.mark.long
def test_noise_is_called_so_as_often_as_the_level_says():
    rng = np.random.default_rng(3)
    false = sum(codes(describe_stories(told(cells(rng)), {})) == ["significant"] for _ in range(400))
    assert false <= 0.05 * 400 + 3 * np.sqrt(400 * 0.05 * 0.95)
    (sentence,) = describe_stories(told(cells(np.random.default_rng(4))), {})
    assert_problem(sentence, "not-significant", responses="write bandwidth", factors="t or n")


def test_one_trial_a_setting_tells_against_what_the_model_leaves_over():
    found = cells(np.random.default_rng(5), (1.0, 0.0), repeats=1, noise=0.01)
    assert [one.name for one in judged(found).effects if one.p < 0.01] == ["t"]


def test_one_trial_a_setting_that_leaves_nothing_over_is_not_tested():
    """`no effect can be told from chance` was said where nothing was tested."""
    found = cells(np.random.default_rng(5), (1.0, 0.0), repeats=1)[:2]
    assert judged(found).untested and set(states(found).values()) == {NOT_TESTED}
    (one,) = told(found)
    assert [str(verdict.state) for verdict in judge_stories([one], {}) if verdict.question == "best"] == [NOT_TESTED]
    assert codes(describe_stories([one], {})) == ["not-tested"]


def factors_that_go_together(b: dict[tuple[int, int], str], effect: float = 1.0, repeats: int = 5) -> list[TrialCell]:
    """b by (a, c); the value rises with a, and hardly with c."""
    rng = np.random.default_rng(6)
    return [
        TrialCell({"a": a, "b": level, "c": c}, "y", "", rng.normal(10 + effect * a + 0.2 * c, 0.1, repeats))
        for (a, c), level in b.items()
    ]


def test_factors_that_change_together_are_tested_together():
    """`no effect of a or b can be told from chance` was said of a t test with p = 1e-16."""
    found = factors_that_go_together({(a, c): f"b{a}" for a in (1, 2, 3) for c in (0, 1)})
    block, c = judged(found).effects
    assert block.factors == ("a", "b") and block.is_significant and block.own == ()
    assert block.share > 0.9 > c.share and c.is_significant
    assert states(found) == {("a", "b"): "different", ("a",): NOT_SEPARABLE, ("b",): NOT_SEPARABLE, ("c",): "different"}
    alone = [TrialCell({"a": cell.by["a"]}, "y", "", cell.values) for cell in found if cell.by["c"] == 0]
    of_two = [TrialCell({**cell.by, "b": -cell.by["a"]}, "y", "", cell.values) for cell in alone]
    assert judged(of_two).effects[0].p == pytest.approx(judged(alone).effects[0].p, rel=1e-6)


def test_a_factor_inside_another_is_tested_with_it_and_beyond_it():
    """`replicas matters: 11 %` was said beside a file system of which it is a part: 99 % together."""
    found = factors_that_go_together({(1, 0): "u", (2, 0): "v", (3, 0): "w"})
    nested = [
        TrialCell({"fs": "ufs" if cell.by["a"] == 1 else "ficus", "replicas": cell.by["b"]}, "y", "", cell.values)
        for cell in found
    ]
    (block,) = judged(nested).effects
    assert block.factors == ("fs", "replicas") and block.share > 0.9
    fs, replicas = block.own  # fs, which is constant within replicas, has a share but no test
    assert (fs.factors, fs.p, replicas.factors) == (("fs",), None, ("replicas",)) and replicas.share < 0.5
    assert states(nested) == {
        ("fs", "replicas"): "different",
        ("fs",): NOT_SEPARABLE,
        ("replicas",): "different",
    }


def test_factors_that_nearly_always_change_together_are_one_block_too():
    """One of 20 settings is told apart: not enough to credit one of the two alone."""
    b = {(a, c): f"b{a}" for a in (1, 2) for c in range(10)} | {(1, 0): "b2"}
    (block, _) = judged(factors_that_go_together(b, repeats=4)).effects
    assert block.factors == ("a", "b") and block.is_significant


def test_a_product_goes_together_with_its_factors():
    found = [
        TrialCell({"nodes": n, "per_node": k, "ranks": n * k}, "y", "", np.array([n, n + 0.01]) + k)
        for n in (1, 2)
        for k in (1, 2)
    ]
    assert [effect.factors for effect in judged(found).effects] == [("nodes", "per_node", "ranks")]


def test_a_verdict_does_not_depend_on_what_is_shown():
    """Headline metrics are one family of tests, whichever of them are in the table."""
    rng = np.random.default_rng(21)
    several = [
        TrialCell(one.by, one.metric, one.unit, one.values, f"op{k}")
        for k in range(6)
        for one in cells(rng, (0.02, 0.0))
    ]
    every = {one.operation: [effect.adjusted for effect in one.effects.effects] for one in told(several)}
    for name, adjusted in every.items():
        shown = [cell for cell in several if cell.operation == name]
        (one,) = told(shown, several)
        assert [effect.adjusted for effect in one.effects.effects] == adjusted
        assert one.effects.effects[0].family == 12


def test_nothing_is_said_where_only_the_nodes_vary():
    found = [TrialCell({"nodes": n}, "rate", "operations/s", np.array([1.0, 2.0]) * n, "x") for n in (1, 2)]
    assert said(found) == ""


def test_many_responses_are_cut():
    rng = np.random.default_rng(7)
    several = [
        TrialCell(one.by, one.metric, one.unit, one.values, f"op{k}")
        for k in range(5)
        for one in cells(rng, (0.5, 0.0))
    ]
    assert_problem(describe_stories(told(several), {})[3], "more-responses", n=2)


def test_further_metrics_do_not_change_the_verdict_of_a_headline():
    """Sixty metrics of noise are shown besides a headline whose effect is significant alone."""
    rng = np.random.default_rng(3)
    headline, *further = [
        TrialCell({"n": n}, f"m{k}", "", 10 * (1 + 0.1 * (n - 1) * (k == 0)) + 0.35 * rng.normal(size=6), f"op{k}")
        for k in range(60)
        for n in (1, 2)
    ]
    headlines = [headline, further.pop(0)]
    (alone,) = told(headlines)
    first, *others = told([*headlines, *further], headlines)
    assert alone.is_significant and first.effects == alone.effects
    assert {story.effects.effects[0].family for story in others} == {60}
    assert (first.is_headline, others[0].is_headline) == (True, False)
    (in_family, *_) = told([*headlines, *further])
    assert in_family.effects.effects[0].is_decided_by_family and not in_family.is_significant
    assert_problem(
        next(text for text in describe_stories([in_family], {}) if text.code == "decided-by-family"),
        "decided-by-family",
        family=60,
        name="op0 m0",
    )


def test_what_matters_on_logarithms_is_corrected_in_the_same_family():
    """What logarithms decide is what they find in the place of the response in the family."""
    rng = np.random.default_rng(5)
    means = {(a, b): 10.0 * 4**a * 1.6**b for a in (0, 1, 2) for b in (0, 1)}

    def build(metric, on_logarithms=False, effect=True):
        values = {key: np.log(mean if effect else 10.0) + 0.5 * rng.normal(size=4) for key, mean in means.items()}
        return [
            TrialCell({"a": a, "b": b}, metric, "s", own if on_logarithms else np.exp(own), metric)
            for (a, b), own in values.items()
        ]

    cells = build("y")
    noise = [cell for k in range(8) for cell in build(f"noise{k}", effect=False)]
    (alone,), (among, *_) = told(cells), told([*cells, *noise])
    logarithms = [replace(cell, values=np.log(cell.values), log_base=np.e) for cell in cells]
    for tested, others in ((alone, []), (among, noise)):
        found = {effect.name for effect in told([*logarithms, *others])[0].effects.significant}
        assert {effect.name for effect in tested.effects.significant} == found
    names = [{effect.name for effect in tested.effects.significant} for tested in (alone, among)]
    assert names[0] > names[1]


def in_labs(repetitions: int) -> list[TrialCell]:
    """net, set once for both trials of a lab, explains nearly all; n a little."""
    rng = np.random.default_rng(5)
    return [
        TrialCell(
            {"net": net, "n": n},
            "bandwidth_last_done",
            "bytes/s",
            np.array([100 + 90 * net + 10 * n + rng.normal() for _ in range(repetitions)]),
            "write",
            bring_ups=np.array([[2 * i + net] for i in range(repetitions)]),
        )
        for net in (0, 1)
        for n in (1, 2, 3, 4)
    ]


def test_a_factor_that_nothing_is_held_against_leaves_no_other_to_matter_most():
    """`nodes matters most: 12 %` was said where the network, of one lab a level, explained three times as much."""
    (sentence,) = describe_stories(told(in_labs(1)), {})
    assert_problem(sentence, "significant", matters_most=False, untested=["net"])
    assert "net (9" in sentence
    (sentence,) = describe_stories(told(in_labs(6)), {})
    assert_problem(sentence, "significant", factors=["net"], matters_most=True, untested=[])


def in_bring_ups(values: dict[tuple[str, int], list[tuple[tuple[int, ...], float]]]) -> list[TrialCell]:
    """Cells of a file system and a number of nodes, whose trials are (its bring-ups, value)."""
    return [
        TrialCell(
            {"fs": fs, "nodes": nodes},
            "network_sent",
            "bytes",
            np.array([y for _, y in trials]),
            "write",
            bring_ups=np.array([units for units, _ in trials]),
        )
        for (fs, nodes), trials in values.items()
    ]


def test_what_bring_ups_that_are_all_alike_leave_is_told_from_their_trials():
    """Bytes that are counted are often the same in every repetition: no error is left between bring-ups."""
    found = in_bring_ups(
        {
            ("a", 1): [((0,), 824.0), ((1,), 824.0)],
            ("a", 2): [((0,), 1647.0), ((1,), 1647.0)],
            ("b", 1): [((2,), 842.0), ((3,), 842.0)],
            ("b", 2): [((2,), 1666.0), ((3,), 1666.0)],
        }
    )
    shares = {one.name: one for one in judged(found).effects}
    assert shares["nodes"].p == pytest.approx(f_dist.sf(1356304.5 / (0.5 / 3), 1, 3), rel=1e-3)


def test_a_factor_that_only_bring_ups_tell_of_which_none_is_left_over_has_no_test():
    found = in_bring_ups(
        {
            ("a", 2): [((0, 0), 19.9)],
            ("a", 4): [((0, 0), 353.0), ((1, 1), -881.0)],
            ("b", 1): [((2, 2), -154.0), ((3, 4), -283.0)],
            ("b", 2): [((3, 3), 17.1)],
            ("b", 4): [((3, 3), -331.0)],
        }
    )
    assert {one.name for one in judged(found).effects if one.p is None} == {"fs"}


@pytest.mark.parametrize("shared", [False, True])
def test_counts_that_are_exact_in_every_trial_are_told(shared):
    """Calls of an opening: two copies 2.01, three 3, in each of four trials."""
    found = [
        TrialCell(
            {"replica": copies},
            "server_calls_per_operation",
            "",
            np.full(4, calls),
            "open",
            bring_ups=np.repeat(np.arange(2 * place, 2 * place + 2), 2)[:, None] if shared else None,
        )
        for place, (copies, calls) in enumerate({2: 2.01, 3: 3.0}.items())
    ]
    (one,) = judged(found).effects
    assert one.text == ("100 %" if shared else "100 % (100–100 %)")
    assert one.p < 1e-4
    assert_problem(describe_stories(told(found), {})[0], "significant", factors=["replica"])


def test_two_pairs_that_are_alike_may_be_so_by_chance():
    found = [
        TrialCell({"replica": copies}, "y", "", np.full(2, calls), "open") for copies, calls in ((2, 2.0), (3, 3.0))
    ]
    assert judged(found).effects == () and judged(found).untested


def test_a_value_that_the_hardware_cannot_do_is_never_the_best():
    """162 MiB/s of a file system behind a link of a fifteenth of that was called best."""
    lab = {"description": {"file_system": "openafs"}, "emulated": {"links": [{"bytes_per_s": 12e6}]}}
    facts = {"hosts": ["client1"], "machine": {"lab": lab}}
    runs = [StoredRun({"id": f"{fs}{n}", "facts": facts}) for fs in ("cached", "fast", "slow") for n in range(3)]
    found = [
        TrialCell(
            {"fs": fs},
            "bandwidth_last_done",
            "bytes/s",
            rate * np.array([1, 1.01, 0.99]),
            "read",
            places=[f"run {fs}{n}" for n in range(3)],
        )
        for fs, rate in (("cached", 162e6), ("fast", 11e6), ("slow", 5e6))
    ]
    impossible = ProbedLimits((), 0.95).impossible(found, runs)
    assert impossible == found[:1]
    (one,) = tell(found, impossible=impossible)
    (best,) = [verdict for verdict in judge_stories([one], {}) if verdict.question == "best"]
    assert (best.claim, str(best.state), best.doubts) == ("fs=fast", "different", ())
    (text,) = describe_stories([one], {})
    assert "best 10.5" in text and "S127" in text
    (only,) = tell(found, impossible=found)
    assert judge_stories([only], {})[-1].doubts == ("impossible",)


def test_factors_that_act_only_together_are_not_called_without_effect():
    rng = np.random.default_rng(5)
    found = [TrialCell({"a": a, "b": b}, "y", "", rng.normal(10 + (a != b), 0.1, 5)) for a in (0, 1) for b in (0, 1)]
    assert states(found) == {("a",): "inconclusive", ("b",): "inconclusive", ("a", "b"): "different"}
    assert [effect.factors for effect in judged(found).significant if effect.is_joint] == [("a", "b")]


@pytest.mark.long
def test_a_family_of_noise_is_called_an_effect_in_5_percent_of_tables_also_with_factors_that_go_together():
    rng, alarms = np.random.default_rng(31), 0
    for _ in range(400):
        noise = [
            TrialCell({**one.by, "u": one.by["t"]}, one.metric, one.unit, rng.normal(size=4), f"op{k}")
            for k in range(3)
            for one in cells(rng)
        ]
        alarms += any(one.is_significant for one in told(noise))
    assert alarms <= 0.05 * 400 + 3 * np.sqrt(400 * 0.05 * 0.95)


def build_story(title: str, factors: str = "ab", untested: str = "", repeated: bool = True) -> Any:
    effects = SimpleNamespace(untested=untested, repeated=repeated, factors=tuple(factors))
    return SimpleNamespace(title=title, effects=effects, best=SimpleNamespace(by=dict.fromkeys(factors)))


def test_responses_without_an_effect_are_joined_by_the_error_of_their_test():
    stories = [
        *(build_story(title) for title in "uvwx"),
        build_story("y", repeated=False),
        *(build_story(title, "abcde", "why") for title in "pq"),
        build_story("r", "abcd", "other"),
    ]
    assert [(text.code, dict(text.values)) for text in map(cast_message, story._describe_unsure(stories))] == [
        ("not-significant", {"responses": "u, v, w and 1 more", "factors": "a or b"}),
        ("not-significant", {"responses": "y", "factors": "a or b"}),
        ("not-tested", {"responses": "p and q", "factors": "any of 5 factors", "reason": "why"}),
        ("not-tested", {"responses": "r", "factors": "a or b or c or d", "reason": "other"}),
    ]
    three = [build_story(title, "a", "why") for title in "pqrst"]
    assert cast_message(next(story._describe_unsure(three))).values["responses"] == "p, q, r and 2 more"
    assert cast_message(next(story._describe_unsure(three[:3]))).values["responses"] == "p, q and r"


def cast_message(text: str) -> Any:
    return cast(Any, text)


def test_untested_factors_are_named_from_five_percent_on_the_largest_first():
    def build_effects(*shares: float) -> list[FactorEffect]:
        names = "abcdef"
        return [
            FactorEffect((name,), Estimate(share, None, None, 0.95, 9), None)
            for name, share in zip(names, shares, strict=False)
        ]

    first_words = [
        story._describe_untested(build_effects(*shares)).split(" cannot ")[0]
        for shares in ((0.05, 0.3, 0.049), (0.01, 0.04), (0.1, 0.2, 0.3, 0.4, 0.5), (0.01,) * 5)
    ]
    expected = ["b (30 %) and a (5 %)", "b or a", "e (50 %), d (40 %), c (30 %) and b (20 %)", "any of 5 factors"]
    assert [re.sub(r"\.0(?= %)", "", words) for words in first_words] == expected


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def test_a_small_share_hardly_matters_and_shared_variation_is_said(rng):
    found = [
        TrialCell({"big": big, "small": small}, "y", "", 100.0 * big + rng.normal(size=5))
        for big in (1, 2, 4)
        for small in "ab"
    ]
    (effects,) = correct_effects([estimate_cell_effects(found, 0.95)])
    assert [effect.name for effect in effects.minor] == ["small"] and effects.shared < 1e-9
    (claim,) = [claim for claim, _ in list_effect_claims("y", effects) if claim.subject == ("small",)]
    assert (claim.state, claim.claim) == ("inconclusive", HARDLY_MATTERS) or claim.state == "equal"
    skewed = [cell for cell in found if cell.by != {"big": 4, "small": "a"} and cell.by != {"big": 1, "small": "b"}]
    doubled = [
        TrialCell({**cell.by, "small": cell.by["small"]}, "y", "", cell.values + 80.0 * (cell.by["small"] == "b"))
        for cell in skewed
    ]
    (effects,) = correct_effects([estimate_cell_effects(doubled, 0.95)])
    total = sum(effect.share for effect in effects.effects) + effects.shared
    assert effects.shared > 0.05 and total == pytest.approx(1.0, abs=0.01)
    assert any("shared" in text for text in describe_minor_effects(effects))


def test_a_factor_that_interacts_matters_even_without_a_share_of_its_own(rng):
    found = [
        TrialCell({"fs": fs, "n": n}, "y", "", 1000.0 * n + 100.0 * sign * turn + rng.normal(size=5))
        for fs, sign in (("a", 1), ("b", -1))
        for n, turn in ((1, 1), (2, -1))
    ]
    (effects,) = correct_effects([estimate_cell_effects(found, 0.95)])
    assert effects.minor == []


def test_the_best_levels_are_those_of_factors_that_matter(rng):
    found = cells(rng, effect=(0.5, 0.0))
    (one,) = told(found)
    assert set(one.best.by) == set(one.worst.by) == {"t"} and one.best.n == 8


def test_trials_that_lack_what_most_have_are_not_compared(rng):
    found = [
        *cells(rng, effect=(0.5, 0.0)),
        TrialCell({"t": None, "n": None}, "bandwidth_last_done", "bytes/s", rng.normal(size=4), "write"),
    ]
    complete = story.select_complete_cells(found)
    assert len(complete) == 6 and all(None not in cell.by.values() for cell in complete)
    rare = [replace(cell, by={**cell.by, "rare": place or None}) for place, cell in enumerate(found[:2])]
    lacking = [replace(cell, by={**cell.by, "rare": None}) for cell in found[2:6]]
    assert all(set(cell.by) == {"t", "n"} for cell in story.select_complete_cells([*rare, *lacking]))
