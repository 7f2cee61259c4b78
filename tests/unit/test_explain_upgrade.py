"""``explain/upgrade`` and its tables: gains by hand, the trap, limits, published figures."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.types import Estimate
from iosonde.explain.upgrade import (
    Cluster,
    ClusterTotals,
    Quantity,
    UpgradeCandidate,
    UpgradeLimits,
    can_combine_changes,
    compute_ceiling_after_changes,
    compute_power_and_space,
    evaluate_options,
    order_purchases,
)
from iosonde.explain.upgrade_tables import (
    CRITERIA,
    Configuration,
    ConfigurationStep,
    ListedCpu,
    estimate_mean_times,
    find_best_step_from,
    list_configuration_steps,
    list_cpus_within_limits,
    list_steps_by_change,
    rank_systems_by_marks,
)
from iosonde.explain.upgrade_today import compute_bound_today
from messages import codes

MB = 1e6


def exactly(value: float, times: bool = False) -> Quantity:
    return Quantity(value, value, value, times)


def cluster(**changes) -> Cluster:
    system = {"clients": 8, "servers": 4, "disks": 4, "network": 100 * MB, "disk_write": 150 * MB}
    made = {"watts_per_server": 100.0, "nodes_per_rack_unit": 1.0, "cost_per_server": 1000.0}
    return Cluster("c", {k: exactly(v) for k, v in system.items()}, {}, **{**made, **changes})


NETWORK = UpgradeCandidate("network", {"network": exactly(10, True)}, cost=500, watts=40)
DISKS = UpgradeCandidate("disks", {"disk_write": exactly(2, True)}, cost=300)
SERVERS = UpgradeCandidate("servers", {"servers": exactly(8), "disks": exactly(8)})


def test_gains_by_hand_and_what_they_cost():
    found = {o.candidate.name: o for o in evaluate_options(cluster(), [NETWORK, DISKS, SERVERS], UpgradeLimits(), 0.95)}
    assert found["network"].gain.value == pytest.approx(0.5) and found["network"].gain.low is None
    assert found["network"].per_money == pytest.approx(200 * MB / 500)
    assert found["network"].per_watt == pytest.approx(200 * MB / 40)
    assert found["servers"].gain.value == pytest.approx(1.0) and found["servers"].cost == 4000
    assert found["servers"].totals.watts == 800 and found["servers"].totals.rack_units == 8


def test_the_trap_is_shown_with_what_must_come_first():
    found = evaluate_options(cluster(), [NETWORK, DISKS], UpgradeLimits(), 0.95)
    trap = next(o for o in found if o.candidate.name == "disks")
    assert trap.trap and trap.gain.value == 0 and trap.ceiling.limit == ("network_servers",)
    assert trap.first == ("network", pytest.approx(1.0))
    space = UpgradeCandidate("space", {}, attributes={"nodes_per_rack_unit": 4})
    assert not evaluate_options(cluster(), [space], UpgradeLimits(), 0.95)[0].trap


@pytest.mark.parametrize(("order", "first"), [("gain", "servers"), ("money", "network"), ("watt", "network")])
def test_the_order_is_what_was_asked_for(order, first):
    assert (
        evaluate_options(cluster(), [NETWORK, SERVERS], UpgradeLimits(), 0.95, order=order)[0].candidate.name == first
    )


def test_limits_refuse_with_the_reason_and_stand_last():
    limits = UpgradeLimits(max_cost=1000, max_watts=500, max_rack_units=6, min_nodes_per_rack_unit=2)
    found = evaluate_options(cluster(), [SERVERS, NETWORK], limits, 0.95)
    (reasons,) = [o.refused for o in found if o.candidate.name == "servers"]
    assert [r.split()[0] for r in reasons] == ["costs", "needs", "needs", "has"]
    dense = UpgradeCandidate("dense", {"network": exactly(2, True)}, attributes={"nodes_per_rack_unit": 4.0})
    assert [o.candidate.name for o in evaluate_options(cluster(), [SERVERS, dense], limits, 0.95)] == [
        "dense",
        "servers",
    ]
    assert compute_power_and_space(cluster(), [dense]).rack_units == 1


def test_what_to_buy_first_follows_the_gains_and_the_money():
    found = evaluate_options(cluster(), [DISKS, NETWORK], UpgradeLimits(), 0.95)
    assert [
        (name, pytest.approx(gain), cost) for name, gain, cost in order_purchases(cluster(), found, UpgradeLimits())
    ] == [
        ("network", 0.5, 500),
        ("disks", 1.0, 800),
    ]
    assert [step[0] for step in order_purchases(cluster(), found, UpgradeLimits(max_cost=600))] == ["network"]


def test_measured_inputs_give_gains_an_interval():
    system = {**cluster().system, "network": Quantity(100 * MB, 90 * MB, 111 * MB)}
    (one,) = evaluate_options(Cluster("c", system, {}), [NETWORK], UpgradeLimits(), 0.95)
    # S after is 600 MB/s whatever the network was; before it is 4 times the network.
    assert one.gain.low == pytest.approx(600 / 444 - 1, abs=0.03)
    assert one.gain.high == pytest.approx(600 / 360 - 1, abs=0.03)
    again = evaluate_options(Cluster("c", system, {}), [NETWORK], UpgradeLimits(), 0.95)[0]
    assert (again.gain.low, again.gain.high) == (one.gain.low, one.gain.high)


@given(st.floats(1, 50), st.floats(1, 50))
def test_more_of_anything_never_loses(network, disk):
    changes = [
        UpgradeCandidate("n", {"network": exactly(network, True)}),
        UpgradeCandidate("d", {"disk_write": exactly(disk, True)}),
    ]
    for option in evaluate_options(cluster(), changes, UpgradeLimits(), 0.95):
        assert option.gain.value >= -1e-12
    assert compute_ceiling_after_changes(cluster(), changes).s >= max(
        compute_ceiling_after_changes(cluster(), [one]).s for one in changes
    ) * (1 - 1e-12)


def test_a_model_beside_the_bound_and_its_disagreement():
    known = {
        "gigabit": Estimate(100 * MB, 95 * MB, 105 * MB, 0.95, 20),
        "ten": Estimate(110 * MB, 105 * MB, 115 * MB, 0.95, 20),
    }
    asked = cluster(model={"network": "gigabit"})
    network = UpgradeCandidate("network", NETWORK.system, model={"network": "ten"})
    (one,) = evaluate_options(asked, [network], UpgradeLimits(), 0.95, lambda at: known[at["network"]])
    assert one.model_gain.value == pytest.approx(0.1)
    assert one.model_gain.low == pytest.approx(0.0) and one.model_gain.high == pytest.approx(115 / 95 - 1)
    assert "bound-model-disagree" in codes(one.remarks)
    fast = {"gigabit": Estimate(1e8, None, None, 0.95, 0), "ten": Estimate(9e9, None, None, 0.95, 0)}
    (more,) = evaluate_options(asked, [network], UpgradeLimits(), 0.95, lambda at: fast[at["network"]])
    assert "model-above-bound" in codes(more.remarks)
    assert evaluate_options(asked, [NETWORK], UpgradeLimits(), 0.95, lambda at: known["ten"])[0].model_gain is None


def test_a_model_of_anything_but_bytes_is_not_held_against_the_bound():
    asked = cluster(model={"network": "gigabit"})
    network = UpgradeCandidate("network", NETWORK.system, model={"network": "ten"})
    known = {"gigabit": Estimate(1e9, None, None, 0.95, 0), "ten": Estimate(1.5e9, None, None, 0.95, 0)}
    (one,) = evaluate_options(asked, [network], UpgradeLimits(), 0.95, lambda at: known[at["network"]], in_bytes=False)
    assert one.model_gain.value == pytest.approx(0.5) and not one.remarks


@pytest.mark.parametrize("old", [-5.0, 0.0, None])
def test_a_model_that_predicts_no_rate_cannot_tell(old):
    known = {"gigabit": Estimate(old, None, None, 0.95, 0, ("outside",)), "ten": Estimate(5.0, None, None, 0.95, 0)}
    network = UpgradeCandidate("network", NETWORK.system, model={"network": "ten"})
    (one,) = evaluate_options(
        cluster(model={"network": "gigabit"}), [network], UpgradeLimits(), 0.95, lambda at: known[at["network"]]
    )
    assert one.model_gain is None and one.remarks[1:] == ("outside",)
    assert one.remarks[0].code == "model-inconclusive"


def test_changes_that_do_not_go_together_are_no_path():
    # Each fits by itself; together there would be 4 disks for 8 servers.
    less = UpgradeCandidate("fewer disks", {"disks": exactly(4), "network": exactly(2, True)})
    more = UpgradeCandidate("more servers", {"servers": exactly(8)})
    asked = replace(cluster(), system={**cluster().system, "disks": exactly(8)})
    found = evaluate_options(
        asked, [less, more, UpgradeCandidate("cpu", {"cpu": exactly(1e-12)})], UpgradeLimits(), 0.95
    )
    assert [name for name, _, _ in order_purchases(asked, found, UpgradeLimits())] == [found[0].candidate.name]


# Published figures: Kumar 2013, tables 1.1 and 7.1.
ATOM, E3_1265, E3_1280 = "Low power Atom", "Low power Xeon E3-1265", "Low power Xeon E3-1280"
CPUS = [
    ListedCpu(ATOM, 916, 8.5),
    ListedCpu(E3_1265, 8306, 45),
    ListedCpu(E3_1280, 9909, 95),
    ListedCpu("Xeon E5430", 3975, 80),
    ListedCpu("Xeon E5650", 7480, 95),
]


def test_cpus_by_points_for_each_watt():
    found = list_cpus_within_limits(CPUS, None, None)
    assert {one.name: round(one.points_per_watt, 3) for one in found} == {
        ATOM: 107.765,
        E3_1265: 184.578,
        E3_1280: 104.305,
        "Xeon E5430": 49.688,
        "Xeon E5650": 78.737,
    }
    floor = list_cpus_within_limits(CPUS, 3975, None)
    assert floor[0].name == E3_1265 and floor[-1].refused.code == "too-slow"
    assert floor[-1].refused.values["points"] == 916
    assert [one.name for one in list_cpus_within_limits(CPUS, 3975, 50) if not one.refused] == [E3_1265]


def test_repeats_give_a_step_an_interval():
    found = [Configuration("a", {"x": 1}, (100.0, 102.0, 98.0)), Configuration("b", {"x": 2}, (50.0, 51.0, 49.0))]
    (one,) = list_configuration_steps(found, 0.95)
    assert (
        one.speedup.low < 2 < one.speedup.high
        and find_best_step_from([one], "a") is one
        and find_best_step_from([one], "b") is None
    )


def test_the_scorecard_weighs_seven_criteria():
    assert len(CRITERIA) == 7
    good = dict.fromkeys(CRITERIA, 4.0)
    found = rank_systems_by_marks({"a": good, "b": {**good, "features": 1.0}}, {"features": 2.0})
    assert [one.name for one in found] == ["a", "b"] and found[1].total == pytest.approx((6 * 4 + 2) / 8)
    assert found[1].weakest == "features"


def test_the_scorecard_takes_criteria_of_ones_own():
    marks = {"pvfs": {"scalability": 4.0, "transparency": 1.0}, "nfs": {"scalability": 1.0, "transparency": 5.0}}
    found = rank_systems_by_marks(marks, {"scalability": 3.0})
    assert [(one.name, one.total, one.weakest) for one in found] == [
        ("pvfs", 3.25, "transparency"),
        ("nfs", 2.0, "scalability"),
    ]


def build_option(cluster_: Cluster, candidate: UpgradeCandidate, *others: UpgradeCandidate):
    return next(
        o for o in evaluate_options(cluster_, [candidate, *others], UpgradeLimits(), 0.95) if o.candidate is candidate
    )


def test_what_a_change_adds_in_watts_and_units():
    """Eight servers at 90 W and two per unit, with 50 W and 3 U besides, and what the change adds."""
    base = cluster(watts=50.0, rack_units=3.0)
    change = UpgradeCandidate(
        "c",
        {"servers": exactly(8), "disks": exactly(8)},
        cost=100,
        watts=7,
        rack_units=2,
        attributes={"watts_per_server": 90.0, "nodes_per_rack_unit": 2.0},
    )
    assert compute_power_and_space(base) == ClusterTotals(450.0, 7.0, 1.0)
    assert compute_power_and_space(base, [change]) == ClusterTotals(8 * 90.0 + 50 + 7, 8 / 2 + 3 + 2, 2.0)
    option = build_option(base, change)
    assert (option.added_watts, option.cost) == (327.0, 4100)
    assert option.per_money == pytest.approx(400 * MB / 4100) and option.per_watt == pytest.approx(400 * MB / 327)
    unknown = cluster(watts_per_server=None, nodes_per_rack_unit=None)
    assert compute_power_and_space(unknown) == ClusterTotals(None, None, None)
    blind = build_option(unknown, NETWORK)
    assert (blind.added_watts, blind.per_watt) == (None, None)
    fewer = UpgradeCandidate("fewer", {"servers": exactly(2), "disks": exactly(2)}, cost=-9)
    assert build_option(cluster(), fewer).cost == -9 and build_option(cluster(), fewer).per_money is None


@pytest.mark.parametrize(
    ("limits", "values"),
    [
        ({"max_cost": 499}, [("over-limit", 500, 499)]),
        ({"max_cost": 500}, []),
        ({"max_watts": 439}, [("over-limit", 440, 439)]),
        ({"max_watts": 440}, []),
        ({"max_rack_units": 3.9}, [("over-limit", 4, 3.9)]),
        ({"max_rack_units": 4}, []),
        ({"min_nodes_per_rack_unit": 1.1}, [("under-limit", 1, 1.1)]),
        ({"min_nodes_per_rack_unit": 1}, []),
    ],
)
def test_a_limit_is_broken_beyond_it(limits, values):
    (option,) = evaluate_options(cluster(), [NETWORK], UpgradeLimits(**limits), 0.95)
    assert [(m.code, m.values["amount"], m.values["limit"]) for m in option.refused] == values


def test_a_gain_without_cost_stands_before_all_that_cost_money():
    free = UpgradeCandidate("free", {"network": exactly(1.1, True)})
    useless = UpgradeCandidate("useless", {"disk_write": exactly(2, True)})
    for order in ("money", "watt"):
        found = evaluate_options(cluster(), [useless, NETWORK, free], UpgradeLimits(), 0.95, order=order)
        assert [o.candidate.name for o in found] == ["free", "network", "useless"]
    cheap = UpgradeCandidate("cheap", NETWORK.system, cost=100)
    assert [o.cost for o in evaluate_options(cluster(), [NETWORK, cheap], UpgradeLimits(), 0.95)] == [100, 500]


@pytest.mark.parametrize(("factor", "trap"), [(1.004, True), (1.006, False)])
def test_a_gain_below_half_a_percent_is_a_trap(factor, trap):
    option = build_option(cluster(), UpgradeCandidate("n", {"network": exactly(factor, True)}), NETWORK)
    assert option.trap == trap and (option.first is None)
    assert option.gain.value == pytest.approx(factor - 1)


def test_the_quantity_of_an_interval_is_drawn_around_its_middle():
    assert Quantity(2.0, 1.0, 4.0).compute_log_sigma(1.96) == pytest.approx(math.log(4) / (2 * 1.96))
    assert Quantity(2.0, 2.0, 2.0).compute_log_sigma(1.96) == Quantity(0.0, 0.0, 1.0).compute_log_sigma(1.96) == 0.0


@pytest.mark.parametrize(
    ("old", "new", "remarks"),
    [
        ((100, 95, 105), (150, 140, 160), []),  # the bound's gain of 50 % is inside
        ((100, 95, 105), (120, 110, 130), ["bound-model-disagree"]),
        ((100, None, None), (120, None, None), []),
        ((100, None, None), (100.4, None, None), ["bound-model-disagree"]),
        ((100, 95, 105), (601, 400, 900), ["model-above-bound", "bound-model-disagree"]),
    ],
)
def test_a_model_that_disagrees_with_the_bound_says_so(old, new, remarks):
    known = {
        name: Estimate(*(None if x is None else x * MB for x in ends), 0.95, 9)
        for name, ends in (("gigabit", old), ("ten", new))
    }
    network = UpgradeCandidate("network", NETWORK.system, model={"network": "ten"})
    (option,) = evaluate_options(
        cluster(model={"network": "gigabit"}), [network], UpgradeLimits(), 0.95, lambda at: known[at["network"]]
    )
    assert codes(option.remarks) == remarks and option.model_gain.value == pytest.approx(new[0] / old[0] - 1)
    if old[1] is None:
        assert option.model_gain.low is option.model_gain.high is None
    else:
        ends = (new[1] / old[2] - 1, new[2] / old[1] - 1)
        assert (option.model_gain.low, option.model_gain.high) == pytest.approx(ends)


def build_step(value: float, low: float | None = None, high: float | None = None) -> ConfigurationStep:
    return ConfigurationStep("a", "b", ("x",), Estimate(value, low, high, 0.95, 1))


def test_a_measured_step_may_contradict_the_gain():
    option = build_option(cluster(), NETWORK)  # 1.5 times as fast
    inside, outside = build_step(2.0, 1.4, 3.0), build_step(1.5, 1.51, 1.6)
    near, far, below = build_step(1.5 * 1.24), build_step(1.5 * 1.26), build_step(1.5 / 1.26)
    steps_ = (inside, outside, near, far, below, build_step(None))
    assert replace(option, steps=steps_).beyond == (outside, far, below)


def test_the_limits_of_a_cluster_today():
    plain = compute_bound_today(cluster(), 0.95)
    assert plain.s == Estimate(400 * MB, None, None, 0.95, 0) and plain.limits == {"network_servers": 1.0}
    rates = {term.name: term.bytes_per_s for term in plain.ceiling.terms}
    assert {name: e.value for name, e in plain.terms.items()} == rates and rates["network_servers"] == 400 * MB
    system = {**cluster().system, "network": Quantity(150 * MB, 100 * MB, 225 * MB)}
    measured = compute_bound_today(Cluster("c", system, {}), 0.95)
    assert set(measured.limits) == {"network_servers", "disks"} and sum(measured.limits.values()) == pytest.approx(1.0)
    assert measured.limits["disks"] == pytest.approx(0.5, abs=0.1)
    network = measured.terms["network_servers"]
    assert (network.low, network.high) == pytest.approx((400 * MB, 900 * MB), rel=0.1)
    assert measured.terms["disks"] == Estimate(600 * MB, None, None, 0.95, 0)
    assert measured.s.high == pytest.approx(600 * MB) and measured.s.low == network.low


@pytest.mark.parametrize(
    ("minimum", "most", "refused"),
    [
        (916, None, {}),
        (917, None, {ATOM: ("too-slow", {"points": 916, "min_points": 917})}),
        (None, 94, dict.fromkeys([E3_1280, "Xeon E5650"], ("too-much-power", {"watts": 95, "max_watts": 94}))),
        (None, 95, {}),
    ],
)
def test_a_cpu_is_refused_beyond_a_limit(minimum, most, refused):
    found = {
        c.name: (c.refused.code, c.refused.values) for c in list_cpus_within_limits(CPUS, minimum, most) if c.refused
    }
    assert found == refused


def test_steps_are_from_the_slower_to_the_faster_with_what_changed():
    configurations = [
        Configuration("slow", {"fs": "nfs", "net": 1}, (100.0,)),
        Configuration("fast", {"fs": "nfs", "net": 10}, (25.0,)),
        Configuration("other", {"fs": "pvfs", "net": 1, "extra": 5}, (50.0,)),
    ]
    found = list_configuration_steps(configurations, 0.95)
    assert [(s.before, s.after, s.changed, s.speedup.value) for s in found] == [
        ("slow", "fast", ("net",), 4.0),
        ("slow", "other", ("fs", "extra"), 2.0),
        ("other", "fast", ("fs", "net", "extra"), 2.0),
    ]
    assert find_best_step_from(found, "slow") is found[0] and find_best_step_from(found, "other") is None
    by = partial(list_steps_by_change, configurations, found)
    assert by({"fs": "nfs", "net": 1}, {"net": 10}) == (found[0],) == by({"fs": "nfs"}, {"net": 10})
    assert by({"fs": "nfs", "net": 2}, {"net": 10}) == () == by({"fs": "pvfs", "net": 1}, {"net": 10})
    assert by({}, {"net": 1}) == () == by({}, {}) and by({}, {"fs": "pvfs", "extra": 5}) == (found[1],)
    assert {name: e.value for name, e in estimate_mean_times(configurations, 0.95).items()} == {
        "slow": 100,
        "fast": 25,
        "other": 50,
    }


def test_the_same_draw_is_before_and_after_a_change():
    """The network limits in every draw, so its double gains 100 % in each; a new value gains by its own interval."""
    system = {**cluster().system, "network": Quantity(100 * MB, 80 * MB, 125 * MB), "disk_write": exactly(1000 * MB)}
    measured = replace(cluster(), system=system)
    double = UpgradeCandidate("double", {"network": exactly(2, True)})
    (option,) = evaluate_options(measured, [double], UpgradeLimits(), 0.95)
    assert (option.gain.value, option.gain.low, option.gain.high) == pytest.approx((1.0, 1.0, 1.0))
    new = UpgradeCandidate("new", {"network": Quantity(200 * MB, 160 * MB, 250 * MB)})
    (option,) = evaluate_options(replace(measured, system={**system, "network": exactly(100 * MB)}), [new], FREE, 0.9)
    assert (option.gain.value, option.gain.level, option.gain.warnings) == (pytest.approx(1.0), 0.9, ())
    assert (option.gain.low, option.gain.high) == (pytest.approx(0.6, abs=0.05), pytest.approx(1.5, abs=0.08))


FREE = UpgradeLimits()


def test_money_is_for_added_servers_and_the_change():
    """Network and disks limit to 400 and 600 MB/s with 4 servers; the other servers cost 1000 each."""
    more = replace(SERVERS, cost=50.0, watts=7.0)
    fewer = UpgradeCandidate("fewer", {"servers": exactly(2), "disks": exactly(2)}, cost=9.0)
    by_name = {option.candidate.name: option for option in evaluate_options(cluster(), [more, fewer], FREE, 0.95)}
    assert (by_name["servers"].cost, by_name["fewer"].cost) == (4050.0, 9.0)
    assert (by_name["servers"].added_watts, by_name["fewer"].added_watts) == (407.0, -200.0)
    assert by_name["servers"].per_money == pytest.approx(400 * MB / 4050)
    assert by_name["servers"].per_watt == pytest.approx(400 * MB / 407)
    assert by_name["fewer"].gain.value == pytest.approx(-0.5)
    assert by_name["fewer"].per_watt is None and by_name["fewer"].per_money == pytest.approx(-200 * MB / 9)
    unknown = evaluate_options(replace(cluster(), watts_per_server=None), [more], FREE, 0.95)[0]
    assert (unknown.added_watts, unknown.per_watt, unknown.totals.watts) == (None, None, None)
    free = evaluate_options(cluster(cost_per_server=0.0), [SERVERS], FREE, 0.95)[0]
    assert (free.cost, free.per_money) == (0.0, None)


def test_of_equal_gains_the_cheaper_is_bought_first():
    dear, cheap = replace(NETWORK, name="dear", cost=900), replace(NETWORK, name="cheap", cost=100)
    options = evaluate_options(cluster(), [dear, cheap], FREE, 0.95)
    assert [option.candidate.name for option in options] == ["cheap", "dear"]
    assert order_purchases(cluster(), options, FREE) == [("cheap", pytest.approx(0.5), 100)]
    both = evaluate_options(cluster(), [DISKS, dear], FREE, 0.95)
    steps = order_purchases(cluster(), both, FREE)
    assert steps == [("dear", pytest.approx(0.5), 900), ("disks", pytest.approx(1200 / 600 - 1), 1200)]
    assert order_purchases(cluster(), both, UpgradeLimits(max_cost=1200)) == steps
    assert order_purchases(cluster(), both, UpgradeLimits(max_cost=1199)) == steps[:1]


def test_what_gains_nothing_names_the_change_that_must_come_first():
    (disks, *_) = [o for o in evaluate_options(cluster(), [DISKS, NETWORK], FREE, 0.95) if o.candidate is DISKS]
    assert disks.trap and disks.first == ("network", pytest.approx(1200 / 600 - 1))
    (alone,) = evaluate_options(cluster(), [DISKS], FREE, 0.95)
    assert alone.trap and alone.first is None
    assert all(option.first is None for option in evaluate_options(cluster(), [NETWORK, SERVERS], FREE, 0.95))
    impossible = UpgradeCandidate("more", {"servers": exactly(8)})
    assert can_combine_changes(cluster(), [SERVERS]) and not can_combine_changes(cluster(), [impossible])
