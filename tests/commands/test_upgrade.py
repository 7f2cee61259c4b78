"""``iosonde upgrade``: examples, mistakes in files with their lines, a model beside the bound."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.answers.cluster import read_cluster
from iosonde.commands.upgrade.answer import upgrade
from iosonde.core.errors import IosondeError
from iosonde.explain.upgrade_tables import (
    CRITERIA,
)
from messages import codes
from terminal import command_of

command = command_of("upgrade")

GIGABIT = "gigabit"
EXAMPLES = Path(__file__).parents[2] / "examples"


def test_measured_steps_of_one_factor():
    made = json.loads(invoke(str(EXAMPLES / "upgrade_casl.yaml"), "--json"))
    speedup = {(one["from"], one["to"]): (one["speedup"], one["changed"]) for one in made["steps"]}
    gigabit, atom = f"4 Xeon, {GIGABIT}", f"4 Atom, {GIGABIT}"
    assert speedup[gigabit, "4 Xeon, IB"] == (pytest.approx(6.794326), ["network"])
    assert speedup["2 Xeon, IB", "4 Xeon, IB"] == (pytest.approx(1.695, abs=1e-3), ["servers"])
    assert speedup["4 Xeon, IB", "10 Xeon, IB"] == (pytest.approx(1.958, abs=1e-3), ["servers"])
    assert speedup[atom, gigabit] == (pytest.approx(1.206, abs=1e-3), ["cpu"])
    assert speedup[gigabit, "2 Xeon, IB"] == (pytest.approx(4.008, abs=1e-3), ["servers", "network"])
    assert {one["name"]: one["best_change"] for one in made["measured"]}[gigabit] == "network"
    assert made["cpu"].endswith("Xeon E3-1265")
    (infiniband,) = [one for one in made["options"] if one["name"] == "infiniband"]
    assert infiniband["refused"] and infiniband["gain"] == pytest.approx(592 / 496.5 - 1)


def invoke(*args: str) -> str:
    done = CliRunner().invoke(command, list(args), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_example_shows_the_trap():
    text = invoke(str(EXAMPLES / "upgrade.yaml"))
    words = " ".join(text.split())
    made = {one["name"]: one for one in json.loads(invoke(str(EXAMPLES / "upgrade.yaml"), "--json"))["options"]}
    disks, servers = (made[next(name for name in made if name.startswith(f"{what} "))] for what in ("disks", "twice"))
    assert disks["gain"] == 0 and servers["refused"] and "+ 0 %" in words and "+ 100 %" in words
    assert "960 W" in words and "800 W" in words
    assert max(map(len, text.splitlines())) < 80


def test_without_ranges_no_interval_is_claimed(tmp_path):
    (tmp_path / "c.yaml").write_text(TODAY + "candidates: {a: {network: x2}}")
    assert "95 %" not in invoke(str(tmp_path / "c.yaml"))


def written(tmp_path, text: str, *args: str) -> IosondeError:
    file = tmp_path / "c.yaml"
    file.write_text(text)
    with pytest.raises(IosondeError) as error:
        CliRunner().invoke(command, [str(file), *args], catch_exceptions=False)
    assert error.value.exit_code == 2
    return error.value


TODAY = "today: {clients: 1, servers: 1, disks: 1, network: 1MB/s}\n"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (TODAY + "candidates: {a: {netwrk: 1MB/s}}", "c.yaml:2: candidates.a.netwrk: unknown key"),
        (TODAY + "candidates: {a: {network: 12}}", "c.yaml:2: candidates.a.network: '12' is not a link rate"),
        (TODAY + "candidates: {a: {network: [3MB/s, 1MB/s]}}", "not a range"),
        (TODAY + "candidates: {a: {disk_write: x2}}", "x2 has no base value"),
        (TODAY + "candidates: {a: {cost: 3}}", "it changes nothing"),
        (TODAY + "candidates: {a: {servers: 4}}", "P/M must be >= 1"),
        (TODAY + "candidates: [a]", "a list where keys with values belong"),
        ("candidates: {a: {network: 1MB/s}}", "no cluster to change"),
        ("today: {clients: 0}", "above 0"),
        ("today: {clients: 1}\ncandidates: {a: {clients: 2}}", "no known property"),
        ("limits: {max_watts: -3}\ncpus: {a: {points: 1, watts: 2}}", "above 0"),
        ("cpus: {a: {points: 1}}", "watts missing"),
        ("measured: {a: {servers: 4}}", "time is missing"),
        ("measured: {a: {time: 3x}}", "is not a duration"),
        ("systems: {a: {usage: 9}}", "installation"),
        (TODAY + "candidates: {a: {latency: 2ms}}", "latency has no effect without request_size"),
        ("today: {clients: 1, network: 1MB/s, files: 2}\ncandidates: {a: {clients: 2}}", "c.yaml:1: today.files"),
        (TODAY + "candidates: {a: {disks: [4, 8]}}", "disks is a count and has no range"),
        (TODAY + "candidates: {a: {clients: x1.5}}", "is not a whole number"),
        (TODAY + "candidates: {a: {replicas: 2}}", "redundancy is none"),
        ("today: {clients: 1e300, network: 1e290GB/s}\ncandidates: {a: {clients: 2}}", "overflows"),
        (f"today: {{clients: 1, network: 1MB/s, watts: {'9' * 400}}}\ncandidates: {{a: {{clients: 2}}}}", "finite"),
        ("weights: {usage: -1}\ncpus: {a: {points: 1, watts: 2}}", "a weight of -1"),
        (
            "weights: {" + ", ".join(f"{name}: 0" for name in CRITERIA) + "}\ncpus: {a: {points: 1, watts: 2}}",
            "every weight is 0",
        ),
        ("measured: {a: {time: {}}}", "is not a duration"),
        ("measured: {a: {time: 1e300min}}", "is not a duration"),
        (f"measured: {{a: {{time: {'9' * 99}min}}}}", "the time is implausible"),
        ("today: {clients: 1, model: {a: [1]}}", "c.yaml:1: today.model.a: a level must be a number or a text"),
        ("", "the file is empty"),
        ("name: x", "nothing to choose from"),
    ],
)
def test_mistakes_have_their_line(tmp_path, text, word):
    error = written(tmp_path, text)
    assert word in " ".join([error.message, *error.details])


def test_a_reference_machine_and_what_follows_from_it(tmp_path):
    # Mistral: 52 PB on about 10,000 disks, 300 I/O servers, 6 million for the I/O system (Kunkel 2017).
    (tmp_path / "c.yaml").write_text(
        "name: Mistral\ntoday: {clients: 3000, servers: 300, disks: 10000, capacity: 52PB, bandwidth: 700GiB/s, "
        "cost: 6000000}\n"
    )
    made = json.loads(invoke(str(tmp_path / "c.yaml"), "--json"))["today"]
    assert made["capacity_per_disk"] == 5.2e12 and made["s"] is None
    assert made["bandwidth_per_server"] / 2**30 == pytest.approx(2.333, abs=1e-3)
    words = " ".join(invoke(str(tmp_path / "c.yaml")).split())
    assert all(number in words for number in ("Mistral", "5.2 TB", "2.33 GiB/s", "115.4 "))


def test_all_mistakes_are_told_at_once(tmp_path):
    error = written(tmp_path, "today: {clients: x, network: 3}\nlimits: {max_wats: 1}\ncandidates: {a: {disks: 2}}")
    assert len(error.details) == 3 and "max_watts" in " ".join(error.details)


def test_a_model_needs_settings_to_be_asked_at(tmp_path):
    assert "--model" in written(tmp_path, TODAY + "candidates: {a: {network: 2MB/s}}", "--model", "m.json").message
    assert "--model" in written(tmp_path, "cpus: {a: {points: 1, watts: 1}}", "--model", "m.json").message


@pytest.mark.parametrize(
    ("name", "value", "gain", "too_fast"),
    [
        ("rate_MB/s", lambda n: 30 * n, 9, True),
        ("rate_kB/s", lambda n: 30 * n, 9, False),
        ("time_s", lambda n: 100 - 9 * n, 8.1, False),
    ],
)
def test_a_fitted_model_stands_beside_the_bound(tmp_path, name, value, gain, too_fast):
    fit = command_of("fit")

    rows = [f"network,{name}"] + [f"{n},{value(n) + r * 0.01:.2f}" for n in (1, 2, 4, 10) for r in range(8)]
    (tmp_path / "d.csv").write_text("\n".join(rows) + "\n")
    model = str(tmp_path / "m.json")
    done = CliRunner().invoke(
        fit,
        [str(tmp_path / "d.csv"), "--response", name, "--on", "network", "--family", "linear", "-o", model],
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    (tmp_path / "c.yaml").write_text(
        "today: {clients: 4, servers: 4, network: 1MB/s, model: {network: 1}}\n"
        "candidates: {ten: {network: x10, model: {network: 10}}, far: {network: x20, model: {network: 2000}}}\n"
    )
    made = json.loads(invoke(str(tmp_path / "c.yaml"), "--model", model, "--json"))
    made["options"].sort(key=lambda option: option["name"], reverse=True)
    far = made["options"].pop()
    assert far["model_gain"] is None and any("network=2000 " in remark for remark in far["remarks"])
    assert made["options"][0]["model_gain"]["value"] == pytest.approx(gain, rel=0.01)
    (ten,) = (
        one
        for one in upgrade(read_cluster(str(tmp_path / "c.yaml")), model=model).options
        if one.candidate.name == "ten"
    )
    assert ("model-above-bound" in codes(ten.remarks)) == too_fast
    text = (tmp_path / "c.yaml").read_text()
    assert "'netwrk'" in written(tmp_path, text.replace("{network: 10}", "{netwrk: 10}"), "--model", model).message
    (tmp_path / "c.yaml").write_text(text)
    assert re.search(r"\bten, [a-z ]+: \+", " ".join(invoke(str(tmp_path / "c.yaml"), "--model", model).split()))


_VALUES = [
    None,
    -1,
    0,
    1,
    4,
    1.5,
    1e300,
    "nan",
    ".inf",
    True,
    "x",
    "",
    [],
    {},
    [1, 2],
    "x2",
    "x0.5",
    "117MB/s",
    "2ms",
    ["1GB/s", "2GB/s"],
    "client",
    "random",
    "64KiB",
    "0.02s/MB",
]
_KEYS = [
    "clients",
    "servers",
    "disks",
    "network",
    "disk",
    "cpu",
    "latency",
    "request_size",
    "stripe_count",
    "files",
    "replicas",
    "redundancy",
    "placement",
    "watts_per_server",
    "cost_per_server",
    "watts",
    "cost",
    "model",
    "nodes_per_rack_unit",
    "capacity",
    "data_chunks",
]
_FIELDS = st.dictionaries(st.sampled_from(_KEYS), st.sampled_from(_VALUES), max_size=3)


@settings(max_examples=40, deadline=None)
@given(_FIELDS, _FIELDS, _FIELDS)
def test_any_file_ends_in_an_answer_or_in_sentences_with_lines(tmp_path_factory, today, a, b):
    file = tmp_path_factory.mktemp("u") / "c.yaml"
    known = {"clients": 8, "servers": 4, "disks": 8, "network": ["100MB/s", "120MB/s"]}
    file.write_text(json.dumps({"today": known | today, "candidates": {"a": a, "b": {"network": "x2"} | b}}, indent=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            json.loads(invoke(str(file), "--json"))
            text = invoke(str(file))
        except IosondeError as error:
            assert error.exit_code == 2 and all("c.yaml" in line for line in error.details or [error.message])
        else:
            assert "nan" not in text.split() and max(map(len, text.splitlines())) <= 80


def test_a_change_that_was_measured_is_set_beside_the_bound(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("""
today: {clients: 4, servers: 4, network: 100MB/s, measured: {net: slow, servers: 4}}
candidates:
  fast: {network: x2, measured: {net: fast}}
  double: {network: x2, servers: 8, measured: {net: fast, servers: 8}}
measured:
  a: {time: [60s, 61s, 59s], net: slow, servers: 4}
  b: {time: [10s, 10.1s, 9.9s], net: fast, servers: 4}
  c: {time: [30s, 30.2s, 29.8s], net: fast, servers: 8}
  d: {time: 80s, net: slow, servers: 2}
  e: {time: 20s, net: fast, servers: 2}
""")
    options = {one["name"]: one["measured"] for one in json.loads(invoke(str(file), "--json"))["options"]}
    (fast,), (double,) = options["fast"], options["double"]
    assert (fast["from"], fast["to"], fast["beyond"]) == (
        "a",
        "b",
        True,
    )  # 6 times, the bound says 2; d is not like today
    assert fast["speedup_low"] < 6 < fast["speedup_high"]
    assert (double["from"], double["to"], double["beyond"]) == ("a", "c", False)  # 2 times, as the bound says
    text = " ".join(invoke(str(file)).split())
    assert re.search(r"! fast: \w+ a → b 6.00 ", text) and "! double" not in text
    assert re.search(r"double: \w+ a → c 2.00 ", text)


def test_nodes_by_name_say_how_many_there_are_and_another_number_is_a_mistake(tmp_path):
    nodes = "nodes: {head: login, 'a[1-2]': compute, 's[1-3]': {role: server, disks: 2}}\n"
    (tmp_path / "c.yaml").write_text(nodes + "today: {network: 1MB/s}")
    made = json.loads(invoke(str(tmp_path / "c.yaml"), "--json"))
    assert len(made["nodes"]) == 6 and made["nodes"][0] == {"name": "head", "roles": ["login"]}
    assert {one["formula"]: one["bytes_per_s"] for one in made["today"]["terms"]} == {"N·I": 2e6, "M·I": 3e6}
    assert re.search(r"\b6 nodes: login 1, compute 2, server 3\b", invoke(str(tmp_path / "c.yaml")))
    error = written(tmp_path, nodes + "today: {network: 1MB/s, servers: 4}")
    assert re.search(r"c.yaml:2: today.servers: 4 .* 3$", error.message)
    written(tmp_path, "nodes: {a: clinet}")
