"""Settings that are too different to rank their factors are ranked by no command."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from iosonde.commands.anova.answer import anova
from iosonde.commands.rank.answer import rank
from iosonde.commands.rank.text import lines as rank_lines
from iosonde.commands.report.answer import report
from iosonde.commands.report.query import ReportQuery
from iosonde.commands.report.section_verdicts import build_verdict_lines
from iosonde.commands.summary.answer import summary
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from terminal import command_of

HEADER = ["fs", "api", "access", "block", "segments", "order", "write_mib_s"]
# Three systems, each with options of its own; two settings were repeated.
SETTINGS = {
    ("nfs", "POSIX", "shared", "8m", 1, "seq"): (196.2, 201.5, 189.9),
    ("lustre", "MPIIO", "shared", "16m", 1, "seq"): (301.3, 299.0, 310.1, 304.4),
    ("lustre", "MPIIO", "shared", "4m", 4, "shift"): (1660.0,),
    ("ceph", "POSIX", "private", "1m", 1, "seq"): (47.0,),
    ("ceph", "POSIX", "private", "2m", 1, "seq"): (55.0,),
}


@pytest.fixture
def path(tmp_path):
    rows = [HEADER, *((*setting, value) for setting, values in SETTINGS.items() for value in values)]
    (tmp_path / "mixed.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    return str(tmp_path / "mixed.csv")


@pytest.mark.parametrize("command", [summary, rank, anova])
def test_no_command_has_a_verdict_on_factors_of_settings_that_are_too_different(path, command):
    states = {verdict.state for verdict in command(open_data(path), ResponseQuery()).verdicts}
    assert states <= {VerdictState.NOT_TESTED, VerdictState.NOT_SEPARABLE}


def test_page_and_figure_say_the_same(path, tmp_path):
    def run(*arguments):
        name, *rest = arguments
        result = CliRunner().invoke(command_of(name), rest, catch_exceptions=False)
        assert result.exit_code == 0
        return result.stdout + result.stderr

    page = tmp_path / "page.html"
    run("report", path, "-o", str(page))
    content = page.read_text().replace("what matters:", "")  # the name of the part that is refused
    assert "matters:" not in content and "matter:" not in content
    figure = run("plot", path, "-o", str(tmp_path / "figure.svg"))
    assert "best" not in figure.split()
    ranking = json.loads(run("rank", path, "--json"))["rankings"][0]
    assert ranking["order"] == []


def test_text_and_page_have_no_share_of_a_factor_that_is_not_ranked(path, tmp_path):
    answer = rank(open_data(path), ResponseQuery())
    (ranking,) = answer.rankings
    text = " ".join(" ".join(rank_lines(answer)).split())
    assert ranking.is_refused and text.startswith(ranking.sentence[:40])
    assert all(f"{factor.name} (" in text for factor in ranking.factors)
    assert text.count("%") <= 3, "the noise alone"
    assert "\n".join(rank_lines(replace(answer, is_complete=True))).count("%") > 3
    page = report(ReportQuery(path))
    assert not page.influences.items and page.influences.missing == (ranking.sentence,)
    (line,) = build_verdict_lines(page)
    assert line.state == VerdictState.NOT_TESTED and line.text.endswith(str(ranking.effects.untested))


def test_a_refused_ranking_takes_no_time_for_shapley_effects(path, monkeypatch):
    monkeypatch.setattr("iosonde.model.sensitivity.rank.estimate_shapley_effects", None)
    assert rank(open_data(path), ResponseQuery()).rankings[0].is_refused


def test_repeated_settings_are_ranked(tmp_path):
    rows = [
        HEADER,
        *((*setting, value * f) for setting, values in SETTINGS.items() for value in values for f in (1, 1.01)),
    ]
    (tmp_path / "repeated.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    answer = rank(open_data(str(tmp_path / "repeated.csv")), ResponseQuery())
    assert answer.rankings[0].order
