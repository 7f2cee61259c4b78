"""The advice to take logarithms of a response whose effects multiply."""

import json

import numpy as np
import pandas as pd
import pytest

import iosonde
from iosonde.commands.plot.figure_settings import settings_figure
from iosonde.commands.plot.layout import PlotRoles
from iosonde.commands.plot.settings import build_settings_plot
from iosonde.commands.rank.answer import rank
from iosonde.commands.regress.answer import regress
from iosonde.commands.report.answer import report
from iosonde.commands.report.content import Page
from iosonde.commands.report.query import ReportQuery
from iosonde.commands.report.section_verdicts import build_verdict_lines
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from messages import codes, has_message, with_code

ROWS, COLUMNS = np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3)


@pytest.mark.parametrize("command", [iosonde.rank, iosonde.anova])
def test_logarithms_are_advised_of_single_trials_whose_effects_multiply(command):
    noise = np.exp(0.01 * np.random.default_rng(1).standard_normal(12))
    data = pd.DataFrame({"fs": [f"f{row}" for row in ROWS], "size": [f"s{column}" for column in COLUMNS]})
    data["mbs"] = 10 * 1.1**ROWS * 3.0**COLUMNS * noise
    assert "log(mbs)" in str(command(data, response="mbs", on=["fs", "size"]))
    data["mbs"] = np.log(data["mbs"]) + 1
    assert "log(mbs)" not in str(command(data, response="mbs", on=["fs", "size"]))


def build_decades(path):
    """Write latencies of 2 operations on 2 media, decades apart, that a mount option raises by 12 %."""
    rng = np.random.default_rng(3)
    rows = [(op, media, mount) for op in ("stat", "read") for media in ("ssd", "tape") for mount in ("a", "b")] * 6
    factor = {"stat": 1, "read": 30, "ssd": 1, "tape": 200, "a": 1, "b": 1.12}
    data = pd.DataFrame(rows, columns=["op", "media", "mount"])
    data["lat_us"] = [50 * np.prod([factor[level] for level in row]) * np.exp(0.03 * rng.normal()) for row in rows]
    data.to_csv(path, index=False)
    return path


def test_a_small_effect_over_decades_is_a_ratio_in_every_command_and_on_the_page(tmp_path):
    path = build_decades(tmp_path / "decades.csv")
    ranking = rank(open_data(str(path)), ResponseQuery(("lat_us",)))
    others = [iosonde.summary(str(path)), iosonde.anova(str(path), on=["op", "media", "mount"])]
    page = report(ReportQuery(str(path)))
    assert isinstance(page, Page)
    lines = [line.text for line in build_verdict_lines(page)]
    assert all("×1.1" in text for text in (ranking.sentence, *map(str, others), " ".join(lines)))
    assert "take-logarithms" in codes(page.influences.items[0].ranking.warnings)
    assert {verdict.claim[:4] for verdict in ranking.verdicts if verdict.subject == ("mount",)} == {"×1.1"}


def test_bars_of_settings_that_span_decades_are_points_on_a_logarithmic_axis(tmp_path):
    path = build_decades(tmp_path / "decades.csv")
    figure = settings_figure(build_settings_plot(open_data(str(path)), ResponseQuery(("lat_us",)), PlotRoles()))
    text = json.dumps(figure.spec)
    assert '"log"' in text and '"bar"' not in text


def test_logarithms_are_advised_where_they_mend_a_regression():
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"bs": np.tile([4, 16, 64, 256], 20), "threads": np.repeat([1, 2, 4, 8, 16], 16)})
    data["mb_s"] = 5 * data.bs**0.6 * data.threads**0.4 * np.exp(0.1 * rng.normal(size=80))

    def fit(response, *terms):
        return regress(open_data(data), ResponseQuery((response,), terms)).regression.warnings

    assert with_code(fit("mb_s", "bs", "threads"), "take-logarithms").values["terms"] == "log(bs),log(threads)"
    assert not has_message(fit("log(mb_s)", "log(bs)", "log(threads)"), "take-logarithms")
    data["mb_s"] = 100 + 3 * data.bs + data.threads + rng.normal(size=80)
    assert not has_message(fit("mb_s", "bs", "threads"), "take-logarithms")
