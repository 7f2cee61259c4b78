"""``iosonde regress``: the keys that others rely on, the text, and wrong input."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import iosonde
from iosonde.core.errors import DataError, InputError
from messages import raises
from terminal import command_of

regress = command_of("regress")

CP = str(Path(__file__).parents[1] / "golden" / "data" / "cp_raw.csv")
ARGS = (CP, "--response", "real_s", "--on", "replicas")
SUMS = {"n": 44, "sum_x": 157, "sum_x2": 747, "b0": 168.12, "b1": 20.25, "SSR": 76590.4, "SSE": 61437.46}


def invoke(*args: str) -> str:
    return CliRunner().invoke(regress, list(args), catch_exceptions=False, standalone_mode=False).stdout


@pytest.fixture
def sums(tmp_path) -> str:
    path = tmp_path / "sums.json"
    path.write_text(json.dumps(SUMS))
    return str(path)


def test_json_has_every_promised_key():
    made = json.loads(invoke(*ARGS, "--at", "replicas=9", "--level", "0.9", "--json"))
    promised = {"n", "df", "r2", "adj_r2", "s_e", "ssr", "sse", "f", "f_p", "terms", "at", "warnings"}
    assert promised <= set(made)
    assert set(made["terms"][1]) == {"name", "estimate", "std_error", "low", "high", "t", "p"}
    assert {"fit", "mean_low", "mean_high", "low", "high", "extrapolated"} <= set(made["at"][0])
    assert (made["df"], made["terms"][1]["name"], made["at"][0]["extrapolated"]) == (22, "replicas", True)
    assert made["f_p"] == pytest.approx(0.35494, abs=1e-5)


def test_sums_instead_of_data(sums):
    made = json.loads(invoke("--sums", sums, "--level", "0.9", "--at", "x=9", "--json"))
    assert (made["at"][0]["low"], made["at"][0]["high"]) == pytest.approx((280.470901, 420.269099), abs=1e-3)
    assert made["assumptions"] is None
    for given in ({"sums": sums}, {"data": json.loads(Path(sums).read_text())}):
        assert iosonde.regress(**given, level=0.9, at=[{"x": 9}]).to_dict()["at"] == made["at"]


def test_the_mean_of_many_new_observations_is_known_better():
    one, many = (
        json.loads(invoke(*ARGS, "--at", "replicas=2", "--new", m, "--json"))["at"][0] for m in ("1", "1000000")
    )
    assert many["low"] > one["low"]
    assert many["low"] == pytest.approx(many["mean_low"], rel=1e-3)


def test_text_fits_a_terminal_and_ends_with_a_sentence(sums):
    for args in [(*ARGS, "--at", "replicas=9"), ("--sums", sums)]:
        text = invoke(*args)
        assert max(map(len, text.splitlines())) < 80 and text.rstrip().endswith(".")
    assert json.loads(invoke(*ARGS, "--json"))["verdicts"][0]["state"] == "inconclusive"


def test_text_is_in_the_unit_that_people_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n,write (bytes/s)\n" + "".join(f"{n},{1048576 * y}\n" for n, y in ((1, 2), (2, 4.5), (3, 5.5))))
    made = invoke(str(path), "--response", "write", "--on", "n", "--at", "n=2")
    assert made.startswith("write, MiB/s, on n; ")
    assert (
        "\nn            1.7500 " in made
        and "\nn=2  4.0000  " in made
        and "-3.7519 MiB/s and 7.2519 MiB/s." in " ".join(made.split())
    )


def test_a_perfect_line_is_json(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n0,0\n1,1\n2,2\n3,3\n")
    assert json.loads(invoke(str(path), "--response", "y", "--on", "x", "--json"))["r2"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "neither DATA nor --sums"),
        ((*ARGS, "--at", "9"), "--at: '9' is not NAME=VALUE"),
        ((*ARGS, "--at", "replica=9"), "lacks replicas"),
        ((*ARGS, "--new", "0"), "below 1"),
        ((*ARGS, "--new", "3"), "--new is for --at"),
        ((*ARGS, "--level", "0"), "confidence level"),
        ((CP, "--response", "real_s", "--on", "replica"), "unknown column 'replica'"),
        (("--sums", "none.json"), "cannot read none.json"),
        ((CP, "--sums", "x.json"), "both given"),
    ],
)
def test_wrong_input_is_one_sentence_with_a_cure(args, said):
    with pytest.raises((InputError, DataError)) as refused:
        invoke(*args)
    assert said in refused.value.message and refused.value.hint


@pytest.mark.parametrize("text", ["[1]", "{", '{"n": 3}'])
def test_sums_that_are_none_are_refused(tmp_path, text):
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(InputError):
        invoke("--sums", str(tmp_path / "s.json"))


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_the_four_plots_are_one_file(tmp_path, form):
    path = tmp_path / f"plots.{form}"
    invoke(*ARGS, "--plot", str(path))
    assert path.read_bytes()[:5].strip().startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[form])
    if form == "svg":
        text = path.read_text()
        titles = ("Fit", "Residuals by prediction", "Residuals by experiment number", "Normal Q–Q")
        assert all(title in text for title in titles)


def test_one_plot_alone_and_of_several_predictors(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{i % 3},{i % 4},{i * i % 7}\n" for i in range(24)))
    for kind in ("fit", "residuals", "order", "qq"):
        invoke(str(path), "--response", "y", "--on", "a,b", "--plot", str(tmp_path / "p.svg"), "--plot-kind", kind)
        text = (tmp_path / "p.svg").read_text()
        assert ("Normal Q–Q" in text) == (kind == "qq") and ("predicted" in text) == (kind in ("fit", "residuals"))


def test_a_plot_needs_a_figures_name_and_data(tmp_path, sums):
    with pytest.raises(InputError):
        invoke(*ARGS, "--plot", str(tmp_path / "p.doc"))
    with pytest.raises(InputError):
        invoke("--sums", sums, "--plot", str(tmp_path / "p.png"))


def test_the_bands_are_those_of_the_predictions():
    from iosonde.data.source import open_data
    from iosonde.stats.regression.model_plots import build_plot_data
    from iosonde.stats.regression.regress import regress as fit

    made = fit(open_data(CP).table, "real_s", ["replicas"], 0.9, at=[{"replicas": "3"}])
    data, last = build_plot_data(made.model, made.response), made.points[0].prediction
    assert (data["line"][-1], data["mean_low"][-1], data["high"][-1]) == pytest.approx(
        (last.fit, last.mean_low, last.high)
    )
    assert data["order"].tolist() == list(range(1, 25)) and data["residuals"].sum() == pytest.approx(0, abs=1e-9)


RATES = "clients,mib_s\n1,21\n2,39\n3,62\n4,81\n5,98\n6,300\n7,142\n8,159\n"


@pytest.fixture
def rates(tmp_path) -> tuple[str, ...]:
    path = tmp_path / "rates.csv"
    path.write_text(RATES)
    return (str(path), "--response", "mib_s", "--on", "clients")


@pytest.mark.parametrize("named", ["7", "influential", "7,influential"])
def test_rows_that_are_left_out_stand_beside_and_the_answer_stays(rates, named, tmp_path):
    whole, made = json.loads(invoke(*rates, "--json")), json.loads(invoke(*rates, "--without", named, "--json"))
    without = made.pop("without")
    assert made == whole
    assert (without["n"], without["left_out"]) == (7, [f"{tmp_path}/rates.csv, line 7"])
    (tmp_path / "cut.csv").write_text(RATES.replace("6,300\n", ""))
    alone = json.loads(invoke(str(tmp_path / "cut.csv"), *rates[1:], "--json"))
    assert without["terms"] == alone["terms"] and without["r2"] == alone["r2"]


def test_text_has_both_fits_within_80_columns(rates, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = invoke("rates.csv", *rates[1:], "--without", "7")
    assert "0.9990" in text and max(map(len, text.splitlines())) < 80


@pytest.mark.parametrize(
    ("named", "code"),
    [("99", "unknown-row"), ("2,3,4,5,6,7,8,9", "no-rows-remaining"), ("influental", "unknown-row")],
)
def test_rows_that_are_not_there_are_refused(rates, named, code):
    with raises(code):
        invoke(*rates, "--without", named)


def test_nothing_influential_is_said_and_sums_have_no_rows(rates, tmp_path, sums):
    (tmp_path / "good.csv").write_text(RATES.replace("6,300", "6,121"))
    with raises("unknown-row"):
        invoke(str(tmp_path / "good.csv"), *rates[1:], "--without", "influential")
    with raises("option-requires-data"):
        invoke("--sums", sums, "--without", "7")


def test_the_figure_says_how_little_its_line_explains(tmp_path, rates):
    invoke(*ARGS, "--plot", str(tmp_path / "p.svg"), "--plot-kind", "fit")
    chance = re.search(r"R² = 0.04, ([^<.]+)", (tmp_path / "p.svg").read_text())[1]
    invoke(*rates, "--plot", str(tmp_path / "q.svg"), "--plot-kind", "fit")
    text = (tmp_path / "q.svg").read_text()
    assert "R² = 0.52" in text and chance not in text and "95 % " in text
