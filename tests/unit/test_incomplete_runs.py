"""Runs that lack something stay out of every number until --incomplete asks for them; then each answer says so."""

from __future__ import annotations

import shlex

import numpy as np
import pytest
from click.testing import CliRunner
from stats_sample import run

from iosonde.cli.group import cli
from iosonde.core.errors import IosondeError
from iosonde.store import Store

SAID = "incomplete and included on request"
RATE = "--response 'create rate_last_done'"
QUESTIONS = [
    f"rank DATA {RATE}",
    f"regress DATA {RATE} --on nodes",
    f"anova DATA {RATE} --on nodes",
    f"scale DATA --on nodes {RATE}",
    f"fit DATA {RATE} --on nodes --family linear -o MODEL",
    f"validate DATA {RATE} --on nodes --family linear",
    "compare DATA --group nodes 1 2",
    "compare DATA DATA",
    "bound DATA --net 1GB/s",
    f"advise DATA --choose nodes {RATE}",
    "plot DATA --json",
    "plot DATA --json --kind percentiles",
    "diagnose DATA",
    "time-model DATA --copy 10GB/s",
]


def filled(path, incomplete):
    """Six trials of one, two and four nodes; those of ``incomplete`` (a test of repetition and nodes) lack a rank."""
    made, rng = Store.create(path), np.random.default_rng(1)
    for repetition in range(6):
        for nodes in (1, 2, 4):
            lacks = {"missing": ["rank 0 on n1: killed"]} if incomplete(repetition, nodes) else {}
            one = run(2 if nodes == 4 else nodes, repetition, rng, id=f"x-{nodes}-{repetition}", **lacks)
            one.factors |= {"nodes": nodes, "ranks": nodes}
            made.append(one)
    return path


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    own = tmp_path_factory.mktemp("incomplete")
    return {
        "DATA": filled(own / "part", lambda repetition, nodes: repetition > 3 and nodes < 4),
        "NONE": filled(own / "none", lambda *_: True),
        "MODEL": own / "model.json",
    }


def asked(line, places):
    done = CliRunner().invoke(cli, [str(places.get(word, word)) for word in shlex.split(line)])
    error = done.exception
    told = [error.message, f"hint: {error.hint}"] if isinstance(error, IosondeError) else []
    return done.exit_code, " ".join(" ".join([done.output, *told]).split())


@pytest.mark.long
@pytest.mark.parametrize("line", QUESTIONS, ids=[" ".join(line.split()[:4]) for line in QUESTIONS])
def test_every_answer_says_how_many_are_incomplete(line, places):
    code, said = asked(f"{line} --incomplete", places)
    assert code in (0, 1) and SAID in said
    assert SAID not in asked(line, places)[1]


def test_verify_looks_at_them_where_they_are_asked_for(places):
    assert [asked(f"verify DATA{more}", places)[1].split()[0] for more in ("", " --incomplete")] == ["14", "18"]
