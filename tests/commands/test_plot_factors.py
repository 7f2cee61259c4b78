"""Responses against factors: a panel for each pair, what is said of a line, and what cannot be drawn."""

from __future__ import annotations

import re

import numpy as np
import pytest
from click.testing import CliRunner

from constrained_design import LINE, SIGMA, cells
from constrained_design import NAMES as LAYOUT
from iosonde.commands.plot import factors
from iosonde.commands.plot.figure_factors import factor_figure, factors_figure
from iosonde.core.errors import DataError, InputError
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.stats.estimate import summarise
from iosonde.stats.regression.formula import TermFactor
from iosonde.stats.regression.regress import regress
from terminal import command_of

command = command_of("plot")

SIZES = (4, 8, 16, 32, 64)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """write grows with log2(size), read does not; latency bends; random_write falls with replicas."""
    rng = np.random.default_rng(7)
    lines = ["size,fs,replicas,write (MiB/s),read (MiB/s),random_write (MiB/s),latency_ms"]
    for size in SIZES:
        for fs in ("ext4", "xfs"):
            for replicas in (1, 2, 3):
                for _ in range(3):
                    e = rng.normal(0, 1, 4)
                    write = 20 * np.log2(size) + 5 * (fs == "xfs") + e[0]
                    latency = 5 + (np.log2(size) - 4) ** 2 + 0.1 * e[3]
                    lines.append(f"{size},{fs},{replicas},{write},{100 + e[1]},{50 - 8 * replicas + e[2]},{latency}")
    path = tmp_path_factory.mktemp("plot") / "runs.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def panels(data, responses, on, together=False):
    """What the figure is given."""
    made = factors.build_factor_panels(open_data(data), ResponseQuery(tuple(responses), tuple(on)), together)
    return made.items, made.columns


def words_of(text):
    """A text's words and numbers, in order."""
    return re.findall(r"\w+", text)


def invoke(*words):
    return CliRunner().invoke(command, [str(word) for word in words], standalone_mode=False)


def test_three_factors_and_four_metrics_are_twelve_panels_with_a_test_each(runs):
    found, columns = panels(runs, ["write", "read", "random_write", "latency"], ["log2(size)", "fs", "replicas"])
    assert (len(found), columns) == (12, 3)
    series = {(panel.series[0].name, panel.factor): panel.series[0] for panel in found}
    said = {key: [words_of(text) for text in one.said] for key, one in series.items()}
    of_size = {name: said[name, "log2(size)"][1] for name in ("write", "read", "latency")}
    assert {name: ("flat" in told, "not" in told) for name, told in of_size.items()} == {
        "write": (False, False),
        "read": (True, False),
        "latency": (True, True),
    }
    assert "p" in of_size["write"]
    told = said["random_write", "replicas"]
    assert -9 < series["random_write", "replicas"].slope.value < -7 and told[0][0] == "8"
    assert "flat" not in told[1]
    p = regress(open_data(runs).table, "write", ["fs"], 0.95).fit.f_p
    (text,) = series["write", "fs"].said
    assert f"(p={p:.2g})" in text
    assert all(panel.logarithmic == (panel.factor == "log2(size)") for panel in found)


def test_the_numbers_are_those_of_summary_and_regress(runs):
    (panel,), _ = panels(runs, ["write"], ["log2(size)"])
    table = open_data(runs).table
    (series,) = panel.series
    y, size = table.numbers("write"), table.numbers("size")
    assert dict(series.means) == {float(s): summarise.estimate_mean(y[size == s], 0.95) for s in SIZES}
    made = regress(table, "write", ["log2(size)"], 0.95)
    slope = made.fit.coefficients()[1]
    numbers = [f"{number:.1f}" for number in (slope.estimate, slope.low, slope.high)]
    assert re.findall(r"[\d.]+", series.said[0]) == numbers and "MiB/s" in series.said[0]
    assert "doubling" in series.said[0]
    assert series.line[0] == pytest.approx((4, made.fit.beta[0] + 2 * made.fit.beta[1]))
    assert len(series.trials) == len(y)


def test_without_response_everything_that_looks_measured_is_drawn(runs):
    found, columns = panels(runs, [], ["log2(size)"])
    assert columns == 1
    assert [panel.series[0].name for panel in found] == [
        "write (MiB/s)",
        "read (MiB/s)",
        "random_write (MiB/s)",
        "latency_ms",
    ]


def test_together_all_responses_of_a_unit_are_in_one_panel(runs):
    found, columns = panels(runs, ["write", "read"], ["log2(size)", "replicas"], together=True)
    assert (len(found), columns) == (2, 2)
    assert [one.name for one in found[0].series] == ["write", "read"]
    assert found[0].unit == "MiB/s"


def test_several_responses_are_told_apart_beside_the_data_and_in_words_outside_of_the_figure(runs, tmp_path):
    words = ("--on", "log2(size)", "--response", "write,read,random_write", "--together")
    done = invoke(runs, *words, "-o", tmp_path / "x.svg")
    said = " ".join(done.stderr.split())
    assert said.count(" log2(size): ") == 3 and said.count("MiB/s") == 6 and said.count("flat;") == 2
    (panel,), _ = panels(runs, ["write", "read", "random_write"], ["log2(size)"], together=True)
    spec = factor_figure(panel).spec
    (title,), size = spec["title"]["text"], spec["title"]["fontSize"]
    assert set(words_of(title)) >= {"write", "read", "random_write", "size"} and size == 12
    key = spec["layer"][-1]["encoding"]
    assert key["color"]["legend"]["orient"] == "right" and len(set(key["shape"]["scale"]["range"])) == 3
    aside = {one["mark"].get("xOffset", 0) for one in spec["layer"] if one.get("mark", {}).get("shape") == "circle"}
    assert aside == {-8.0, 0, 8.0}, "marks at one level are drawn over each other"


def test_what_several_panels_have_in_common_is_explained_once(runs):
    found, columns = panels(runs, ["write", "read"], ["log2(size)", "replicas"], together=True)
    made = factors_figure(found, columns).spec["concat"]
    assert [any("shape" in one.get("encoding", {}) for one in panel["layer"]) for panel in made] == [False, True]


def test_seven_responses_are_seven_marks(tmp_path):
    names = [f"metric_no_{k}" for k in range(7)]
    path = tmp_path / "seven.csv"
    path.write_text(
        "\n".join(
            [",".join(["a", *names]), *(f"{a}," + ",".join(f"{a * k + a % 2}" for k in range(7)) for a in (1, 2, 3, 4))]
        )
        + "\n"
    )
    (panel,), _ = panels(str(path), names, ["a"], together=True)
    spec = factor_figure(panel).spec
    key = spec["layer"][-1]["encoding"]
    marks = zip(key["color"]["scale"]["range"], key["shape"]["scale"]["range"], strict=True)
    assert len(set(marks)) == 7 and spec["title"]["text"][0].startswith("7 ")


def test_an_axis_of_sizes_does_not_name_their_unit_twice(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("size (bytes),y\n" + "".join(f"{1024 * 2 ** (i % 4)},{i}\n" for i in range(12)))
    (panel,), _ = panels(str(path), ["y"], ["log2(size)"])
    assert (panel.factor, panel.label) == ("log2(size (bytes))", "size")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--on", "size:replicas"), "'size:replicas' is an interaction"),
        (("--on", "sice"), "sice"),
        (("--on", "size", "--kind", "bars"), "--on and --kind do not go together"),
        (("--on", "size", "--bars"), "--on and --bars do not go together"),
        (("--on", "size", "--response", "write,latency", "--together"), "different units: MiB/s, ms"),
        (("--together",), "--together goes with --on"),
        (("--on", "size", "--x", "fs"), "--on and --x do not go together"),
        (("--kind", "bars", "--x", "fs"), "--x does not go with --kind bars"),
        (("--bars", "--response", "write"), "--bars and --response do not go together"),
        (("--on", "size", "--response", "size"), "both the response and a predictor"),
    ],
)
def test_what_cannot_be_drawn_is_said(runs, tmp_path, words, said):
    done = invoke(runs, "-o", tmp_path / "x.png", *words)
    assert isinstance(done.exception, InputError)
    assert said in done.exception.message
    assert not list(tmp_path.iterdir())


def test_few_levels_and_no_repeats_are_no_straight_line(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("a,b,y\n1,1,3\n1,2,3.1\n2,3,4\n2,4,4.2\n")
    found, _ = panels(str(path), ["y"], ["a", "b"])
    levels, repeats = (words_of(panel.series[0].said[1]) for panel in found)
    assert "levels" in levels and "repeats" in repeats


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_names_from_data_are_drawn_as_they_are_and_the_bytes_are_the_same(tmp_path, kind):
    path = tmp_path / "h.csv"
    path.write_text("$x$_\\frac,y <b>\n" + "".join(f"{i % 4},{i}\n" for i in range(16)))
    words = (path, "--on", "$x$_\\frac", "--response", "y <b>", "-o")
    for name in ("one", "two"):
        done = invoke(*words, tmp_path / f"{name}.{kind}")
        assert done.exception is None, done.exception
    first, second = ((tmp_path / f"{name}.{kind}").read_bytes() for name in ("one", "two"))
    assert len(first) == len(second) > 1000 and (first == second or kind == "pdf")  # its fonts come in any order
    if kind == "svg":
        assert b"$x$_\\frac" in first and b"<b>" not in first


def test_one_response_that_never_varies_leaves_the_others_drawn(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("a,y,z\n" + "".join(f"{i % 3},{i},5\n" for i in range(12)))
    done = invoke(path, "--on", "a", "--response", "y,z", "-o", tmp_path / "x.svg")
    assert done.exception is None
    said = " ".join(done.stderr.split())
    assert "'z'" in said and " 12 " in said
    done = invoke(path, "--on", "a", "--response", "z", "-o", tmp_path / "z.svg")
    assert isinstance(done.exception, DataError) and not (tmp_path / "z.svg").exists()


def test_sizes_of_a_store_are_named_as_people_write_them():
    cells = np.array([16384.0, 1048576.0, 16384.0])
    places, ticks = factors._place_levels(TermFactor("request_size", "log2"), cells, "bytes")
    assert ticks == [(16384.0, "16 KiB"), (1048576.0, "1 MiB")] and places[16384.0] == 16384.0
    assert factors._place_levels(TermFactor("n"), cells, "")[1] == [(16384.0, "16384"), (1048576.0, "1048576")]


def test_all_panels_of_a_response_have_one_unit(runs):
    found, _ = panels(runs, ["write", "latency"], ["size", "fs"])
    assert [(panel.divisor, panel.unit) for panel in found[:2]] == [(found[0].divisor, found[0].unit)] * 2
    assert found[2].unit == found[3].unit == "ms"


def test_a_slope_that_holds_effects_of_other_factors_stands_beside_the_one_with_these_held(tmp_path):
    """Stripes × replicas ≤ servers: 44 (39–49) was shown for a true 10.4."""
    x = np.repeat(cells(), 3, axis=0)
    y = 900 + x @ LINE + SIGMA * np.random.default_rng(1).normal(size=len(x))
    path = tmp_path / "c.csv"
    lines = [",".join([*map(str, row), f"{value:.4f}"]) for row, value in zip(x.tolist(), y.tolist(), strict=True)]
    path.write_text("\n".join([",".join([*LAYOUT, "write (MB/s)"]), *lines]) + "\n")
    for on in (["striping", "network", "clients"], LAYOUT):
        found, _ = panels(str(path), ["write"], on)
        panel = {one.factor: one.series[0] for one in found}
        assert panel["striping"].slope.low > 25
        held = panel["striping"].held
        assert held.slope.low < LINE[3] < held.slope.high < 20 and set(held.others) == set(LAYOUT) - {"striping"}
        assert {"MB", "5"} <= set(words_of(panel["striping"].said[2])) and len(panel["striping"].said) == 4
        assert len(panel["network"].said) == 3 and panel["network"].held.slope.value == pytest.approx(
            panel["network"].slope.value
        )
    everything = regress(open_data(str(path)).table, "write", LAYOUT, 0.95).fit.coefficients()
    assert held.slope.value == pytest.approx(next(one for one in everything if one.name == "striping").estimate)


def test_what_was_measured_is_not_held(runs):
    (panel,), _ = panels(runs, ["write"], ["log2(size)"])
    assert panel.series[0].held.others == ("fs", "replicas")


def test_the_interval_of_a_rate_is_cut_at_zero(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("size,write (MiB/s)\n4,1\n4,9\n8,1\n8,9\n16,10\n16,10.1\n")
    (panel,), _ = panels(path, ["write"], ["log2(size)"])
    assert [mean.low for _, mean in panel.series[0].means][:2] == [0.0, 0.0]


def test_the_slope_over_a_size_is_said_for_a_unit_that_suits_it(tmp_path):
    rows = [(kib * 1024, fs, 100 * 2**20 + kib * 2**17) for kib in (4, 16, 1024) for fs in "ab" for _ in range(3)]
    lines = [f"{size},{fs},{speed + k * 1000}" for k, (size, fs, speed) in enumerate(rows)]
    (tmp_path / "t.csv").write_text("\n".join(["block (bytes),fs,speed (bytes/s)", *lines]) + "\n")
    (panel, _), _ = panels(tmp_path / "t.csv", ["speed"], ["block", "fs"])
    assert panel.series[0].said[0].startswith("128 (") and " MiB of " in panel.series[0].said[0]
    assert panel.series[0].said[2].startswith("128 (")
