"""``explain/upgrade`` and its tables, and ``iosonde upgrade``: gains by hand, the trap, limits, published figures."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.cli.commands.upgrade import command
from iosonde.core.errors import IosondeError
from iosonde.core.types import Estimate
from iosonde.explain.upgrade import Candidate, Cluster, Limits, Quantity, after, options, path, totals
from iosonde.explain.upgrade_tables import (
    CRITERIA,
    Configuration,
    Cpu,
    best_from,
    cpus,
    scorecard,
    steps,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
MB = 1e6


def exactly(value: float, times: bool = False) -> Quantity:
    return Quantity(value, value, value, times)


def cluster(**changes) -> Cluster:
    system = {"clients": 8, "servers": 4, "disks": 4, "network": 100 * MB, "disk_write": 150 * MB}
    made = {"watts_per_server": 100.0, "nodes_per_rack_unit": 1.0, "cost_per_server": 1000.0}
    return Cluster("c", {k: exactly(v) for k, v in system.items()}, {}, **{**made, **changes})


NETWORK = Candidate("network", {"network": exactly(10, True)}, cost=500, watts=40)
DISKS = Candidate("disks", {"disk_write": exactly(2, True)}, cost=300)
SERVERS = Candidate("servers", {"servers": exactly(8), "disks": exactly(8)})


def test_gains_by_hand_and_what_they_cost():
    found = {o.candidate.name: o for o in options(cluster(), [NETWORK, DISKS, SERVERS], Limits(), 0.95)}
    assert found["network"].gain.value == pytest.approx(0.5) and found["network"].gain.low is None
    assert found["network"].per_money == pytest.approx(200 * MB / 500)
    assert found["network"].per_watt == pytest.approx(200 * MB / 40)
    assert found["servers"].gain.value == pytest.approx(1.0) and found["servers"].cost == 4000
    assert found["servers"].totals.watts == 800 and found["servers"].totals.rack_units == 8


def test_the_trap_is_shown_with_what_must_come_first():
    found = options(cluster(), [NETWORK, DISKS], Limits(), 0.95)
    trap = next(o for o in found if o.candidate.name == "disks")
    assert trap.trap and trap.gain.value == 0 and trap.ceiling.limit == ("network_servers",)
    assert trap.first == ("network", pytest.approx(1.0))
    space = Candidate("space", {}, attributes={"nodes_per_rack_unit": 4})
    assert not options(cluster(), [space], Limits(), 0.95)[0].trap


@pytest.mark.parametrize(("order", "first"), [("gain", "servers"), ("money", "network"), ("watt", "network")])
def test_the_order_is_what_was_asked_for(order, first):
    assert options(cluster(), [NETWORK, SERVERS], Limits(), 0.95, order=order)[0].candidate.name == first


def test_limits_refuse_with_the_reason_and_stand_last():
    limits = Limits(max_cost=1000, max_watts=500, max_rack_units=6, min_nodes_per_rack_unit=2)
    found = options(cluster(), [SERVERS, NETWORK], limits, 0.95)
    (reasons,) = [o.refused for o in found if o.candidate.name == "servers"]
    assert [r.split()[0] for r in reasons] == ["costs", "needs", "needs", "has"]
    dense = Candidate("dense", {"network": exactly(2, True)}, attributes={"nodes_per_rack_unit": 4.0})
    assert [o.candidate.name for o in options(cluster(), [SERVERS, dense], limits, 0.95)] == ["dense", "servers"]
    assert totals(cluster(), [dense]).rack_units == 1


def test_what_to_buy_first_follows_the_gains_and_the_money():
    found = options(cluster(), [DISKS, NETWORK], Limits(), 0.95)
    assert [(name, pytest.approx(gain), cost) for name, gain, cost in path(cluster(), found, Limits())] == [
        ("network", 0.5, 500), ("disks", 1.0, 800)]  # fmt: skip
    assert [step[0] for step in path(cluster(), found, Limits(max_cost=600))] == ["network"]


def test_measured_inputs_give_gains_an_interval():
    system = {**cluster().system, "network": Quantity(100 * MB, 90 * MB, 111 * MB)}
    (one,) = options(Cluster("c", system, {}), [NETWORK], Limits(), 0.95)
    # S after is 600 MB/s whatever the network was; before it is 4 times the network.
    assert one.gain.low == pytest.approx(600 / 444 - 1, abs=0.03)
    assert one.gain.high == pytest.approx(600 / 360 - 1, abs=0.03)
    again = options(Cluster("c", system, {}), [NETWORK], Limits(), 0.95)[0]
    assert (again.gain.low, again.gain.high) == (one.gain.low, one.gain.high)


@given(st.floats(1, 50), st.floats(1, 50))
def test_more_of_anything_never_loses(network, disk):
    changes = [Candidate("n", {"network": exactly(network, True)}), Candidate("d", {"disk_write": exactly(disk, True)})]
    for option in options(cluster(), changes, Limits(), 0.95):
        assert option.gain.value >= -1e-12
    assert after(cluster(), changes).s >= max(after(cluster(), [one]).s for one in changes) * (1 - 1e-12)


def test_a_model_beside_the_bound_and_its_disagreement():
    known = {
        "gigabit": Estimate(100 * MB, 95 * MB, 105 * MB, 0.95, 20),
        "ten": Estimate(110 * MB, 105 * MB, 115 * MB, 0.95, 20),
    }
    asked = cluster(model={"network": "gigabit"})
    network = Candidate("network", NETWORK.system, model={"network": "ten"})
    (one,) = options(asked, [network], Limits(), 0.95, lambda at: known[at["network"]])
    assert one.model_gain.value == pytest.approx(0.1)
    assert one.model_gain.low == pytest.approx(0.0) and one.model_gain.high == pytest.approx(115 / 95 - 1)
    assert any("disagree" in remark for remark in one.remarks)
    fast = {"gigabit": Estimate(1e8, None, None, 0.95, 0), "ten": Estimate(9e9, None, None, 0.95, 0)}
    (more,) = options(asked, [network], Limits(), 0.95, lambda at: fast[at["network"]])
    assert "the model predicts more than the bound allows" in more.remarks
    assert options(asked, [NETWORK], Limits(), 0.95, lambda at: known["ten"])[0].model_gain is None


def test_a_model_of_anything_but_bytes_is_not_held_against_the_bound():
    asked = cluster(model={"network": "gigabit"})
    network = Candidate("network", NETWORK.system, model={"network": "ten"})
    known = {"gigabit": Estimate(1e9, None, None, 0.95, 0), "ten": Estimate(1.5e9, None, None, 0.95, 0)}
    (one,) = options(asked, [network], Limits(), 0.95, lambda at: known[at["network"]], in_bytes=False)
    assert one.model_gain.value == pytest.approx(0.5) and not one.remarks


@pytest.mark.parametrize("old", [-5.0, 0.0, None])
def test_a_model_that_predicts_no_rate_cannot_tell(old):
    known = {"gigabit": Estimate(old, None, None, 0.95, 0, ("outside",)), "ten": Estimate(5.0, None, None, 0.95, 0)}
    network = Candidate("network", NETWORK.system, model={"network": "ten"})
    (one,) = options(cluster(model={"network": "gigabit"}), [network], Limits(), 0.95, lambda at: known[at["network"]])
    assert one.model_gain is None and one.remarks == ("the model cannot tell", "outside")


def test_changes_that_do_not_go_together_are_no_path():
    # Each fits by itself; together there would be 4 disks for 8 servers.
    less = Candidate("fewer disks", {"disks": exactly(4), "network": exactly(2, True)})
    more = Candidate("more servers", {"servers": exactly(8)})
    asked = replace(cluster(), system={**cluster().system, "disks": exactly(8)})
    found = options(asked, [less, more, Candidate("cpu", {"cpu": exactly(1e-12)})], Limits(), 0.95)
    assert [name for name, _, _ in path(asked, found, Limits())] == [found[0].candidate.name]


# Published figures: Kumar 2013, tables 1.1 and 7.1.
CPUS = [
    Cpu("Low power Atom", 916, 8.5),
    Cpu("Low power Xeon E3-1265", 8306, 45),
    Cpu("Low power Xeon E3-1280", 9909, 95),
    Cpu("Xeon E5430", 3975, 80),
    Cpu("Xeon E5650", 7480, 95),
]


def test_cpus_by_points_for_each_watt():
    found = cpus(CPUS, None, None)
    assert {one.name: round(one.points_per_watt, 3) for one in found} == {
        "Low power Atom": 107.765, "Low power Xeon E3-1265": 184.578, "Low power Xeon E3-1280": 104.305,
        "Xeon E5430": 49.688, "Xeon E5650": 78.737}  # fmt: skip
    floor = cpus(CPUS, 3975, None)
    assert floor[0].name == "Low power Xeon E3-1265" and floor[-1].refused.startswith("916 points")
    assert [one.name for one in cpus(CPUS, 3975, 50) if not one.refused] == ["Low power Xeon E3-1265"]


def test_measured_steps_of_one_factor():
    made = json.loads(invoke(str(EXAMPLES / "upgrade_casl.yaml"), "--json"))
    speedup = {(one["from"], one["to"]): (one["speedup"], one["changed"]) for one in made["steps"]}
    assert speedup["4 Xeon, gigabit", "4 Xeon, IB"] == (pytest.approx(6.794326), ["network"])
    assert speedup["2 Xeon, IB", "4 Xeon, IB"] == (pytest.approx(1.695, abs=1e-3), ["servers"])
    assert speedup["4 Xeon, IB", "10 Xeon, IB"] == (pytest.approx(1.958, abs=1e-3), ["servers"])
    assert speedup["4 Atom, gigabit", "4 Xeon, gigabit"] == (pytest.approx(1.206, abs=1e-3), ["cpu"])
    assert speedup["4 Xeon, gigabit", "2 Xeon, IB"] == (pytest.approx(4.008, abs=1e-3), ["servers", "network"])
    assert {one["name"]: one["best_change"] for one in made["measured"]}["4 Xeon, gigabit"] == "network"
    assert made["cpu"] == "Low power Xeon E3-1265"
    (infiniband,) = [one for one in made["options"] if one["name"] == "infiniband"]
    assert infiniband["refused"] and infiniband["gain"] == pytest.approx(592 / 496.5 - 1)


def test_repeats_give_a_step_an_interval():
    found = [Configuration("a", {"x": 1}, (100.0, 102.0, 98.0)), Configuration("b", {"x": 2}, (50.0, 51.0, 49.0))]
    (one,) = steps(found, 0.95)
    assert one.speedup.low < 2 < one.speedup.high and best_from([one], "a") is one and best_from([one], "b") is None


def test_the_scorecard_weighs_seven_criteria():
    assert len(CRITERIA) == 7
    good = dict.fromkeys(CRITERIA, 4.0)
    found = scorecard({"a": good, "b": {**good, "features": 1.0}}, {"features": 2.0})
    assert [one.name for one in found] == ["a", "b"] and found[1].total == pytest.approx((6 * 4 + 2) / 8)
    assert found[1].weakest == "features"


def invoke(*args: str) -> str:
    done = CliRunner().invoke(command, list(args), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_example_shows_the_trap():
    text = invoke(str(EXAMPLES / "upgrade.yaml"))
    words = " ".join(text.split())
    assert "disks twice as fast: + 0 %, the servers' network still limiting; after ten gigabit: + 100 %" in words
    assert "twice the servers: needs 960 W, allowed are 800 W" in words and "Buy first ten gigabit" in words
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
        (TODAY + "candidates: {a: {netwrk: 1MB/s}}", "c.yaml:2: candidates.a.netwrk: there is no such key"),
        (TODAY + "candidates: {a: {network: 12}}", "c.yaml:2: candidates.a.network: '12' is no rate"),
        (TODAY + "candidates: {a: {network: [3MB/s, 1MB/s]}}", "no range"),
        (TODAY + "candidates: {a: {disk_write: x2}}", "x2 of what?"),
        (TODAY + "candidates: {a: {cost: 3}}", "it changes nothing"),
        (TODAY + "candidates: {a: {servers: 4}}", "P/M must be >= 1"),
        (TODAY + "candidates: [a]", "a list where keys with values belong"),
        ("candidates: {a: {network: 1MB/s}}", "no cluster to change"),
        ("today: {clients: 0}", "above 0"),
        ("today: {clients: 1}\ncandidates: {a: {clients: 2}}", "nothing is known"),
        ("limits: {max_watts: -3}\ncpus: {a: {points: 1, watts: 2}}", "above 0"),
        ("cpus: {a: {points: 1}}", "watts missing"),
        ("measured: {a: {servers: 4}}", "time is missing"),
        ("measured: {a: {time: 3x}}", "is not a duration"),
        ("systems: {a: {usage: 9}}", "installation"),
        (TODAY + "candidates: {a: {latency: 2ms}}", "latency says nothing without request_size"),
        ("today: {clients: 1, network: 1MB/s, files: 2}\ncandidates: {a: {clients: 2}}", "c.yaml:1: today.files"),
        (TODAY + "candidates: {a: {disks: [4, 8]}}", "disks is a count and has no range"),
        (TODAY + "candidates: {a: {clients: x1.5}}", "is no whole number"),
        (TODAY + "candidates: {a: {replicas: 2}}", "redundancy is none"),
        ("today: {clients: 1e300, network: 1e290GB/s}\ncandidates: {a: {clients: 2}}", "beyond any number"),
        (f"today: {{clients: 1, network: 1MB/s, watts: {'9' * 400}}}\ncandidates: {{a: {{clients: 2}}}}", "finite"),
        ("weights: {usage: -1}\ncpus: {a: {points: 1, watts: 2}}", "a weight of -1"),
        (
            "weights: {" + ", ".join(f"{name}: 0" for name in CRITERIA) + "}\ncpus: {a: {points: 1, watts: 2}}",
            "every weight is 0",
        ),
        ("measured: {a: {time: {}}}", "is not a duration"),
        ("measured: {a: {time: 1e300min}}", "is not a duration"),
        (f"measured: {{a: {{time: {'9' * 99}min}}}}", "no job takes such a time"),
        ("today: {clients: 1, model: {a: [1]}}", "c.yaml:1: today.model.a: a level is a number or a text"),
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
    assert "Mistral holds 5.2 TB on each disk; delivers 2.33 GiB/s a server; costs 115.4 for each TB." in words


def test_all_mistakes_are_told_at_once(tmp_path):
    error = written(tmp_path, "today: {clients: x, network: 3}\nlimits: {max_wats: 1}\ncandidates: {a: {disks: 2}}")
    assert len(error.details) == 3 and "did you mean max_watts?" in " ".join(error.details)


def test_a_model_needs_settings_to_be_asked_at(tmp_path):
    assert "--model" in written(tmp_path, TODAY + "candidates: {a: {network: 2MB/s}}", "--model", "m.json").message
    assert "--model" in written(tmp_path, "cpus: {a: {points: 1, watts: 1}}", "--model", "m.json").message


@pytest.mark.parametrize(
    ("name", "value", "gain", "too_fast"),
    [("rate_MB/s", lambda n: 30 * n, 9, True), ("rate_kB/s", lambda n: 30 * n, 9, False),
     ("time_s", lambda n: 100 - 9 * n, 8.1, False)],
)  # fmt: skip
def test_a_fitted_model_stands_beside_the_bound(tmp_path, name, value, gain, too_fast):
    from iosonde.cli.commands.fit import command as fit

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
    assert far["model_gain"] is None and any("far outside" in remark for remark in far["remarks"])
    assert made["options"][0]["model_gain"]["value"] == pytest.approx(gain, rel=0.01)
    assert ("the model predicts more than the bound allows" in made["options"][0]["remarks"]) == too_fast
    text = (tmp_path / "c.yaml").read_text()
    assert (
        "no factor 'netwrk'"
        in written(tmp_path, text.replace("{network: 10}", "{netwrk: 10}"), "--model", model).message
    )
    (tmp_path / "c.yaml").write_text(text)
    assert "ten, the model: +" in " ".join(invoke(str(tmp_path / "c.yaml"), "--model", model).split())


_VALUES = [None, -1, 0, 1, 4, 1.5, 1e300, "nan", ".inf", True, "x", "", [], {}, [1, 2], "x2", "x0.5", "117MB/s", "2ms",
           ["1GB/s", "2GB/s"], "client", "random", "64KiB", "0.02s/MB"]  # fmt: skip
_KEYS = ["clients", "servers", "disks", "network", "disk", "cpu", "latency", "request_size", "stripe_count", "files",
         "replicas", "redundancy", "placement", "watts_per_server", "cost_per_server", "watts", "cost", "model",
         "nodes_per_rack_unit", "capacity", "data_chunks"]  # fmt: skip
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
