"""Rows that are means with their sd and n: every command says of them what it says of the trials behind them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import iosonde
from iosonde.core.errors import InputError

RNG = np.random.default_rng(3)
TRIALS = {
    (fs, clients): 500 * clients * (1 + 0.02 * (fs == "b")) * np.exp(RNG.normal(0, 0.08, 5 + (fs == "b")))
    for fs, clients in product("ab", (1, 2, 4))
}


@pytest.fixture
def trials(tmp_path: Path) -> str:
    rows = [f"{fs},{clients},{value}" for (fs, clients), values in TRIALS.items() for value in values]
    path = tmp_path / "trials.csv"
    path.write_text("\n".join(["fs,clients,mean_mib_s", *rows]) + "\n")
    return str(path)


@pytest.fixture(params=["sd", "stderr"])
def means(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    rows = [
        f"{fs},{clients},{x.mean()},{x.std(ddof=1) / (x.size**0.5 if request.param == 'stderr' else 1)},{x.size}"
        for (fs, clients), x in TRIALS.items()
    ]
    path = tmp_path / "means.csv"
    path.write_text("\n".join([f"fs,clients,mean_mib_s,{request.param},n", *rows]) + "\n")
    return str(path)


def test_a_summary_has_the_mean_the_spread_and_n_of_the_trials_and_no_median(means, trials):
    of_means, of_trials = (iosonde.summary(data).to_dict()["groups"] for data in (means, trials))
    for row, other in zip(of_means, of_trials, strict=True):
        assert (row["by"], row["n"]) == (other["by"], other["n"])
        assert [row[key] for key in ("mean", "mean_low", "sd")] == pytest.approx(
            [other[key] for key in ("mean", "mean_low", "sd")], rel=1e-9
        )
        assert row["median"] is None


@pytest.mark.parametrize("command", [iosonde.rank, iosonde.summary])
def test_verdicts_on_effects_are_those_of_the_trials(command, means, trials):
    of_means, of_trials = (
        [(verdict.subject, verdict.state) for verdict in command(data).answer.verdicts] for data in (means, trials)
    )
    assert of_means == of_trials


def test_an_analysis_of_variance_has_the_sums_of_the_trials(means, trials):
    of_means, of_trials = (iosonde.anova(data, on="fs*clients").to_dict()["terms"] for data in (means, trials))
    for term, other in zip(of_means, of_trials, strict=True):
        assert [term["ss"], term["df"], term["f"]] == pytest.approx([other["ss"], other["df"], other["f"]], rel=1e-6)


def test_a_line_has_the_coefficients_and_errors_of_the_trials(means, trials):
    of_means, of_trials = (iosonde.regress(data, on=["log2(clients)", "fs"]).to_dict() for data in (means, trials))
    for key in ("s_e", "df", "f"):
        assert of_means[key] == pytest.approx(of_trials[key], rel=1e-9)


def test_a_page_draws_no_trials_of_means(means):
    page = iosonde.write_report(means, str(Path(means).with_suffix(".html"))).page
    assert all(not point.trials for panel in page.settings.panels for point in panel.points)


def test_means_have_no_quantiles_of_trials(means):
    with pytest.raises(InputError) as error:
        iosonde.summary(means, quantiles=True)
    assert error.value.code == "rows-are-means"


def test_a_question_about_the_spread_itself_leaves_the_rows_as_they_are(means):
    groups = iosonde.summary(means, "mean_mib_s", by="n").to_dict()["groups"]
    assert [row["n"] for row in groups] == [3, 3]
