"""``iosonde bound --waterfall`` of a store, and its figures."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from terminal import command_of


@pytest.fixture
def place(tmp_path) -> str:
    pytest.importorskip("iosonde.engine._native")
    from bound_sample import store

    store(tmp_path / "s", 3)
    return str(tmp_path / "s")


def invoke(*args: str) -> str:
    command = command_of("bound")

    done = CliRunner().invoke(command, list(args), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_command_shows_the_waterfall_of_a_store(place):
    made = json.loads(invoke(place, "--servers", "2", "--net", "1GB/s", "--waterfall", "--json"))
    (fall,) = made["waterfalls"]
    seconds = {part["name"]: part["seconds"] for part in fall["parts"]}
    assert seconds["late_start"] == pytest.approx(0.0255) and fall["n"] == 3
    assert seconds["fsync_close"] == pytest.approx(0.041) and seconds["rest"] == pytest.approx(200 * 21e-6)
    assert seconds["tail"] == pytest.approx(2 * 28e-3, abs=1e-4)  # 4 of the 400 writes of both ranks
    assert sum(seconds.values()) == pytest.approx(fall["delivered_s"]["value"])
    text = invoke(place, "--servers", "2", "--net", "1GB/s", "--waterfall")
    assert re.search(r"\blate\b", text) and re.search(r"\blost\b", text)
    assert max(map(len, text.splitlines())) < 80


@pytest.mark.parametrize("kind", ["roofline", "waterfall"])
@pytest.mark.parametrize("form", ["png", "svg"])
def test_figures_are_drawn(place, tmp_path, kind, form):
    path = tmp_path / f"x.{form}"
    invoke(place, "--net", "1MB/s", "--plot", str(path), "--plot-kind", kind)
    first = path.read_bytes()
    assert len(first) > 4000
    invoke(place, "--net", "1MB/s", "--plot", str(path), "--plot-kind", kind)
    assert path.read_bytes() == first


def test_a_roofline_by_hand_against_servers_and_request(tmp_path):
    args = (
        "--net",
        "1GB/s",
        "--disks",
        "8",
        "--disk",
        "100MB/s",
        "--latency",
        "1ms",
        "--request",
        "64KiB",
        "--plot",
        str(tmp_path / "x.svg"),
    )
    for against in ("servers", "request"):
        invoke(*args, "--against", against)
        assert b"latency" in (tmp_path / "x.svg").read_bytes()


def test_a_waterfall_needs_a_store_and_a_figure_a_format(place):
    command = command_of("bound")
    from iosonde.core.errors import InputError

    for args in (["--servers", "2", "--net", "1GB/s", "--waterfall"], [place, "--net", "1MB/s", "--plot", "x.gif"]):
        with pytest.raises(InputError):
            CliRunner().invoke(command, args, catch_exceptions=False)
