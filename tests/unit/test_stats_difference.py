"""A difference split into parts: they multiply to the whole whatever the two definitions are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_stats_definitions import STAGGERED, work

from iosonde.stats.definitions.clock import (
    LAST_DONE,
    PARENT,
    PARTS,
    STOPS,
    SUM_OF_RANKS,
    SUM_UNTIL_FIRST,
    Clock,
    compute_rate,
)
from iosonde.stats.definitions.difference import REST, UNITS, Side, split_difference

clocks = st.builds(
    Clock, st.frozensets(st.sampled_from(PARTS)), st.sampled_from(STOPS), st.sampled_from([0, 1_000_000])
)


def recorded(one: Clock, prefix: int = 2**20, of: str = "run") -> Side:
    made = work(*STAGGERED)
    moved = made.get_bytes_by_operation("write")
    return Side(
        "tool",
        "write",
        compute_rate(made, moved, one),
        "bytes/s",
        one,
        lambda c: compute_rate(made, moved, c),
        prefix,
        work=of,
    )


def printed(one: Clock, value: float, *others: tuple[Clock, float], **more) -> Side:
    table = dict([(one, value), *others])
    return Side("text", "write", value, "bytes/s", one, table.get, published_clocks=tuple(table), **more)


@given(a=clocks, b=clocks, prefixes=st.tuples(*[st.sampled_from([2**20, 10**6])] * 2))
def test_on_one_record_the_factors_multiply_to_the_ratio_and_nothing_is_left(a, b, prefixes):
    found = split_difference(recorded(a, prefixes[0]), recorded(b, prefixes[1]))
    product, at = 1.0, found.a.value / found.a.prefix
    for part in found.parts:
        assert part.start == pytest.approx(at)
        product, at = product * part.factor, part.end
    assert product == pytest.approx(found.ratio)
    assert at == pytest.approx(found.b.value / found.b.prefix)
    assert sum(part.end - part.start for part in found.parts) == pytest.approx(at - found.a.value / found.a.prefix)
    assert found.residual_attributes == () and all(part.names != (REST,) for part in found.parts)


def test_each_step_has_the_value_of_its_own_definition():
    a, b = recorded(Clock(frozenset(PARTS), LAST_DONE)), recorded(Clock(frozenset(), SUM_UNTIL_FIRST))
    found = split_difference(a, b)
    steps = [(part.names, part.clock.stops, part.end) for part in found.parts]
    mib = 1.0
    assert steps == [
        (("open",), LAST_DONE, pytest.approx(4 * mib / 0.190)),  # 10 to 200 ms
        (("fsync",), LAST_DONE, pytest.approx(4 * mib / 0.150)),  # rank 1's 40 ms of fsync are cut out
        (("close",), LAST_DONE, pytest.approx(4 * mib / 0.110)),
        (("stops",), SUM_OF_RANKS, pytest.approx(2 / 0.040 + 2 / 0.080)),
        (("stops",), SUM_UNTIL_FIRST, pytest.approx(2 / 0.040)),
    ]


def test_megabytes_against_mebibytes_is_a_part_of_its_own():
    one = Clock(frozenset(), LAST_DONE)
    found = split_difference(recorded(one, 10**6), recorded(one, 2**20))
    assert [part.names for part in found.parts] == [(UNITS,)]
    assert found.parts[0].factor == pytest.approx(10**6 / 2**20) == pytest.approx(found.ratio)


def test_two_runs_under_one_definition_differ_by_the_rest_alone():
    one = Clock(frozenset(), LAST_DONE)
    found = split_difference(recorded(one), replace(recorded(one, of="another"), value=1e6, settings={"threads": 2}))
    assert [part.names for part in found.parts] == [(REST,)]


def test_what_a_text_tells_together_is_one_part_and_what_it_does_not_tell_stays_in_the_rest():
    ior = printed(
        Clock(frozenset({"open", "fsync", "close"}), LAST_DONE), 100.0, (Clock(frozenset({"fsync"}), LAST_DONE), 125.0)
    )
    iozone = printed(Clock(frozenset({"fsync"}), SUM_UNTIL_FIRST), 300.0, (Clock(frozenset({"fsync"}), PARENT), 250.0))
    found = split_difference(ior, iozone)
    assert [(part.names, pytest.approx(part.factor)) for part in found.parts] == [
        (("open", "close"), 1.25),
        ((REST,), 2.0),
        (("stops",), 1.2),
    ]
    assert found.residual_attributes == ("stops",)  # the parent's number is nearer to IOR's, and still another


def test_what_only_b_tells_is_walked_from_bs_side():
    a = printed(Clock(frozenset(), LAST_DONE), 100.0)
    b = printed(
        Clock(frozenset({"open", "close"}), SUM_OF_RANKS),
        120.0,
        (Clock(frozenset({"open", "close"}), LAST_DONE), 90.0),
        (Clock(frozenset(), LAST_DONE), 99.0),
    )
    found = split_difference(a, b)
    assert [(part.names, part.on) for part in found.parts] == [
        ((REST,), "both"),
        (("open", "close"), "b"),
        (("stops",), "b"),
    ]
    assert [part.factor for part in found.parts] == pytest.approx([0.99, 90 / 99, 120 / 90])


def test_what_a_text_does_not_tell_is_named_and_never_counted_as_a_part():
    a = printed(Clock(frozenset(), LAST_DONE), 100.0, unknown=frozenset({"fsync"}), settings={"threads": 2})
    found = split_difference(a, recorded(Clock(frozenset({"fsync"}), LAST_DONE)), required=("threads", "client cache"))
    assert all("fsync" not in part.names for part in found.parts) and "fsync" not in found.residual_attributes
    assert found.unsaid == {"a": ("fsync", "client cache"), "b": ("threads", "client cache")}
