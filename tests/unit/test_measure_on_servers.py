"""``on: servers``: a step runs on every server by ssh, all at once, and fails where it fails on one."""

from __future__ import annotations

import os

import pytest

from iosonde.campaign.campaign import build_campaign
from iosonde.campaign.plan import plan_campaign
from iosonde.campaign.request import Request
from iosonde.campaign.run import run_campaign
from iosonde.commands.plan.text import lines
from iosonde.core.errors import IncompleteError
from iosonde.core.problems import SpecError
from iosonde.store import Store

FILE = """
target: t
servers: [s1, s2]
factors: {width: [4, 8]}
repetitions: 1
set_up:
  - command: 'echo $IOSONDE_SERVER ${width} "it''s $IOSONDE_WIDTH" >> LOG; [ $IOSONDE_SERVER != BAD ]'
    on: servers
steps: ['echo ${width}']
"""
# Stands in for ssh: notes the host, runs the command here.
SSH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do case $1 in -o) shift 2 ;; *) shift ;; esac; done
[ "$1" = gone ] && { echo "ssh: could not resolve $1" >&2; exit 255; }
shift; exec sh -c "$*"
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ssh").write_text(SSH)
    (tmp_path / "bin" / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return tmp_path


def asked(here, text=FILE, bad="none"):
    (here / "x.yaml").write_text(text.replace("LOG", str(here / "log")).replace("BAD", bad))
    return Request(what="x.yaml", store="store", seed=1)


@pytest.mark.slow
def test_it_runs_on_every_server_before_each_trial(here):
    run_campaign(asked(here)).check()
    said = sorted((here / "log").read_text().splitlines())
    assert said == [f"{server} {width} it's {width}" for server in ("s1", "s2") for width in (4, 8)]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "bad"), [(FILE, "s2"), (FILE.replace("s2]", "gone]"), "none")])
def test_a_server_where_it_failed_is_named(here, text, bad):
    with pytest.raises(IncompleteError):
        run_campaign(asked(here, text, bad)).check()
    name = "gone" if "gone" in text else "s2"
    assert all(f"{name}: " in one["missing"][0] for one in Store.open("store").runs())


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (FILE.replace("servers: [s1, s2]\n", ""), "set_up[0].on"),
        (FILE.replace("s2]", "-oProxyCommand=x]"), "servers[1]"),
        (FILE.replace("    on: servers\n", ""), "servers"),
    ],
)
def test_what_cannot_be_meant_is_refused(here, text, key):
    with pytest.raises(SpecError) as caught:
        build_campaign(asked(here, text))
    assert [problem.key for problem in caught.value.problems] == [key]


def test_the_plan_says_where_and_the_experiment_keeps_them(here):
    made = plan_campaign(asked(here))
    assert "s1, s2" in "\n".join(lines(made))
    assert made.campaign.identity()["servers"] == ["s1", "s2"]
