"""``iosonde fit``, ``predict``, ``validate``: keys that others rely on, text, figures, and wrong input."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import declared_sample
import pytest
from click.testing import CliRunner

from iosonde.core.errors import DataError, InputError
from iosonde.core.types import Experiment, Factor, Observation, Run
from iosonde.core.verdict import VerdictState
from iosonde.store import Store
from messages import raises
from terminal import command_of

fit = command_of("fit")
predict = command_of("predict")
validate = command_of("validate")

COMMANDS = {"fit": fit, "predict": predict, "validate": validate}
RATE = "speed (MB/s)"
CHOSEN = "loglinear"


def invoke(name: str, *args: str) -> str:
    made = CliRunner().invoke(COMMANDS[name], list(args), catch_exceptions=False, standalone_mode=False)
    return made.stdout


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> str:
    """32 settings, two repeats each; size doubles, fs is text."""
    path = tmp_path_factory.mktemp("fit") / "runs.csv"
    rows = [
        f"{2**s},{fs},{20 + 3 * s + 15 * i + 0.01 * ((7 * s + 3 * i + 5 * r) % 11)}"
        for s in range(10, 18)
        for i, fs in enumerate(("ext4", "nfs", "xfs", "zfs"))
        for r in range(2)
    ]
    path.write_text("\n".join([f"size,fs,{RATE}", *rows]) + "\n")
    return str(path)


@pytest.fixture(scope="module")
def model(runs, tmp_path_factory) -> str:
    path = str(tmp_path_factory.mktemp("model") / "m.json")
    invoke("fit", runs, *ARGS, "--family", "linear", "--terms", "log2(size),fs", "-o", path)
    return path


ARGS = ("--response", "speed", "--on", "size,fs")


def test_fit_has_every_promised_key(runs):
    made = json.loads(invoke("fit", runs, *ARGS, "--family", "mean,linear,tree", "--folds", "4", "--json"))
    assert {"r2", "mae", "mae_low", "mae_high", "folds", "tried", "nested", "noise", "seed", "form"} <= set(made)
    assert {"name", "n_train", "n_test", "mae", "relative", "class_error", "r2"} <= set(made["folds"][0])
    assert [one["family"] for one in made["tried"]] == ["mean", "linear", "tree"]
    assert (made["n"], made["n_settings"], len(made["folds"])) == (64, 32, 4)


def test_validate_has_every_promised_key(runs):
    made = json.loads(invoke("validate", runs, *ARGS, "--family", "linear,tree", "--folds", "4", "--curve", "--json"))
    assert {"r2", "mae", "folds", "models", "noise", "curve", "crossings", "how"} <= set(made)
    assert [one["model"] for one in made["models"]] == ["linear", "tree"]
    assert set(made["curve"][0]) == {"n_train", "mae"} and set(made["curve"][0]["mae"]) == {"linear", "tree"}


def test_predict_has_every_promised_key(model):
    made = json.loads(invoke("predict", model, "size=4096", "fs=nfs", "--json"))
    assert {"fit", "low", "high", "extrapolated", "level", "predictions"} <= set(made)
    assert made["fit"] == pytest.approx(20 + 36 + 15, abs=0.1) and made["low"] <= made["fit"] <= made["high"]
    beyond = json.loads(invoke("predict", model, "size=200000", "fs=nfs", "--json"))
    assert beyond["extrapolated"] and beyond["low"] is None


def test_what_was_predicted_from_the_file_is_what_was_fitted(runs, model):
    said = json.loads(invoke("predict", model, "--data", runs, "--json"))["predictions"]
    assert len(said) == 64
    judged = json.loads(invoke("validate", runs, "--model", model, "--json"))
    assert judged["r2"] > 0.999 and judged["n_intervals"] == 64 and judged["coverage"] >= 0.95


def test_the_coverage_of_intervals_counts_settings_and_not_their_trials(model, tmp_path):
    """Of eight settings one is missed, by all of its 12 trials: an eighth of eight, and not of 96."""
    sizes = [
        (2**s, fs, 20 + 3 * s + 15 * i + 90 * (s == 12 and i))
        for s in range(10, 14)
        for i, fs in enumerate(("ext4", "nfs"))
    ]
    rows = [f"{size},{fs},{speed + 0.005 * r}" for size, fs, speed in sizes for r in range(12)]
    (tmp_path / "new.csv").write_text("\n".join([f"size,fs,{RATE}", *rows]) + "\n")
    made = json.loads(invoke("validate", str(tmp_path / "new.csv"), "--model", model, "--json"))
    assert (made["n_intervals"], made["n_covered"], made["coverage_settings"]) == (96, 84, 8)
    assert made["coverage_low"] < 0.5 and made["coverage_high"] > made["level"]
    text = " ".join(invoke("validate", str(tmp_path / "new.csv"), "--model", model).split())
    assert re.search(r"\b96 \w+ at 95 %, of 8 settings, 84 .*: 87\.5 %", text)
    (tmp_path / "one.csv").write_text("\n".join([f"size,fs,{RATE}", *rows[:12]]) + "\n")
    text = " ".join(invoke("validate", str(tmp_path / "one.csv"), "--model", model).split())
    assert re.search(r" of 1 setting, 12 .*: 100\.0 %", text)
    one = json.loads(invoke("validate", str(tmp_path / "one.csv"), "--model", model, "--json"))
    assert (one["n_covered"], one["coverage_settings"], one["coverage_low"]) == (12, 1, None)


def test_a_stored_model_has_no_figure_and_that_is_said(runs, model):
    with raises("conflicting-options"):
        invoke("validate", runs, "--model", model, "--plot", "unseen.svg")


@pytest.mark.parametrize(
    "args",
    [
        ("fit", *ARGS, "--family", "mean,linear,tree", "--folds", "4"),
        ("fit", *ARGS, "--family", "linear"),
        ("fit", *ARGS, "--family", "tree depth=2", "--rules"),
        ("fit", *ARGS, "--family", "forest trees=3", "--rules"),
        ("fit", *ARGS, "--family", "tree", "--together", "rows"),
        ("validate", *ARGS, "--family", "linear,tree", "--split", "0.75"),
        ("validate", *ARGS, "--family", "tree", "--inverse", "--folds", "4"),
        ("validate", *ARGS, "--family", "tree", "--leave-out", "fs"),
        ("validate", *ARGS, "--family", "linear,tree", "--curve"),
    ],
)
def test_text_fits_a_terminal_and_ends_with_a_sentence(runs, args):
    text = invoke(args[0], runs, *args[1:])
    assert max(map(len, text.splitlines())) < 80 and text.rstrip().endswith(".")


def test_text_of_predictions_fits_a_terminal(runs, model):
    for text in (
        invoke("predict", model, "size=3000", "fs=nfs"),
        invoke("predict", model, "--data", runs),
        invoke("validate", runs, "--model", model),
    ):
        assert max(map(len, text.splitlines())) < 80
    assert invoke("predict", model, "size=3000,fs=nfs") == invoke("predict", model, "size=3000", "fs=nfs")


def test_a_prediction_of_a_tree_says_how_many_rows_it_comes_from(runs, tmp_path):
    place = str(tmp_path / "tree.json")
    invoke("fit", runs, *ARGS, "--family", "tree depth=2", "-o", place)
    made = json.loads(invoke("predict", place, "size=3000", "fs=nfs", "--json"))
    assert made["n_alike"] > 3
    assert re.search(rf"\bleaf\b.* {made['n_alike']} rows", invoke("predict", place, "size=3000", "fs=nfs"))
    every = invoke("predict", place, "--data", runs)
    assert len(re.findall(r"\bleaf\b.* \d+ ", every)) == 64 and max(map(len, every.splitlines())) < 80


def test_a_text_says_rates_of_a_store_in_units_that_people_read(tmp_path):
    place = str(tmp_path / "s")
    declared_sample.store(place)
    chosen = ("--where", "operation=write", "--where", "fs=nfs", "--experiment", "old", "--family", "linear,mean")
    made, judged = invoke("fit", place, *chosen, "-o", str(tmp_path / "m.json")), invoke("validate", place, *chosen)
    for text in (made, judged):
        assert "error, MiB/s" in text and "e+0" not in text
    assert re.search(r"by\s[\d.]+\sMiB/s", judged)
    said = invoke("predict", str(tmp_path / "m.json"), "nodes=4")
    assert "write bandwidth_last_done in MiB/s by" in said and re.search(r"^\d{3}\.\d ", said, re.MULTILINE)


def test_numbers_of_a_table_are_levels_where_the_model_has_text(tmp_path):
    path, new, file = tmp_path / "t.csv", tmp_path / "new.csv", str(tmp_path / "m.json")
    path.write_text("buffer,y\n" + "".join(f"{('off', 4194304)[i % 2]},{i % 2 + i / 100}\n" for i in range(24)))
    invoke("fit", str(path), "--response", "y", "--on", "buffer", "--family", "tree", "--folds", "2", "-o", file)
    new.write_text("buffer\n4194304\n4194304\n")
    said = json.loads(invoke("predict", file, "--data", str(new), "--json"))["predictions"]
    assert [one["at"] for one in said] == [{"buffer": "4194304"}] * 2


def test_a_stored_model_describes_itself(model):
    text = invoke("predict", model, "--describe")
    assert max(map(len, text.splitlines())) < 80 and text.rstrip().endswith(" rank.")
    assert "1024 to 131072, 8 " in text and re.search(r" log2\(size\), .*speed \(MB/s\): 3", text)
    made = json.loads(invoke("predict", model, "--describe", "--json"))
    assert made["shares"].keys() == {"size", "fs"} and sum(made["shares"].values()) == pytest.approx(1, abs=1e-3)
    assert made["errors"]["mae"] < 0.1 and [one["name"] for one in made["factors"]] == ["size", "fs"]


def test_negative_speeds_make_way_for_a_model_that_has_none():
    data = str(Path(__file__).parents[1] / "golden" / "data" / "what_matters.csv")
    args = (
        "fit",
        data,
        "--response",
        "write",
        "--on",
        "access,request_KiB,pattern,processes",
        "--folds",
        "5",
        "--family",
    )
    families = f"linear,{CHOSEN}"
    assert re.search(rf"^{CHOSEN} .*\(linear ", invoke(*args, families), re.MULTILINE | re.DOTALL)
    made = json.loads(invoke(*args, families, "--json"))
    assert (made["model"], made["passed_over"]) == (CHOSEN, ["linear"])
    alone = json.loads(invoke(*args, "linear", "--json"))
    assert alone["model"] == "linear" and alone["negative_share"]["linear"] > 0
    assert CHOSEN in invoke(*args, "linear")


def test_r2_of_the_fit_and_of_rows_not_seen_stand_apart(runs):
    text = invoke("fit", runs, *ARGS, "--family", "linear").replace("\n  ", " ")
    assert re.search(r"R² [^.]*: 0\.\d+ \(\w+ 0\.\d+\); of [a-z ]+: ", text)
    assert "accuracy" not in text


def test_no_better_than_the_mean_is_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{i % 8},{100 + (i * 7919 % 101)}\n" for i in range(40)))
    args = ("fit", str(path), "--response", "y", "--on", "a", "--family")
    for families, model in (("mean,linear,tree", "mean"), ("tree", "tree"), ("mean", "mean")):
        made = json.loads(invoke(*args, families, "--json"))
        (verdict,) = made["verdicts"]
        assert made["model"] == model and (verdict["claim"], verdict["state"]) == (model, VerdictState.INCONCLUSIVE)
    assert {"25.7", "26.3"} <= set(re.findall(r"\d+\.\d", invoke(*args, "tree").rpartition("\n\n")[2]))
    assert invoke(*args, "mean").rstrip().splitlines()[-1].startswith("mean: ")


def test_a_name_may_be_written_without_its_unit(tmp_path):
    path, file = tmp_path / "t.csv", str(tmp_path / "m.json")
    path.write_text("size (MB),y\n" + "".join(f"{i},{3 * i + i % 2}\n" for i in range(24)))
    invoke("fit", str(path), "--response", "y", "--on", "size", "--family", "linear", "-o", file)
    for text in ("size=4", "size=4MB", "size=4 MB", "size=4000kB", "size (MB)=4"):
        assert json.loads(invoke("predict", file, text, "--json"))["at"] == {"size (MB)": 4.0}
    with raises("extrapolation-too-far", low=0, high=23):
        invoke("predict", file, "size=4GB")
    with raises("duplicate-factor", factor="size (MB)"):
        invoke("predict", file, "size=4", "size (MB)=5")
    with pytest.raises(InputError) as refused:
        invoke("predict", file)
    assert refused.value.hint.endswith(f" predict {file} size=0")


def test_copies_and_assumptions_are_said(tmp_path):
    path = tmp_path / "t.csv"
    rows = [(a, mode, (a * 7919 % 101) + 0.137 * a) for a in range(30) for mode in "xy"]  # y copies x
    path.write_text("a,mode,speed\n" + "".join(f"{a},{mode},{y}\n" for a, mode, y in rows))
    args = ("fit", str(path), "--response", "speed", "--on", "a,mode", "--family", "tree")
    assert json.loads(invoke(*args, "--json"))["rows_with_twin"] == 60 and re.search(
        r"^60 rows ", invoke(*args), re.MULTILINE
    )
    curved = tmp_path / "c.csv"
    curved.write_text("a,speed\n" + "".join(f"{a},{100 * 2.0**-a + 0.01 * r}\n" for a in range(8) for r in range(4)))
    text = invoke("fit", str(curved), "--response", "speed", "--on", "a", "--family", "linear").replace("\n  ", " ")
    assert "S301" in text and " rank" in text and " below 0 " in text
    made = json.loads(invoke("fit", str(curved), "--response", "speed", "--on", "a", "--family", "linear", "--json"))
    assert made["negative_share"]["linear"] > 0 and "S301" in [f["code"] for f in made["linear_findings"]]


def test_a_what_if_that_breaks_a_constraint_is_refused(runs, tmp_path):
    file, args = str(tmp_path / "m.json"), (*ARGS, "--family", "linear", "--terms", "log2(size),fs")
    invoke("fit", runs, *args, "-o", file, "--constraint", "size <= '128KiB'")
    assert json.loads(invoke("predict", file, "size=4096", "fs=nfs", "--json"))["fit"] > 0
    with raises("constraint-violated", constraint="size <= '128KiB'"):
        invoke("predict", file, "size=140000", "fs=nfs")
    with raises("constraint-violated", constraint="size < 2000", setting="size=2048, fs=ext4"):
        invoke("fit", runs, *args, "--constraint", "size < 2000")
    with pytest.raises(InputError):
        invoke("fit", runs, *args, "--constraint", "__import__('os')")


@pytest.mark.parametrize("family", ["linear", "tree", "neighbours", "gaussian"])
def test_a_perfect_line_is_json(tmp_path, family):
    path, file = tmp_path / "t.csv", str(tmp_path / "m.json")
    path.write_text("a,b,y\n" + "".join(f"{i},{i % 3},{2 * i + i % 3}\n" for i in range(24)))
    args = ("fit", str(path), "--response", "y", "--on", "a,b", "--family", family)
    made = json.loads(invoke(*args, "--json", "-o", file))
    assert made["mae"] == 0 if family == "linear" else 0 < made["mae"] < 6
    assert json.loads(invoke("predict", file, "a=3", "b=0", "--json"))["fit"] is not None
    assert invoke(*args)


def test_two_settings_cannot_tell(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,2\n1,2.1\n1,2.3\n2,3\n2,3.2\n2,3.4\n")
    made = json.loads(invoke("fit", str(path), "--response", "y", "--on", "a", "--json"))
    assert [verdict["state"] for verdict in made["verdicts"]] == [VerdictState.NOT_TESTED]
    assert [one["family"] for one in made["tried"] if one["refused"]] == ["linear", "loglinear"]
    assert re.search(r"~ linear .*\n?.*3 of 6 rows", invoke("fit", str(path), "--response", "y", "--on", "a"))


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_figures_are_files(runs, tmp_path, form):
    one, two = (tmp_path / f"{name}.{form}" for name in ("fit", "validate"))
    invoke("fit", runs, *ARGS, "--family", "tree", "--plot", str(one))
    if form == "svg":
        invoke("validate", runs, *ARGS, "--family", "linear,tree", "--curve", "--plot", str(two))
        assert len(two.read_text()) > 1000 and "tree" in one.read_text()
    assert one.read_bytes()[:5].strip().startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[form])


def test_what_a_file_says_cannot_steer_a_terminal(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,f\x1b[31m,y\n" + "".join(f"{i},{'uv'[i % 2]}\x1b[2J,{i}\n" for i in range(24)))
    text = invoke("fit", str(path), "--response", "y", "--on", "a,f\x1b[31m", "--family", "tree", "--rules")
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("args", "code", "name"),
    [
        (("fit", "--response", "speed", "--on", "siz"), "unknown-column", "'siz'"),
        (("fit", *ARGS, "--family", "svm"), "unknown-family", "'svm'"),
        (("fit", *ARGS, "--family", "tree deep=3"), "unknown-family-option", "'deep'"),
        (("fit", *ARGS, "--family", "tree depth=x"), "not-a-number", "tree depth=x"),
        (("fit", *ARGS, "--family", "tree depth=-1"), "out-of-range", "tree depth=-1"),
        (("fit", *ARGS, "--family", "tree depth"), "invalid-option-value", "'depth'"),
        (("fit", *ARGS, "--family", ","), "empty-option-value", ""),
        (("fit", *ARGS, "--family", "tree", "--folds", "33"), "too-few-settings", "33"),
        (("fit", *ARGS, "--family", "tree", "--folds", "1"), "too-few-folds", "1 "),
        (("fit", *ARGS, "--family", "tree", "--folds", "0"), "too-few-folds", "0 "),
        (("fit", *ARGS, "--family", "linear", "--terms", "logg(size)"), "unknown-transform", "'logg'"),
        (("fit", *ARGS, "--family", "linear,tree", "--terms", "siez"), "unknown-column", "'siez'"),
        (("fit", *ARGS, "--family", "boosting trees=0"), "out-of-range", "boosting trees=0"),
        (("fit", *ARGS, "--family", "forest trees=20000"), "out-of-range", "forest trees=20000"),
        (("fit", *ARGS, "--family", "boosting rate=0"), "out-of-range", "boosting rate=0.0"),
        (("fit", *ARGS, "--family", "neighbours k=0"), "out-of-range", "neighbours k=0"),
        (("fit", *ARGS, "--family", "tree", "--plot", "x.doc"), "unknown-file-format", "x.doc"),
        (("fit", *ARGS, "--family", "tree", "-o", "/nowhere/m.json"), "unwritable-file", "/nowhere/m.json"),
        (("validate", *ARGS, "--inverse", "--split", "0.5"), "conflicting-options", "--split"),
        (("validate", *ARGS, "--leave-out", "rank"), "unknown-factor", "'rank'"),
        (("validate", *ARGS, "--model", "none.json"), "unreadable-file", "none.json"),
    ],
)
def test_wrong_input_is_one_sentence_with_a_cure(runs, args, code, name):
    with raises(code) as refused:
        invoke(args[0], runs, *args[1:])
    assert isinstance(refused.value, (InputError, DataError))
    assert name in refused.value.message and refused.value.hint and "\n" not in refused.value.message


def test_the_name_of_a_figure_is_looked_at_before_a_model_is_fitted(runs, tmp_path):
    model = tmp_path / "model.json"
    with raises("unknown-file-format"):
        invoke("fit", runs, *ARGS, "--family", "linear", "-o", str(model), "--plot", "x.doc")
    assert not model.exists()


@pytest.mark.parametrize(
    ("args", "code", "name"),
    [
        ((), "missing-setting", ""),
        (("size=4096", "--data", "x.csv"), "conflicting-options", "--data"),
        (("size=4096", "--describe"), "conflicting-options", "--describe"),
        (("size",), "invalid-assignment", "'size'"),
        (("size=1", "size=2"), "duplicate-name", "size"),
        (("size=4096",), "missing-factor-level", " fs"),
        (("size=4096", "fs=lustre"), "unknown-level", "fs=lustre"),
        (("size=big", "fs=nfs"), "not-a-number", "size=big"),
        (("size=nan", "fs=nfs"), "not-a-number", "size=nan"),
        (("size=1_000", "fs=nfs"), "not-a-number", "size=1_000"),
        (("size=4194304", "fs=nfs"), "extrapolation-too-far", "1024 to 131072"),
        (("size=4096", "fs=nfs", "x=1"), "unknown-factor", "'x'"),
    ],
)
def test_a_setting_that_cannot_be_is_one_sentence_with_a_cure(model, args, code, name):
    with raises(code) as refused:
        invoke("predict", model, *args)
    assert isinstance(refused.value, (InputError, DataError))
    assert name in refused.value.message and refused.value.hint


@pytest.mark.parametrize(
    ("rows", "code", "values"),
    [
        ("a,y\n1,2\n1,3\n", "single-level-factor", {"column": "a"}),
        ("a,y\n1,2\n2,2\n", "constant-response", {"response": "y"}),
        ("a,b,c,y\n1,2,1,4\n2,1,1,5\n3,5,2,9\n", "fit-failed", {}),
        ("a,y\n1,\n2,\n", "no-complete-rows", {"response": "y", "columns": "a"}),
    ],
)
def test_data_that_tell_nothing_are_one_sentence(tmp_path, rows, code, values):
    path = tmp_path / "t.csv"
    path.write_text(rows)
    on = rows.partition(",y\n")[0]
    with raises(code, DataError, **values):
        invoke("fit", str(path), "--response", "y", "--on", on, "--family", "linear")


def stored(tmp_path, constraints, measured):
    """A store with one experiment of these constraints; ``measured`` are (stripes, servers) of its runs."""
    store = Store.create(tmp_path / "s")
    factors = [
        Factor("stripes", levels=(1, 2, 4)),
        Factor("servers", levels=(1, 2, 4)),
        Factor("replicas", levels=(2,)),
        Factor("size", "bytes", (4096, 8192)),
    ]
    store.save_experiment(
        Experiment(
            "e", "e", factors, {"design": {"kind": "full", "constraints": constraints}}, [], 1, "2026-11-21T10:00:00Z"
        )
    )
    for number, ((stripes, servers), size) in enumerate(itertools.product(measured, (4096, 8192))):
        at = {"stripes": stripes, "servers": servers, "replicas": 2, "size": size}
        rate = Observation("write", "bandwidth", 1e6 * (3 * stripes + servers) + size, "bytes/s")
        store.append(Run(f"e-{number}", "e", "iosonde", f"2026-11-21T10:{number:02}:00Z", 1.0, at, [rate]))
    return str(tmp_path / "s")


def test_constraints_of_a_stored_experiment_are_taken_over(tmp_path):
    store = stored(tmp_path, ["stripes * replicas <= 2 * servers"], [(1, 1), (1, 2), (2, 2), (1, 4), (2, 4), (4, 4)])
    file, args = str(tmp_path / "m.json"), ("--response", "value", "--on", "stripes,servers,size", "--family", "linear")
    text = invoke("fit", store, *args, "-o", file)
    assert " 'stripes * 2 <= 2 * servers'" in text
    assert json.loads(invoke("predict", file, "stripes=2,servers=4,size=4KiB", "--json"))["unit"] == "bytes/s"
    with raises("constraint-violated", constraint="stripes * 2 <= 2 * servers"):
        invoke("predict", file, "stripes=4,servers=2,size=4KiB")
    made = json.loads(invoke("fit", store, *args, "--constraint", "size < '1MiB'", "--json"))
    assert made["constraints"] == ["size < '1MiB'", "stripes * 2 <= 2 * servers"]


@pytest.mark.parametrize(
    ("constraint", "on", "name"),
    [
        ("stripes <= servers", "stripes,size", " servers"),
        ("stripes > servers", "stripes,servers", "stripes > servers"),
        ("stripes.real > 1", "stripes,servers", "'stripes.real'"),
    ],
)
def test_a_constraint_that_is_not_taken_over_is_said(tmp_path, constraint, on, name):
    store = stored(tmp_path, [constraint], [(1, 1), (1, 2), (2, 2), (1, 4), (2, 4), (4, 4)])
    made = json.loads(invoke("fit", store, "--response", "value", "--on", on, "--family", "mean", "--json"))
    assert made["constraints"] == [] and any(name in warning for warning in made["warnings"])


def test_a_constraint_on_other_factors_alone_is_no_matter(tmp_path):
    store = stored(tmp_path, ["servers > 0"], [(1, 1), (1, 2), (2, 2), (1, 4), (2, 4), (4, 4)])
    made = json.loads(invoke("fit", store, "--response", "value", "--on", "stripes", "--family", "mean", "--json"))
    assert made["constraints"] == [] and not any("> 0" in text for text in made["warnings"])
