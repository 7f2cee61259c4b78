"""The verdicts that a page leads with: they quote those of ``summary``, and no section contradicts them."""

from dataclasses import replace

import pytest

import iosonde
from iosonde.commands.report.answer import report
from iosonde.commands.report.content import Page
from iosonde.commands.report.query import ReportQuery
from iosonde.commands.report.section_verdicts import build_verdict_lines
from iosonde.core.types import Estimate
from iosonde.core.verdict import Verdict, VerdictState
from page_sample import sample_page

pd = pytest.importorskip("pandas")


def page_of(*verdicts: Verdict) -> Page:
    return replace(sample_page(), verdicts=verdicts, responses={"write bandwidth": ("Write", "bytes/s")})


def effect(state: VerdictState, name: str = "fs", share: float = 0.5, **more: object) -> Verdict:
    estimate = None if state is VerdictState.NOT_TESTED else Estimate(share, share / 2, 0.9, 0.95, 12)
    return Verdict("effect", "write bandwidth", (name,), state, estimate=estimate, **more)


def test_a_line_has_the_state_the_share_with_its_interval_and_n():
    (line,) = build_verdict_lines(page_of(effect(VerdictState.DIFFERENT)))
    assert (line.state, line.response) == ("different", "Write")
    assert "50 % (25–90 %)" in line.text and "n = 12" in line.text and line.text.startswith("fs ")


@pytest.mark.parametrize("state", list(VerdictState))
def test_each_state_is_named_and_only_a_difference_is_said_to_matter(state):
    (line,) = build_verdict_lines(page_of(effect(state)))
    assert line.state == str(state) and ("matters" in line.text) is (state is VerdictState.DIFFERENT)


def test_differences_come_first_the_largest_share_before_others():
    verdicts = (
        effect(VerdictState.INCONCLUSIVE, "a"),
        effect(VerdictState.DIFFERENT, "b", 0.1),
        effect(VerdictState.DIFFERENT, "c", 0.8),
    )
    assert [line.text.split()[0] for line in build_verdict_lines(page_of(*verdicts))] == ["c", "b", "no"]


def test_the_best_setting_stands_with_the_first_effect_and_only_if_it_is_significant():
    best = Verdict(
        "best", "write bandwidth", (), VerdictState.DIFFERENT, None, "fs=nfs", Estimate(2.0**20, 1.0, 2.0, 0.95, 3)
    )
    first, second = build_verdict_lines(
        page_of(effect(VerdictState.DIFFERENT), effect(VerdictState.DIFFERENT, "b", 0.1), best)
    )
    assert "best 1.00 MiB/s at fs=nfs" in first.text and "best" not in second.text
    unsure = replace(best, state=VerdictState.INCONCLUSIVE)
    assert "best" not in build_verdict_lines(page_of(effect(VerdictState.INCONCLUSIVE), unsure))[0].text


def test_a_doubt_is_said_in_words():
    (line,) = build_verdict_lines(page_of(effect(VerdictState.INCONCLUSIVE, doubts=("drift",))))
    assert "drift" in line.text


def test_an_interaction_is_one_line_that_no_line_of_a_factor_contradicts():
    alone = [effect(VerdictState.INCONCLUSIVE, name, 0.001) for name in ("fs", "clients")]
    joint = replace(effect(VerdictState.DIFFERENT, share=0.9), subject=("fs", "clients"))
    (line,) = build_verdict_lines(page_of(*alone, joint))
    assert line.state == "different" and "depends" in line.text and "90 %" in line.text
    kept = build_verdict_lines(page_of(alone[0], effect(VerdictState.DIFFERENT, "clients"), joint))
    assert [line.state for line in kept] == ["different", "different"]


def test_factors_that_cannot_be_separated_are_one_line_that_says_so():
    alone = [effect(VerdictState.NOT_SEPARABLE, name, doubts=("goes-together",)) for name in ("device", "pool")]
    block = replace(effect(VerdictState.DIFFERENT), subject=("device", "pool"))
    (line,) = build_verdict_lines(page_of(*alone, block))
    assert "matter" in line.text and "separated" in line.text and "depends" not in line.text


def test_what_one_of_them_explains_alone_is_in_the_same_line():
    block = replace(effect(VerdictState.DIFFERENT), subject=("device", "pool"))
    alone = effect(VerdictState.DIFFERENT, "device", 0.2, doubts=("goes-together",))
    (line,) = build_verdict_lines(page_of(block, alone))
    assert "50 %" in line.text and "20 %" in line.text


def test_what_is_not_significant_says_how_much_it_may_be():
    (line,) = build_verdict_lines(page_of(effect(VerdictState.INCONCLUSIVE, share=0.01)))
    assert "90 %" in line.text


def test_a_large_share_without_an_upper_limit_lacks_trials_and_not_an_effect():
    verdict = replace(effect(VerdictState.INCONCLUSIVE), estimate=Estimate(0.99, None, None, 0.95, 6))
    (line,) = build_verdict_lines(page_of(verdict))
    assert line.text.startswith("fs: 99 % of the variation") and "n = 6" in line.text


def test_what_is_the_same_of_many_metrics_is_one_line():
    many = [replace(effect(VerdictState.INCONCLUSIVE), response=f"m{n}") for n in range(5)]
    different = [replace(effect(VerdictState.DIFFERENT), response=f"m{n}") for n in range(5)]
    assert [line.response for line in build_verdict_lines(page_of(*many))] == ["5 metrics"]
    assert len(build_verdict_lines(page_of(*many[:3]))) == 3
    assert len(build_verdict_lines(page_of(*different))) == 5


@pytest.fixture
def table(tmp_path):
    """Two file systems at a constant number of clients: one effect that is there, one that is not."""
    rows = [
        {"fs": fs, "size": size, "clients": 1, "bandwidth": base + noise}
        for fs, base in (("nfs", 100.0), ("ceph", 150.0))
        for size in (4, 64)
        for noise in (-1.0, 0.3, 1.2)
    ]
    path = tmp_path / "t.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_the_page_quotes_the_verdicts_of_summary(table):
    page = report(ReportQuery(str(table)))
    assert isinstance(page, Page)
    assert [verdict.to_json() for verdict in page.verdicts] == iosonde.summary(str(table)).to_dict()["verdicts"]
    states = {line.text.split()[0]: line.state for line in build_verdict_lines(page)}
    assert states == {"fs": "different", "size:": "hardly matters"}


def test_sections_say_of_a_factor_what_the_verdicts_say(table):
    """The section of what matters, and the table's own verdicts, are those of ``rank``."""
    page = report(ReportQuery(str(table)))
    assert isinstance(page, Page)
    states = {verdict.subject: verdict.state for verdict in page.verdicts if verdict.question == "effect"}
    verdicts = iosonde.rank(str(table)).to_dict()["verdicts"]
    ranked = {tuple(verdict["subject"]): verdict["state"] for verdict in verdicts}
    assert states == {subject: ranked[subject] for subject in states}
    ranking = page.influences.items[0].ranking
    assert ranking is not None and ranking.sentence.split()[0] == "fs" and "size" in ranking.sentence


def test_a_constant_is_in_no_headline(table):
    page = report(ReportQuery(str(table), by=("fs", "clients", "size")))
    assert isinstance(page, Page)
    assert "clients" not in page.headline and "clients" not in page.answers.sentence.split("widest")[0]


def test_how_a_table_was_read_is_a_line_of_data_and_no_finding(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("fs;Bandbreite [MB/s]\n" + "".join(f"{fs};{n},5\n" for fs in "ab" for n in range(3)))
    page = report(ReportQuery(str(path)))
    assert isinstance(page, Page)
    assert all("decimal" not in finding.sentence for finding in page.findings)
    assert [sentence for sentence in page.answers.what if sentence.startswith("Data: ")]


def test_effects_without_an_estimate_on_one_response_are_one_line():
    verdicts = [effect(VerdictState.NOT_TESTED, name) for name in "abc"]
    (line,) = build_verdict_lines(page_of(*verdicts))
    assert all(name in line.text.split() for name in ("b", "c"))
    (many,) = build_verdict_lines(page_of(*(effect(VerdictState.NOT_TESTED, name) for name in "abcdefgh")))
    assert "8" in many.text.split()


def test_a_limit_that_limits_nothing_is_not_said_of_a_negligible_effect():
    (line,) = build_verdict_lines(page_of(effect(VerdictState.EQUAL)))
    assert "%" not in line.text and "n = 12" in line.text
    small = replace(effect(VerdictState.EQUAL), estimate=Estimate(0.01, 0.0, 0.03, 0.95, 12))
    assert "%" in build_verdict_lines(page_of(small))[0].text


def test_the_page_says_once_how_much_is_interaction_as_the_summary(tmp_path):
    means = {("afs", 1): 100.0, ("afs", 8): 800.0, ("nfs", 1): 300.0, ("nfs", 8): 310.0}
    rows = [(fs, nodes, mean + 2.5 * n) for (fs, nodes), mean in means.items() for n in range(4)]
    pd.DataFrame(rows, columns=["fs", "nodes", "speed"]).to_csv(tmp_path / "t.csv", index=False)
    page = report(ReportQuery(str(tmp_path / "t.csv")))
    assert isinstance(page, Page)
    (text,) = page.interactions.values()
    assert text in iosonde.summary(str(tmp_path / "t.csv")).to_dict()["sentence"]
    assert [text in line.text for line in build_verdict_lines(page)].count(True) == 1
