"""Small rules of which many answers are made: each by a table, or by what is written and read back."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime

import numpy as np
import pytest

from iosonde.core import (
    clock_words,
    cpu_usage,
    decision,
    declared_names,
    emulated,
    estimate_text,
    faults,
    hardware,
    json_integers,
    levels,
    problems,
    questions,
    system_words,
    transforms,
    truth,
    words,
)
from iosonde.core.errors import DataError, InputError
from iosonde.core.message import Message
from iosonde.core.pair_rule import PairRule, build_pair_rule
from iosonde.core.types import Estimate, Experiment
from messages import raises


def estimate(value, low=None, high=None, n=4) -> Estimate:
    return Estimate(value, low, high, 0.95, n)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("usage_usec 1500000\nuser_usec 1", 1.5),
        ("nr 3\nusage_usec 2", 2e-6),
        ("2500000000\n", 2.5),
        ("", None),
        ("x", None),
        ("usage_usec", None),
    ],
)
def test_cpu_time_of_both_versions_of_control_groups(text, seconds):
    assert cpu_usage.parse_cpu_seconds(text) == seconds


def test_clocks_are_those_of_the_tools_then_that_of_the_engine():
    tools = [clock_words.ToolClock("ior", "open,,close"), clock_words.ToolClock("fio")]
    described = list(clock_words.describe_clocks("first_done", tools))
    assert described[0].startswith("as reported by ior (open, close ") and described[1] == "as reported by fio"
    assert described[2:] == [clock_words._STOPS["first_done"]]
    (summed,) = clock_words.describe_clocks("", [clock_words.ToolClock("fio", "", True)])
    assert summed.startswith(described[1]) and summed != described[1]
    assert list(clock_words.describe_clocks("", [])) == [] and list(clock_words.describe_clocks("own", [])) == ["own"]


DECISION = decision.Decision("write", 0.03, 0.95, "6 trials")
SEALED_AT = datetime(2026, 11, 29, 8, 0, 0, 123456, UTC)


def test_a_sealed_decision_is_whole_and_holds():
    sealed = decision.seal_decision(DECISION, "e-1", SEALED_AT)
    digest = sealed.pop("sha256")
    assert sealed == {
        "metric": "write",
        "margin": 0.03,
        "level": 0.95,
        "stopping": "6 trials",
        "experiment": "e-1",
        "sealed_at": "2026-11-29T08:00:00.123Z",
    }
    assert len(digest) == 64
    paired = decision.seal_decision(decision.Decision("write", 0.03, 0.95, "x", {"a": "1"}), "e-1", SEALED_AT)
    assert paired["pairs"] == {"a": "1"} and paired["sha256"] != digest


@pytest.mark.parametrize(
    ("change", "experiment", "first_trial_at", "code"),
    [
        ({}, "e-1", None, ""),
        ({}, "e-1", "2026-11-29T08:00:00.123Z", ""),
        ({}, "e-1", "2026-11-29T08:00:00.123", ""),  # UTC
        ({}, "e-1", "2026-11-29T09:00:00.123+01:00", ""),
        ({}, "e-1", "2026-11-29T08:00:00.122Z", "sealed-late"),
        ({}, "e-1", "2026-11-29T08:30:00+01:00", "sealed-late"),
        ({}, "e-2", "2027-01-01T00:00:00Z", "other-experiment"),
        ({"margin": 0.04}, "e-2", None, "decision-changed"),
        ({"more": 1}, "e-1", None, "decision-changed"),
        ({"sha256": "0" * 64}, "e-1", None, "decision-changed"),
    ],
)
def test_a_seal_is_broken_by_a_change_another_experiment_or_a_late_time(change, experiment, first_trial_at, code):
    sealed = decision.seal_decision(DECISION, "e-1", SEALED_AT) | change
    why = decision.explain_broken_seal(sealed, experiment, first_trial_at)
    assert (why.code if isinstance(why, Message) else why) == code


def test_a_decision_without_a_readable_time_was_sealed_late():
    content = {"experiment": "e-1", "sealed_at": "soon"}
    sealed = content | {"sha256": decision._hash_content(content)}
    why = decision.explain_broken_seal(sealed, "e-1", "2026-11-29T08:00:00Z")
    assert isinstance(why, Message) and why.code == "sealed-late"
    assert decision.explain_broken_seal(sealed, "e-1", None) == ""


RULE = PairRule("fs", "nfs", "new", "", 0.03, 0.95, 20, cells=5)


def test_the_rule_of_pairs_is_read_back_from_its_experiment():
    for rule in (RULE, PairRule("fs", "a", "b", "write", 0.1, 0.9, 8, fail_if=("slower>5%", "more>1%"))):
        stored = json.loads(json.dumps({"pairs": rule.sealed()}))
        experiment = Experiment("e", "e", [], {decision.KEY: stored}, [], 1, "")
        assert build_pair_rule(experiment) == rule
    assert "fail_if" not in RULE.sealed() and RULE.sealed()["cells"] == 5
    for settings in ({}, {decision.KEY: {}}, {decision.KEY: {"pairs": None}}):
        assert build_pair_rule(Experiment("e", "e", [], settings, [], 1, "")) is None


def test_the_intervals_of_all_cells_and_metrics_share_one_error():
    assert RULE.share() == pytest.approx(0.99) and RULE.share(2) == pytest.approx(0.995)


def test_the_factors_that_a_file_declares():
    document = {
        "factors": {"nodes": [1, 2]},
        "lab": {
            "profile": "x",
            "net-rate": [1, 2],
            "set": {"gluster.write-behind": 1},
            "levels": {"fs": {"nfs": {"nfs.threads": 4, "set": {"a.b": 1}}}},
        },
        "quick": {"factors": {"size": [1]}},
        "full": {"lab": {"disks": 3}},
        "other": {"factors": {"never": [1]}},
    }
    expected = {"nodes", "net_rate", "write_behind", "fs", "threads", "b", "size", "disks"}
    assert declared_names.collect_declared_names(document) == expected
    assert declared_names.collect_declared_names({"factors": ["x"], "lab": 3, "full": None}) == frozenset()


def test_the_rates_of_an_emulated_cluster():
    rates = emulated.read_rates(
        {"file_system": "nfs", "net_bits_per_s": 8e9, "disk_read": 200.0, "disk_write": 100.0, "scale": 2.0, "x": 1}
    )
    assert rates == emulated.StoredRates("nfs", 3, 8e9, 200.0, 100.0, 2.0)
    assert (rates.link_bits_per_s, rates.read_rate, rates.write_rate) == (4e9, 100.0, 50.0)
    assert rates.goodput == pytest.approx(4e9 / 8 * 0.956)
    unlimited = emulated.read_rates({"file_system": "nfs"})
    assert (unlimited.link_bits_per_s, unlimited.goodput, unlimited.read_rate, unlimited.write_rate) == (None,) * 4
    assert [emulated.compute_burst_bytes(rate) for rate in (1e9, 65_540_000, 65_536_000, 1.0)] == [
        250_000,
        16_385,
        16_384,
        16_384,
    ]


def test_a_busy_machine_is_no_warning_about_rates():
    lab = {"emulated": {"warnings": ["a link is slow", emulated.BUSY, f"{emulated.BUSY}: 3", 7]}}
    assert emulated.describe_off_rates(lab) == ["a link is slow", "7"]
    assert emulated.describe_off_rates({}) == emulated.describe_off_rates({"emulated": None}) == []


@pytest.mark.parametrize(
    ("pair", "medium"),
    [
        ({"a": 0, "b": 1, "crossed_bytes": 0, "sent_bytes": 100}, "shared memory"),
        ({"a": 1, "b": 2, "crossed_bytes": 50, "sent_bytes": 100}, "network"),
        ({"a": 2, "b": 0, "crossed_bytes": 49, "sent_bytes": 100}, "not seen on the network"),
    ],
)
def test_the_medium_between_two_ranks(pair, medium):
    assert hardware.classify_medium(pair, [0, 0, 1]) == medium


@pytest.mark.parametrize(("level", "valid"), [(0.01, True), (0.999_999, True), (0.009, False), (0.9999999, False)])
def test_a_level_is_within_usual_bounds(level, valid):
    if valid:
        assert levels.check_level(level) == level
        return
    with raises("out-of-range", InputError, level=level, minimum=0.01, maximum=0.999_999):
        levels.check_level(level)


@pytest.mark.parametrize(("level", "fraction"), [(50, "0.5"), (99.9, "0.999"), (49, ""), (100, ""), (1, ""), (0, "")])
def test_a_level_in_percent_is_given_back_as_a_fraction(level, fraction):
    with raises("out-of-range", InputError, level=level, fraction=level / 100) as caught:
        levels.check_level(level)
    assert (f"write {fraction}" in caught.value.hint) is bool(fraction)


def test_a_level_below_the_usual_one_is_warned_about():
    assert levels.build_low_level_warning(0.9) is None
    warning = levels.build_low_level_warning(0.75)
    assert warning is not None and (warning.code, warning.values["n_intervals"]) == ("low-confidence-level", 4.0)


@pytest.mark.parametrize(
    ("value", "low", "high", "text", "short"),
    [
        (212.0, 205.0, 219.0, "212 (205–219) x", "212 ± 7"),
        (212.0, 198.0, 241.0, "212 (198–241) x", "212, 198–241"),
        (1.0, 0.9996, 1.0004, "1.0000 (0.9996–1.0004) x", "1.0000 ± 0.0004"),
        (0.0, -1.5, 1.5, "0.00 (-1.50–1.50) x", "0.00, -1.50–1.50"),
        (-5.0, -7.0, -3.0, "-5.00 (-7.00 to -3.00) x", "-5.00 ± 2.00"),
        (1.0, -300.0, 302.0, "1.00 (-300–300) x", "1.00, -300–300"),
        (1.0, 0.0, 302.0, "1.00 (~) x", "1.00 ~"),
        (1e11, 0.9e11, 1.1e11, "1e+11 (9e+10–1.1e+11) x", "1e+11 ± 1e+10"),
        (1234567.0, 1234000.0, 1235134.0, "1234600 (1234000–1235100) x", "1234600 ± 600"),
        (200.0, 101.0, 301.0, "200 (101–301) x", "200 ± 100"),  # the halves differ by 2 % of one
        (200.0, 101.0, 301.5, "200 (101–302) x", "200, 101–302"),
        (212.0, None, 219.0, "212 (~) x", "212 ~"),
        (None, 1.0, 2.0, "~", "~"),
    ],
)
def test_an_estimate_as_text(value, low, high, text, short):
    assert estimate_text.format_estimate(estimate(value, low, high), "x") == text
    assert estimate_text.format_short_estimate(estimate(value, low, high)) == short


def test_an_estimate_in_a_unit_and_with_one_end():
    rate = estimate(2.0**20, 2.0**19, 1.5 * 2**20)
    assert estimate_text.format_estimate(rate, "bytes/s") == "1.00 (0.50–1.50) MiB/s"
    assert estimate_text.format_estimate(rate, "bytes/s", (1024.0, "KiB/s")) == "1020 (510–1540) KiB/s"
    assert estimate_text.format_estimate(estimate(2.0, 1.0, 3.0), "") == "2.00 (1.00–3.00)"
    assert estimate_text.format_estimate_or_end(estimate(2.0, 1.0, 3.0), "") == "2.00 (1.00–3.00)"
    assert estimate_text.format_estimate_or_end(estimate(None, 8.0, None), "s") == "at least 8.00 s"
    assert estimate_text.format_estimate_or_end(estimate(9.0, None, 0.002), "s") == "at most 2.00 ms"
    assert estimate_text.format_estimate_or_end(estimate(9.0), "s") == "~"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (words.format_number(None), "~"),
        (words.format_number(0.1 + 0.2, 2), "0.30"),
        (words.format_count(1, "trial"), "1 trial"),
        (words.format_count(2048, "rank per node"), "2,048 ranks per node"),
        (words.format_count(0, "trial"), "0 trials"),
        (words.join_names(["a"]), "a"),
        (words.join_names(["a", "b"]), "a and b"),
        (words.join_names(["a", "b", "c"]), "a, b and c"),
        (words.format_share(0.973), "97.3 %"),
        (words.format_share(None), "~"),
        (words.format_small_share(0.00022), "0.022 %"),
        (words.format_small_share(0.0), "0.0 %"),
        (words.format_small_share(0.001), "0.1 %"),
        (words.format_share_interval(estimate(0.973, 0.951, 0.995)), "97.3 (95.1 to 99.5) %"),
        (words.format_share_interval(estimate(0.973, 0.951)), "97.3 (~) %"),
        (words.format_share_interval(estimate(0.25)), "25.0 (~) %"),
        (words.format_share_interval(estimate(None)), "~"),
        (words.format_share_interval(None), "~"),
        (words.format_share_difference(estimate(0.021, 0.004, 0.038)), "+2.1 points (+0.4 to +3.8)"),
        (words.format_share_difference(estimate(-0.021, None, 0.038)), "-2.1 points (~)"),
        (words.format_ratio_interval(estimate(1.482, 1.431, 1.535)), "1.482 (1.431 to 1.535)"),
        (words.format_ratio_interval(estimate(1.482)), "1.482 (~)"),
        (words.format_ratio_interval(estimate(None)), "~"),
        (words.format_decimals(-0.0001, 1), "0.0"),
        (words.format_decimals(99_999.94, 1), "99999.9"),
        (words.format_decimals(100_000.0, 1, "+"), "+1e+05"),
        (words.format_level_in_full(1048576), "1048576"),
        (words.format_level_in_full(10_000_000_000), "1e+10"),
        (words.format_level_in_full(-10_000_000_000), "-1e+10"),
        (words.format_level_in_full(9_999_999_999), "9999999999"),
        (words.format_level_in_full(12_345_678_901.5), "1.23e+10"),
        (words.format_level_in_full(0.123456), "0.1235"),
        (words.format_level_in_full(math.inf), "inf"),
        (words.format_level_in_full("x"), "x"),
    ],
)
def test_numbers_in_sentences(text, expected):
    assert text == expected


def test_each_transform_is_its_function():
    values = np.array([1.0, 4.0, np.nan])
    for name, expected in {
        "": [1, 4],
        "log": [0, math.log(4)],
        "log2": [0, 2],
        "log10": [0, math.log10(4)],
        "sqrt": [1, 2],
        "square": [1, 16],
        "inverse": [1, 0.25],
    }.items():
        result = transforms.apply_transform(name, values, "y")
        assert result[:2] == pytest.approx(expected) and np.isnan(result[2])
    for name, bad in (("log", 0.0), ("sqrt", -1.0), ("inverse", 0.0)):
        with raises("undefined-transform", DataError, transform=name, column="y", number=bad):
            transforms.apply_transform(name, np.array([np.nan, 1.0, bad]), "y")


def test_the_truth_of_a_scripted_machine_is_read_back(tmp_path):
    operations = np.array([(1, 0), (1, 0), (1, 1), (2, 0), (3, 0)], dtype=[("phase", "i4"), ("rank", "i4")])
    codes = {0: truth.encode_classes(bytes([0, 1])), 1: truth.encode_classes(bytes([1]))}
    assert codes == {0: "01", 1: "1"} and truth.get_raw_name(12) == "truth-0012.json"
    (tmp_path / "truth").write_bytes(truth.encode_raw_file(["late"], {0: "0"}))
    raw = {
        "truth-0001.json": truth.encode_raw_file(["none", "discarded"], codes),
        "truth-0002.json": truth.encode_raw_file(["x"], {0: "00"}),  # more than were recorded
        "truth-0003.json": tmp_path / "truth",
    }
    assert truth.classify_operations(raw, operations).tolist() == ["none", "discarded", "discarded", "", "late"]
    assert truth.classify_operations({}, operations).tolist() == [""] * 5


@pytest.mark.parametrize(
    ("value", "names"),
    [(None, ()), (["a", " b "], ("a", "b")), ("a, b,,c ", ("a", "b", "c")), (5, ("5",)), ((1, ""), ("1",)), ("", ())],
)
def test_names_in_an_option(value, names):
    assert questions.split_listed_names(value) == names


def test_a_question_is_the_command_that_answers_it():
    entries = [
        {
            "question": "Is it faster?",
            "compare": {
                "levels": "nfs, new",
                "at": [2, "x"],
                "by": ["a", "b"],
                "paired": True,
                "quiet": False,
                "max_n": 5,
            },
            "metric": "write",
            "where": "nodes=2",
            "published": "1999",
        },
        {"question": "Why?", "time_model": {}, "where": ["a=1", "b=2"]},
        {"question": "What?", "diagnose": {}, "metric": ["read", "write"]},
        {"question": "Who?", "unknown": {}},
    ]
    first, second, third = questions.read(entries, frozenset("n"))
    expected = (
        "iosonde compare data nfs new --by a,b --paired --max-n 5 --at 2 --at x --response write "
        "--experiment e-1 --where nodes=2"
    )
    assert " ".join(first.command("data", "e-1")) == expected
    assert second.command("d") == ["iosonde", "time-model", "d", "--where", "a=1", "--where", "b=2"]
    expected = ["iosonde", "diagnose", "d", "--metric", "read,write"]
    assert third.command("d") == expected
    expected = ("Is it faster?", "1999", ("nodes=2",), {"n"})
    assert (first.text, first.published, first.where, first.declared) == expected
    assert (first.names("by"), first.names("x"), second.metric, second.published) == (("a", "b"), (), (), "")


def test_mistakes_are_in_the_order_of_the_file_and_at_most_ten_are_listed():
    mistakes = [problems.Problem(place, f"k{place}", Message("bad", "bad"), "mend") for place in range(12, 0, -1)]
    error = problems.SpecError("f.yaml", mistakes)
    assert (error.code, error.values["mistakes"], error.values["name"]) == ("several-mistakes", 12, "f.yaml")
    assert error.details == (*(f"f.yaml:{place}: k{place}: bad; mend" for place in range(1, 11)), "and 2 more")
    assert problems.SpecError("", mistakes[:10]).details[-1] == "12: k12: bad; mend".removeprefix("12: ")
    assert problems.SpecError("f", mistakes[:10]).values["mistakes"] == 10


@pytest.mark.parametrize(
    ("name", "place", "key", "text"),
    [
        ("f", 3, "a.b", "f:3: a.b: bad"),
        ("f", None, "a", "f: a: bad"),
        ("", 3, "a", "a: bad"),
        ("f", 3, "", "f:3: bad"),
        ("f", "--by", "a", "--by: bad"),
        ("", None, "", "bad"),
    ],
)
def test_a_single_mistake_is_the_error_itself(name, place, key, text):
    error = problems.SpecError(name, [problems.Problem(place, key, Message("bad", "bad", x=1), "mend")])
    assert (error.message, error.hint, error.code, error.details) == (text, "mend", "bad", ())
    assert error.values == {"x": 1, "place": place, "key": key}
    assert problems.Problem(None, "", "plain").code == "invalid-document"


def test_the_nearest_known_word_is_suggested_else_all():
    assert problems.find_closest_word("repetitons", ["steps", "repetitions"]) == "repetitions"
    assert problems.find_closest_word("xyz", ["steps"]) == ""
    assert "repetitions" in problems.suggest_replacement("repetitons", ["steps", "repetitions"])
    assert problems.suggest_replacement("xyz", iter(["steps", "lab"])).endswith("steps, lab")


def test_a_long_integer_of_json_is_refused():
    assert json_integers.parse_json_integer("9" * 4000) == 10**4000 - 1
    with pytest.raises(ValueError, match="4,001 digits"):
        json_integers.parse_json_integer("9" * 4001)


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (system_words.parse_count, "2.5", 2.5),
        (system_words.parse_count, "x", "not-a-number"),
        (system_words.parse_count, "inf", "not-finite"),
        (system_words.parse_integer, "4", 4),
        (system_words.parse_integer, "4.5", "not-an-integer"),
        (system_words.parse_bytes, "4k", 4096.0),
    ],
)
def test_numbers_of_a_system(parse, text, value):
    if not isinstance(value, str):
        assert parse(text) == value
        return
    with raises(value, InputError, number=text):
        parse(text)


PLANNED = faults.PlannedFault("slow-link", "server-1", 2.0, 3.0, "10mbit", "write")
DONE = faults.FaultDone(PLANNED, "server-1", 1, 10, 20, 30, 40, 1_000_000_000, 3_500_000_000, "why", {"server-1": 0.5})
SETTLED = faults.Settled(7, 60.0, 1, 4, 3, 2, None, 5.0, 6.0, 0.1, ("ok", "well"))


def test_a_fault_is_named_and_knows_when_it_was_healed():
    assert (DONE.name, DONE.heal_s) == ("slow-link 10mbit on server-1", 2.5)
    plain = faults.FaultDone(faults.PlannedFault("stop", "servers"), "server-2", healed_ns=5)
    assert (plain.name, plain.heal_s) == ("stop on server-2", None)


def test_faults_are_read_back_from_json():
    for done in (DONE, faults.FaultDone(faults.PlannedFault("stop", "servers"), "server-2")):
        assert faults.FaultDone.from_dict(json.loads(json.dumps(done.to_dict()))) == done
    assert faults.Settled.from_dict(json.loads(json.dumps(SETTLED.to_dict()))) == SETTLED


def test_a_trial_and_its_injector_exchange_files(tmp_path):
    exchange = faults.Exchange(tmp_path / "trial" / "faults")
    assert exchange.ordered() is None and exchange.answered() is None
    exchange.order([PLANNED], 60.0)
    assert exchange.ordered() == ([PLANNED], 60.0)
    assert (exchange.taken, exchange.over, exchange.marks()) == (False, False, [])
    exchange.take()
    assert (exchange.taken, exchange.over) == (True, False)
    exchange.end_steps()
    assert exchange.over
    marks = [faults.PhaseMark(faults.BEGUN, 1, "write", 5), faults.PhaseMark(faults.ENDED, 1, "write", 9)]
    for mark in marks:
        faults.append_mark(str(exchange.marks_file), mark)
    with exchange.marks_file.open("a") as file:
        file.write('{"what": "beg')  # not yet whole
    assert exchange.marks() == marks
    for settled in (SETTLED, None):
        exchange.answer([DONE], settled)
        assert exchange.answered() == ([DONE], settled)
    assert sorted(path.name for path in exchange.folder.iterdir()) == [
        "done.json",
        "marks",
        "order.json",
        "over",
        "taken",
    ]


def test_an_injector_is_there_until_it_closes(tmp_path):
    import os

    assert not faults.has_injector(tmp_path)
    handle = faults.register_injector(tmp_path)
    assert faults.has_injector(tmp_path)
    os.close(handle)
    assert not faults.has_injector(tmp_path)
