"""The thesis's results file out of a store, its bar plots, and what commands printed."""

import json
import re

import pytest
from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.core.types import Observation, Run
from iosonde.store import Store

# Dobrescu-Balau (2014), section 4.1: an N-to-1 read of two nodes by IOzone, kB/s.
INDIVIDUAL = [{"re-reader": 728699, "reader": 721448}, {"re-reader": 704672, "reader": 624046}]
TOTAL = {"re-reader": 1433371, "reader": 1345494}
OURS = {"re-reader": "reread", "reader": "read"}


def rows(individual, scale=1024.0):
    made = [
        Observation(OURS.get(name, name), "bandwidth_own", value * scale, "bytes/s", rank)
        for rank, values in enumerate(individual)
        for name, value in values.items()
    ]
    names = dict.fromkeys(name for values in individual for name in values)
    totals = {name: sum(one[name] for one in individual) * scale for name in names}
    return made + [
        Observation(OURS.get(name, name), "bandwidth_sum_of_ranks", value, "bytes/s") for name, value in totals.items()
    ]


def phase(ranks, parse="iozone"):
    about = {"exit_code": 0, "signal": None, "ended_by": "", "left": 0}
    return {
        "index": 0,
        "name": "step-02",
        "operation": "step-02",
        "command": "iozone",
        "parse": parse,
        "tools": ["iozone"],
        "ranks": [
            {"rank": rank, "host": f"n{rank}", "output": f"step-02-rank-{rank:04d}.out", **about}
            for rank in range(ranks)
        ],
    }


def run(name, individual, repetition=0, **more):
    factors = {"nodes": len(individual), "ranks_per_node": 1, "repetition": repetition, **more.pop("factors", {})}
    return Run(
        name,
        "e",
        "iosonde commands",
        f"2026-11-21T10:00:0{repetition}Z",
        1.0,
        factors,
        rows(individual),
        phases=[phase(len(individual))],
        **more,
    )


@pytest.fixture
def store(tmp_path):
    return Store.create(tmp_path / "store")


def call(*words):
    return CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=True)


def thesis(store, *more):
    done = call("show", store.path, "--thesis-json", *more)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_single_rank_has_the_tools_own_number_as_total(store):
    made = run("a", INDIVIDUAL[:1])
    own = ("bandwidth_last_done", "bandwidth")  # an operation's clock may have no name
    names = dict(zip(OURS.values(), own, strict=True))
    made.observations = [row for row in made.observations if row.rank is not None] + [
        Observation(OURS[name], names[OURS[name]], value * 1024.0, "bytes/s") for name, value in INDIVIDUAL[0].items()
    ]
    made.observations.append(
        Observation("read", "bandwidth_last_done", 1.0, "bytes/s", None, 0, None, "command")  # with its start
    )
    store.append(made)
    entry = thesis(store)["1"]
    assert entry["total"] == INDIVIDUAL[0] and entry["individual"] == INDIVIDUAL[:1]


def test_the_published_results_file_is_written_from_its_individual_part(store):
    store.append(run("a", INDIVIDUAL))
    document = thesis(store)
    assert document["2"]["total"] == TOTAL
    assert document["2"]["individual"] == INDIVIDUAL
    assert document["2"]["units"] == {"re-reader": "kB/s", "reader": "kB/s"}
    assert document.keys() == {"2"}
    assert "repetitions" not in document["2"]


def test_a_series_with_repetitions_has_means_and_every_repetition(store):
    for repetition, scale in enumerate((1, 3)):
        for nodes in (1, 2):
            one = [{"reader": 100 * scale * (rank + 1)} for rank in range(nodes)]
            store.append(run(f"r{repetition}-{nodes}", one, repetition))
    store.append(run("broken", [{"reader": 1}], 2, missing=["rank 0 died"]))
    document = thesis(store)
    assert document["1"]["total"] == {"reader": 200}
    assert document["2"] == {
        "total": {"reader": 600},
        "individual": [{"reader": 200}, {"reader": 400}],
        "units": {"reader": "kB/s"},
        "repetitions": [
            {"total": {"reader": 300}, "individual": [{"reader": 100}, {"reader": 200}]},
            {"total": {"reader": 900}, "individual": [{"reader": 300}, {"reader": 600}]},
        ],
    }


def test_levels_of_other_factors_are_in_the_metrics_name(store):
    for size in (4, 8):
        store.append(run(f"s{size}", [{"reader": size}], factors={"record_size": size}))
    assert thesis(store)["1"]["total"] == {"reader record_size=4": 4, "reader record_size=8": 8}


def test_of_a_command_that_ran_once_its_own_numbers_are_the_total(store):
    """An MPI program in a single step; two kinds of one operation stay apart."""
    single = run("a", [{"reader": 1}])
    single.observations = [
        Observation("stat", "rate_mean", 7.0, "operations/s"),
        Observation("stat", "rate_sd", 2.0, "operations/s"),
        Observation("copy", "rate_last_done", 5.0, "operations/s"),
        Observation("copy", "bandwidth_last_done", 2048.0, "bytes/s"),
        Observation("copy", "seconds", 3.0, "s"),
    ]
    store.append(single)
    made = thesis(store)["1"]
    assert list(made) == ["total", "individual", "units"] and made["individual"] == []
    assert list(made["total"].values()) == [7, 5, 2] and made["total"]["stat"] == 7
    assert made["units"] == dict(zip(made["total"], ("operations/s", "operations/s", "kB/s"), strict=True))


def test_names_are_iozones_only_where_iozone_was_read_and_a_whole_step_is_no_metric(store):
    """parse: auto read something else: its own names stay. The rate of the step itself is beside its operations."""
    for name, tool in (("a", "iozone"), ("b", "fio")):
        made = run(name, [{"reader": 1}], factors={"tool": tool})
        made.phases = [{**phase(1, "auto"), "on": "all", "tools": [tool]}]
        made.observations.append(Observation("step-02", "bandwidth_last_done", 1024.0, "bytes/s"))
        store.append(made)
    assert thesis(store)["1"]["total"] == {"reader tool=iozone": 1, "read tool=fio": 1}


def test_a_store_and_its_results_file_give_the_same_picture(store, tmp_path):
    for repetition, scale in enumerate((1.0, 1.1, 0.9)):
        store.append(
            run(f"a{repetition}", [{name: int(v * scale) for name, v in one.items()} for one in INDIVIDUAL], repetition)
        )
    call("show", store.path, "--thesis-json", "-o", tmp_path / "r.json")
    for source, name in ((store.path, "a.svg"), (tmp_path / "r.json", "b.svg")):
        assert call("plot", source, "--bars", "-o", tmp_path / name).exit_code == 0
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_what_every_node_printed_can_be_taken_apart_again(store):
    outputs = [b"one\n", b"no end", bytes(range(256)) * 3 + b"==> not a head <=="]
    raw = {f"step-02-rank-{rank:04d}.out": content for rank, content in enumerate(outputs)}
    store.append(run("a", [{"reader": 1}] * 3, raw=raw))
    whole = call("show", store.path, "a", "--printed").stdout_bytes
    found, at = [], 0
    while at < len(whole):
        head = re.match(rb"==> step-02 rank (\d) on n\d: exit 0, (\d+) bytes <==\n", whole[at:])
        size = int(head[2])
        content = whole[at + head.end() :][:size]
        found.append(content)
        at += head.end() + size + (not content.endswith(b"\n"))
    assert found == outputs
    only = call("show", store.path, "a", "--printed", "--rank", "1").stdout_bytes
    assert only == b"==> step-02 rank 1 on n1: exit 0, 6 bytes <==\nno end\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--printed"], "--printed needs a run"),
        (["a", "--rank", "1"], "--rank needs --printed"),
        (["a", "--printed", "--json"], "have one form"),
        (["a", "--printed", "--rank", "7"], "rank 7 of run a"),
        (["--thesis-json", "--export", "csv"], "have one form"),
        (["--thesis-json", "--where", "nodes=9"], "has no such runs"),
    ],
)
def test_what_cannot_be_shown_is_said(store, words, said):
    store.append(run("a", [{"reader": 1}], raw={"step-02-rank-0000.out": b"x"}))
    done = call("show", store.path, *words)
    assert said in getattr(done.exception, "message", "")
