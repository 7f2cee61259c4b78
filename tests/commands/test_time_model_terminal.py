"""``iosonde time-model``: parts, diagnosis, fits to data, what is refused."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

from iosonde.core.errors import IosondeError
from iosonde.model.time_model import TimePart, build_conditions, fit_mixture
from terminal import command_of

command = command_of("time-model")

SIZE = 262144
PARTS = [
    TimePart("m", 0.3e-6),
    TimePart("p", 0, 1e10),
    TimePart("n", 50e-6, 125e6),
    TimePart("c", 0, 2e9),
    TimePart("d", 8e-3, 150e6),
]
OPTIONS = (
    "--mode-switch",
    "0.3us",
    "--copy",
    "10GB/s",
    "--network",
    "125MB/s",
    "--network-latency",
    "50us",
    "--device-copy",
    "2GB/s",
    "--device",
    "150MB/s",
    "--prepare",
    "8ms",
)


def invoke(*args: str) -> str:
    done = CliRunner().invoke(command, list(args), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*args: str) -> str:
    with pytest.raises(IosondeError) as error:
        CliRunner().invoke(command, list(args), catch_exceptions=False)
    assert error.value.exit_code == 2 and error.value.hint
    return f"{error.value.message} ({error.value.hint})"


@pytest.mark.parametrize(("observed", "beyond"), [("11ms", False), ("24ms", False), ("25ms", True), ("5s", True)])
def test_a_time_that_no_condition_explains_is_said(observed, beyond):
    # Uncached takes 12.05 ms.
    args = ("--size", "256KiB", *OPTIONS, "--observed", observed)
    assert bool(re.search(r"\bbeyond\b", invoke(*args))) == beyond
    assert json.loads(invoke(*args, "--json"))["diagnosis"][0]["beyond"] == beyond


def test_the_command_prints_parts_diagnosis_and_limits():
    text = invoke("--size", "256KiB", "--observed", "0.5us,30us,2.5ms,11ms", *OPTIONS)
    assert "uncached" in text and "mixed" in text and max(map(len, text.splitlines())) < 80
    made = json.loads(invoke("--size", "256KiB", "--observed", "2.5ms", *OPTIONS, "--json"))
    assert made["diagnosis"][0]["condition"] == "server_cached" and made["times"][0]["best_s"] == pytest.approx(0.3e-6)
    assert made["times"][0]["conditions"][3]["parts"]["d"] == pytest.approx(9.747627e-3)


def test_parts_from_a_file(tmp_path):
    path = tmp_path / "parts.yaml"
    path.write_text("m: 0.3us\np: {memory: 10GB/s, numa: 5GB/s}\nn: {bandwidth: 125MB/s, latency: 50us}\n")
    made = json.loads(invoke("--size", "256KiB", "--parts", str(path), "--json"))
    cached = [f"{where}_cached ({place})" for where in ("client", "server") for place in ("memory", "numa")]
    assert [one["condition"] for one in made["times"][0]["conditions"]] == ["discard", *cached]


def test_lines_are_fitted_to_data_by_condition(tmp_path):
    rng, rows = np.random.default_rng(3), ["size,time_us,state"]
    for name, fixed, rate in (("cached", 1, 10e9), ("remote", 50, 125e6)):
        for size in (4096, 65536, 1048576):
            rows += [f"{size},{fixed + size / rate * 1e6 + rng.normal(0, 0.05):.4f},{name}" for _ in range(5)]
    path = tmp_path / "ops.csv"
    path.write_text("\n".join(rows) + "\n")
    args = (str(path), "--response", "time_us", "--on", "size", "--by", "state")
    made = json.loads(invoke(*args, "--size", "1MiB", "--observed", "8ms", "--json"))
    assert made["diagnosis"][0]["condition"] == "remote"
    assert made["lines"][1]["fixed_s_low"] < 50e-6 < made["lines"][1]["fixed_s_high"]
    assert "remote" in invoke(*args) and "MiB/s" in invoke(*args)


@pytest.mark.parametrize(
    ("args", "word"),
    [
        ([], "--parts"),
        (["--copy", "10GB/s"], "--size"),
        (["--copy", "10", "--size", "4k"], "--copy"),
        (["--prepare", "8x", "--size", "4k"], "--prepare"),
        (["--copy", "0GB/s", "--size", "4k"], "above 0"),
        (["--copy", "1GB/s", "--size", "4k,8k", "--observed", "1ms"], "one --size"),
        (["--copy", "1GB/s", "--size", "4k", "--only", "cached"], "client_cached"),
        (["--copy", "1GB/s", "--size", "4k", "--only", "server_cached"], "none of server_cached"),
        (["--parts", "/nowhere", "--size", "4k"], "/nowhere"),
    ],
)
def test_bad_input_is_one_sentence(args, word):
    assert word in refused(*args)


def test_a_file_with_a_mistake_names_its_line(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("m: 1us\nq: 3\n")
    assert "x.yaml:2: q" in refused("--parts", str(path), "--size", "4k")
    path.write_text("n: {bandwidth: 10, latency: 1us}\n")
    assert "x.yaml:1: n" in refused("--parts", str(path), "--size", "4k")
    path.write_text("n: {bandwidth: 1GB/s, prepare: 1us}\n")
    assert "no 'prepare'" in refused("--parts", str(path), "--size", "4k")
    path.write_text("m: 1us\np: {memory: {}}\n")
    assert "x.yaml:2: p (memory)" in refused("--parts", str(path), "--size", "4k")


def test_a_time_between_two_conditions_may_be_a_mixture():
    found = build_conditions(PARTS)
    made = fit_mixture(found, SIZE, 0.75 * 26.5144e-6 + 0.25 * 2173.6664e-6)
    assert (made.faster, made.slower) == ("client_cached", "server_cached") and made.share == pytest.approx(0.25)
    assert fit_mixture(found, SIZE, 1.0) is None
    text = invoke("--size", "256KiB", "--observed", "563us,1s", *OPTIONS, "--mixture")
    assert re.search(r"75 % client_cached \w+ 25 % server_cached", text) and "1.00 s " in text


def test_operations_that_no_condition_explains_are_said(tmp_path):
    (tmp_path / "ops.csv").write_text("size,time_us\n" + "262144,30\n" * 3 + "262144,99999\n")
    text = " ".join(invoke(str(tmp_path / "ops.csv"), "--response", "time_us", "--on", "size", *OPTIONS).split())
    assert "25.0 % (" in text
    (tmp_path / "ops.csv").write_text("size,time_us\n262144,30\n262144,-1\n")
    assert "line 3" in refused(str(tmp_path / "ops.csv"), "--response", "time_us", "--on", "size", *OPTIONS)


def test_rows_of_a_table_are_put_to_conditions(tmp_path):
    rows = ["size_KiB,time_us,run"] + [f"256,{us},a" for us in (0.4, 30, 30, 12000)] + ["256,2000,b"]
    (tmp_path / "x.csv").write_text("\n".join(rows) + "\n")
    args = (str(tmp_path / "x.csv"), "--response", "time_us", "--on", "size_KiB", "--by", "run", *OPTIONS)
    made = json.loads(invoke(*args, "--json"))
    a, b = ({c["condition"]: c["share"] for c in group["conditions"]} for group in made["groups"])
    assert a == {"discard": 0.25, "client_cached": 0.5, "server_cached": 0, "uncached": 0.25}
    assert b["server_cached"] == 1
    assert "a: 4 operations" in invoke(*args)


def test_operations_of_a_store_are_put_to_conditions(tmp_path):
    pytest.importorskip("iosonde.engine._native")
    from bound_sample import store

    store(tmp_path / "s", 3)
    made = json.loads(
        invoke(
            str(tmp_path / "s"),
            "--copy",
            "10GB/s",
            "--device-copy",
            "10GB/s",
            "--device",
            "500MB/s",
            "--prepare",
            "25ms",
            "--json",
        )
    )
    (group,) = made["groups"]
    shares = {one["condition"]: one["share"] for one in group["conditions"]}
    # 2 ms writes are nearest to the cache, the 30 ms ones (1 in 100) to the device.
    assert shares["client_cached"] == pytest.approx(0.99) and shares["uncached"] == pytest.approx(0.01)
    assert group["lost"]["n"] == 3 and 0.9 < group["lost"]["value"] <= 1
