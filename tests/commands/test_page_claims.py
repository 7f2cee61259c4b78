"""Published numbers of a question: read from the document, judged by its answer, shown on the page."""

from __future__ import annotations

import pytest
from scipy import stats

import iosonde
from iosonde.agreement.claims import judge_claim, resolve_claim, select_numbers
from iosonde.agreement.judge import PublishedOutcome
from iosonde.campaign.asked_of import read_questions
from iosonde.commands.report.questions import answer_questions
from iosonde.core import questions
from iosonde.core.types import Estimate
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.importers.published_figures import read_publication
from messages import raises

DOCUMENT = """\
published: A lecture
document: lecture
hardware: other
figures:
  - {where: slide 1, words: "20.25 (15.5, 25.0)", operation: cp, metric: real, unit: s, statistic: slope, value: 20.25}
  - {where: slide 1, words: "20.25 (15.5, 25.0)", operation: cp, metric: real, unit: s, statistic: low, value: 15.5}
  - {where: slide 1, words: "20.25 (15.5, 25.0)", operation: cp, metric: real, unit: s, statistic: high, value: 25.0}
  - {where: slide 2, words: "197.7", operation: cp, metric: real, unit: s, settings: {fs: a}, value: 197.7}
  - {where: slide 2, words: "100", operation: cp, metric: real, unit: min, settings: {fs: b, size: 1KiB}, value: 100}
"""
FILE = """\
questions:
  - question: What does a replica cost?
    regress: {on: replica}
    metric: cp
    claims:
      - claim: a replica more
        document: lecture.yaml
        numbers: {statistic: slope}
        low_numbers: {statistic: low}
        high_numbers: {statistic: high}
        term: replica
  - question: Which is faster?
    compare: {group: fs, levels: [a, b]}
    metric: cp
    claims:
      - claim: b ÷ a
        document: lecture.yaml
        metric: cp
        numbers: {fs: b, size: 1KiB}
        over: {fs: a}
"""


@pytest.fixture
def folder(tmp_path):
    """Two replicas cost twice as much; b takes 1.5 times as long as a."""
    (tmp_path / "lecture.yaml").write_text(DOCUMENT, encoding="utf-8")
    (tmp_path / "q.yaml").write_text(FILE, encoding="utf-8")
    rows = [
        f"{fs},{replica},{replica * factor + noise}"
        for fs, factor in (("a", 1.0), ("b", 1.5))
        for replica in (1, 2, 3)
        for noise in (-0.01, 0.0, 0.01)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["fs,replica,cp (s)", *rows]) + "\n", encoding="utf-8")
    return tmp_path


def test_each_question_ends_with_the_verdict_on_its_published_numbers(folder):
    slope, ratio = [
        answered.claims[0]
        for answered in answer_questions(
            read_questions(folder / "q.yaml"), lambda where: open_data(str(folder / "t.csv"), where), ResponseQuery()
        )
    ]
    assert slope.verdict.outcome is PublishedOutcome.SAME_SIGN
    assert (slope.published.low, slope.published.high, slope.unit) == (15.5, 25.0, "s")
    assert slope.measured is not None and slope.measured.value == pytest.approx(1.25)
    assert ratio.published.value == pytest.approx(6000 / 197.7)  # minutes and seconds
    assert ratio.verdict.outcome is PublishedOutcome.SAME_SIGN and ratio.unit == ""


def test_a_store_keeps_the_numbers_and_needs_no_document(folder):
    claim = {"claim": "x", "document": "lecture.yaml", "numbers": {"statistic": "slope"}, "term": "replica"}
    resolved = resolve_claim(claim, folder)
    (folder / "lecture.yaml").unlink()
    assert resolve_claim(resolved, folder) == resolved and resolved["value"] == 20.25


def test_a_document_or_a_number_that_is_not_there_is_a_mistake(folder):
    with raises("no-such-document"):
        resolve_claim({"claim": "x", "document": "other.yaml"}, folder)
    with raises("no-such-number", document="lecture"):
        resolve_claim({"claim": "x", "document": "lecture.yaml", "numbers": {"statistic": "median"}}, folder)


def test_sizes_and_absent_settings_select():
    publication = read_publication(DOCUMENT, "lecture.yaml")
    assert [number.value for number in select_numbers(publication, {"size": "1KiB"})] == [100]
    assert [number.value for number in select_numbers(publication, {"statistic": "", "size": None})] == [197.7]


def build_ratio(value: float, low: float, high: float) -> dict:
    return {"comparisons": [{"by": {"response": "cp"}, "ratio": Estimate(value, low, high, 0.95, 3).to_json()}]}


def build_rank(importance: float, low: float, high: float) -> dict:
    factor = {"name": "size (bytes)", "importance": importance, "s1": importance, "s1_low": low, "s1_high": high}
    return {"response": "cp (s)", "level": 0.95, "n": 9, "factors": [factor]}


def build_models(tree: float) -> dict:
    models = [("linear", 10.0), ("tree", tree)]
    return {"models": [{"model": name, "mae": mae, "mae_low": mae - 1, "mae_high": mae + 1} for name, mae in models]}


@pytest.mark.parametrize(
    ("claim", "kind", "answer", "outcome"),
    [
        ({"expected": "above"}, questions.COMPARE, build_ratio(1.2, 1.1, 1.3), PublishedOutcome.SAME_SIGN),
        ({"expected": "below"}, questions.COMPARE, build_ratio(1.2, 1.1, 1.3), PublishedOutcome.CONTRADICTED),
        ({"expected": "none"}, questions.COMPARE, build_ratio(1.0, 0.98, 1.02), PublishedOutcome.NO_EFFECT),
        ({"expected": "none"}, questions.COMPARE, build_ratio(1.0, 0.8, 1.2), PublishedOutcome.INCONCLUSIVE),
        ({"value": 1.3, "metric": "rm"}, questions.COMPARE, build_ratio(1.2, 1.1, 1.3), PublishedOutcome.NOT_MEASURED),
        ({"value": 0.9, "term": "size"}, questions.RANK, build_rank(0.91, 0.88, 0.94), PublishedOutcome.SAME_SHARE),
        ({"value": 0.2, "term": "size"}, questions.RANK, build_rank(0.91, 0.88, 0.94), PublishedOutcome.CONTRADICTED),
        ({"expected": "above"}, questions.VALIDATE, build_models(5), PublishedOutcome.SAME_SIGN),
        ({"expected": "above"}, questions.VALIDATE, build_models(9), PublishedOutcome.INCONCLUSIVE),
        ({"expected": "above"}, questions.VALIDATE, None, PublishedOutcome.NOT_MEASURED),
    ],
)
def test_planted_effects(claim, kind, answer, outcome):
    judged = judge_claim({"claim": "x", "worse": "linear", "better": "tree", **claim}, kind, answer)
    assert judged is not None and judged.verdict.outcome is outcome


def test_an_effect_of_about_zero_is_judged_by_the_mean():
    term = {"name": "disk", "estimate": 1e6, "low": -1e6, "high": 3e6}
    answer = {"terms": [term], "level": 0.95, "n": 9, "mean_y": 100e6}
    claim = {"claim": "x", "value": 0.0, "scale": 1e6, "unit": "MB/s", "term": "disk"}
    judged = judge_claim(claim, questions.REGRESS, answer)
    assert judged is not None and judged.verdict.outcome is PublishedOutcome.NO_EFFECT
    wide = judge_claim(claim, questions.REGRESS, {**answer, "mean_y": 20e6})
    assert wide is not None and wide.verdict.outcome is PublishedOutcome.INCONCLUSIVE


def test_a_plot_has_no_effect_to_compare():
    assert judge_claim({"claim": "x", "value": 1.0}, questions.PLOT, {}) is None


TABLE = """\
published: A talk
document: talk
hardware: other
figures:
  - where: slide 3
    words: "100 90 82 69 of 940 Mbit/s"
    operation: write
    metric: bandwidth
    clock: unknown
    unit: MB/s
    table:
      columns: [{settings: {nodes: 1}}, {settings: {nodes: 2}}, {settings: {nodes: 3}}, {settings: {nodes: 4}}]
      rows: [{values: [100, 90, 82, 69]}]
statements:
  - {where: slide 4, words: nobody needs more than one}
"""


@pytest.fixture
def talk(tmp_path):
    (tmp_path / "talk.yaml").write_text(TABLE, encoding="utf-8")
    return tmp_path


def test_a_slope_over_printed_numbers_has_its_interval(talk):
    claim = {
        "claim": "x",
        "document": "talk.yaml",
        "numbers": {"operation": "write"},
        "slope_on": "nodes",
        "term": "nodes",
    }
    resolved = resolve_claim(claim, talk)
    fit = stats.linregress([1, 2, 3, 4], [100, 90, 82, 69])
    half = stats.t.ppf(0.975, 2) * fit.stderr
    assert [resolved[key] for key in ("value", "low", "high")] == pytest.approx(
        [fit.slope, fit.slope - half, fit.slope + half]
    )


def test_a_share_of_a_bound_is_that_of_each_system(talk):
    claim = {"claim": "x", "document": "talk.yaml", "numbers": {"nodes": 2}, "metric": "write", "at": {"nodes": 2}}
    resolved = resolve_claim({**claim, "bound": {"published": "800 Mbit/s", "measured": "80 Mbit/s"}}, talk)
    group = {"operation": None, "metric": "write (bytes/s)", "by": {"nodes": 2}, "n": 3}
    answer = {"level": 0.95, "groups": [{**group, "mean": 9e6, "mean_low": 8.8e6, "mean_high": 9.2e6}]}
    judged = judge_claim(resolved, questions.SUMMARY, answer)
    assert judged is not None and judged.published.value == pytest.approx(0.9)
    assert judged.measured is not None and judged.measured.value == pytest.approx(0.9)
    assert judged.verdict.outcome is PublishedOutcome.SAME_SHARE


def test_words_are_those_of_a_statement(talk):
    claim = {"claim": "x", "document": "talk.yaml", "expected": "none"}
    assert resolve_claim({**claim, "words": "more than one"}, talk)["source"] == "talk"
    with raises("no-such-statement", document="talk"):
        resolve_claim({**claim, "words": "more than two"}, talk)


def test_effects_that_are_no_evidence_have_no_verdict():
    claim = {"claim": "x", "expected": "above", "not_comparable": "another unit"}
    judged = judge_claim(claim, questions.COMPARE, build_ratio(0.5, 0.4, 0.6))
    assert judged is not None and judged.verdict.outcome is PublishedOutcome.NOT_COMPARABLE
    assert judged.note == "another unit" and judged.measured is not None
    missing = judge_claim(claim, questions.COMPARE, {"comparisons": []})
    assert missing is not None and missing.verdict.outcome is PublishedOutcome.NOT_MEASURED


def test_a_factor_leads_and_the_others_do_not_matter():
    shares = [("size (bytes)", 0.7, 0.6, 0.8), ("net", 0.2, 0.1, 0.3), ("disk", 0.01, 0.0, 0.02)]
    factors = [
        {"name": name, "importance": s, "s1": s, "s1_low": low, "s1_high": high} for name, s, low, high in shares
    ]
    answer = {"response": "cp (s)", "level": 0.95, "n": 9, "factors": factors}
    lead = judge_claim({"claim": "x", "expected": "above", "term": "size", "leads": True}, questions.RANK, answer)
    assert lead is not None and lead.verdict.outcome is PublishedOutcome.SAME_SIGN
    assert lead.measured is not None and (lead.measured.low, lead.measured.high) == pytest.approx((0.3, 0.7))
    for named, outcome in ((["size"], PublishedOutcome.CONTRADICTED), (["size", "net"], PublishedOutcome.NO_EFFECT)):
        other = judge_claim({"claim": "x", "value": 0.0, "others_than": named}, questions.RANK, answer)
        assert other is not None and other.verdict.outcome is outcome


@pytest.mark.parametrize(
    ("values", "outcome"),
    [((1, 2, 3, 4), PublishedOutcome.SAME_RANKING), ((4, 3, 2, 1), PublishedOutcome.CONTRADICTED)],
)
def test_the_order_of_defaults(values, outcome):
    claim = {"claim": "x", "order": dict(zip("abcd", (10, 20, 30, 40), strict=True)), "column": "abs", "scale": 2.0}
    defaults = [{"setting": name, "abs": value} for name, value in zip("abcd", values, strict=True)]
    judged = judge_claim(claim, questions.ADVISE, {"defaults": defaults})
    assert judged is not None and judged.verdict.outcome is outcome and judged.verdict.p == pytest.approx(1 / 24)
    assert judged.orders[1]["a"] == values[0] / 2
    gone = judge_claim(claim, questions.ADVISE, {"defaults": defaults[1:]})
    assert gone is not None and gone.verdict.outcome is PublishedOutcome.NOT_MEASURED


def test_a_comparison_with_several_levels_names_one():
    rows = [
        {"by": {"response": "cp"}, "b": {"name": level}, "ratio": Estimate(value, value, value, 0.95, 3).to_json()}
        for level, value in (("2", 1.5), ("4", 3.0))
    ]
    judged = judge_claim({"claim": "x", "expected": "above", "of": 4}, questions.COMPARE, {"comparisons": rows})
    assert judged is not None and judged.measured is not None and judged.measured.value == 3.0


def test_a_document_answers_the_claims_of_its_campaigns_and_of_its_own(folder):
    own = (
        "campaigns: [{experiment: q.yaml, data: t.csv, here: a table}]\n"
        "questions:\n"
        "  - question: Which slope?\n"
        "    regress: {sums: {n: 3, sum_x: 6, sum_x2: 14, b0: 1.0, b1: 20.25, SSR: 820.125, SSE: 1.0, x: x}}\n"
        "    claims: [{claim: line, numbers: {operation: cp}, find: {slope: terms.x.estimate}}]\n"
    )
    (folder / "lecture.yaml").write_text(DOCUMENT + own, encoding="utf-8")
    answer = iosonde.compare(str(folder / "lecture.yaml")).to_dict()
    outcomes = {claim["claim"]: claim["outcome"] for claim in answer["claims"]}
    assert outcomes == {
        "a replica more": PublishedOutcome.SAME_SIGN,
        "b ÷ a": PublishedOutcome.SAME_SIGN,
        "slope": PublishedOutcome.RECOMPUTED,
    }
    assert [figure["outcome"] for figure in answer["figures"][:3]] == [PublishedOutcome.SAME_SIGN] * 3


def test_a_campaign_that_is_not_there_is_a_mistake(folder):
    text = DOCUMENT + "campaigns: [{experiment: other.yaml, data: t.csv}]\n"
    (folder / "lecture.yaml").write_text(text, encoding="utf-8")
    with raises("no-such-file"):
        iosonde.compare(str(folder / "lecture.yaml"))


@pytest.fixture
def two_operations(tmp_path):
    """Three trials of writing and reading on two file systems: reading is 2 and 4 times as fast."""
    speeds = {("a", "write"): 10, ("a", "read"): 20, ("b", "write"): 10, ("b", "read"): 40}
    lines = [f"{fs},{op},{trial},{speed + trial}" for (fs, op), speed in speeds.items() for trial in range(3)]
    (tmp_path / "t.csv").write_text("\n".join(["fs,op,rep,speed", *lines]) + "\n", encoding="utf-8")
    columns = (
        "tool: t\ncolumns:\n  fs: factor\n  op: {is: operation, levels: {write: write, read: read}}\n"
        "  rep: repetition\n  speed: {is: metric, name: bandwidth, unit: MB/s, clock: last_done}\n"
        "headline: [bandwidth]\n"
    )
    (tmp_path / "t.yaml").write_text(columns, encoding="utf-8")
    store = str(tmp_path / "store")
    iosonde.import_files([str(tmp_path / "t.csv")], store=store, columns=str(tmp_path / "t.yaml"))
    return store


@pytest.mark.parametrize(
    ("levels", "outcomes"),
    [
        ("[write, read]", [PublishedOutcome.SAME_SIGN, PublishedOutcome.CONTRADICTED]),
        ("[write, stat]", [PublishedOutcome.NOT_MEASURED] * 2),
    ],
)
def test_operations_of_a_store_are_compared_with_each_other(two_operations, tmp_path, levels, outcomes):
    text = (
        f"questions:\n  - question: Is it faster?\n    compare: {{levels: {levels}, by: [fs]}}\n"
        "    claims: [{claim: a, expected: above, at: {fs: a}}, {claim: b, expected: below, at: {fs: b}}]\n"
    )
    (tmp_path / "q.yaml").write_text(text, encoding="utf-8")
    (answered,) = answer_questions(
        read_questions(tmp_path / "q.yaml"), lambda where: open_data(two_operations, where), ResponseQuery()
    )
    assert [claim.verdict.outcome for claim in answered.claims] == outcomes
    if answered.answer is not None:
        assert answered.claims[0].measured.value == pytest.approx(21 / 11, rel=0.02)
