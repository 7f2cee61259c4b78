"""The experiment that would confirm a finding: one thing changed, and a file that can be measured."""

from __future__ import annotations

from iosonde.core.errors import DataError
from iosonde.explain.causes.target import Agreement, Suspect
from iosonde.explain.confirm import build_confirmation
from messages import assert_problem, raises

MIB = 2**20
STEPS = [
    {
        "workload": "phases",
        "phases": [
            {
                "name": "w",
                "files": "f",
                "steps": ["create", {"kind": "write", "transfer_size": "64KiB", "size": "8MiB"}],
            },
            {
                "name": "r",
                "files": "f",
                "steps": ["open", {"kind": "read", "transfer_size": "${transfer}", "size": "8MiB"}],
            },
        ],
    }
]
SETTINGS = {"steps": STEPS, "nodes": [1, 2], "ranks_per_node": [1, 4], "factors": {"transfer": [65536, MIB]}, "seed": 3}
SETTING = {"nodes": 2, "ranks_per_node": 4, "transfer": 65536}


def asked(code, kind="read", size=65536, settings=SETTINGS, **evidence):
    suspect = Suspect(code, 1, "", "", Agreement(1, 1, 1, 0), "", evidence)
    return build_confirmation(settings, SETTING, "r", kind, size, suspect)


def test_a_unit_in_bytes_is_asked_with_other_request_sizes():
    told = asked("S401", period_bytes=MIB)
    read = told.document["steps"][0]["phases"][1]["steps"][1]
    assert read["transfer_size"] == "${request_size}"
    assert told.document["factors"]["request_size"] == {"levels": [32768, 65536, 131072], "unit": "bytes"}
    assert told.document["factors"]["transfer"] == [65536] and told.document["nodes"] == [2]
    assert_problem(told.expected[0], "request-size", size="32 KiB", n_operations=32.0)
    assert "seed" not in told.document and SETTINGS["factors"]["transfer"] == [65536, MIB], "what was asked stays"


def test_what_changes_at_a_moment_is_asked_with_twice_as_much():
    told = asked("S404", "write", late=True, bytes_before=4 * MIB, moment_s=1.5)
    assert told.document["factors"]["amount"] == {"levels": [8 * MIB, 16 * MIB], "unit": "bytes"}
    assert "4 MiB" in told.expected[0] and "1.5" in told.expected[0]


def test_stalls_are_asked_with_fewer_ranks_and_what_cannot_be_changed_again():
    assert asked("S409").document["ranks_per_node"] == [1, 2, 4]
    again = asked("S408")
    assert again.document["repetitions"] == 6 and again.expected[0].code == "same-again"


def test_the_servers_of_a_lab_count_where_files_are_slow():
    in_lab = {**SETTINGS, "lab": {"file_system": "glusterfs"}}
    told = asked("S408", settings=in_lab, files=[1, 2])
    assert told.document["lab"] == {"file_system": "glusterfs", "profile": True}
    assert told.expected[1].code == "servers-count" and in_lab["lab"] == {"file_system": "glusterfs"}
    assert asked("S408", settings=in_lab, ranks=[1]).document["lab"] == in_lab["lab"]
    assert "lab" not in asked("S408", files=[1, 2]).document


def test_what_was_not_measured_cannot_be_measured_again():
    with raises("steps-not-recorded", DataError):
        asked("S401", settings={}, period_bytes=MIB)
    with raises("two-sided-experiment", DataError):
        asked("S401", settings={**SETTINGS, "against": {}}, period_bytes=MIB)


def build(steps, **more):
    return {"steps": steps, "nodes": [2], "factors": {}, **more}


def confirm(code, steps, kind="read", size=65536, what="r", **evidence):
    suspect = Suspect(code, 1, "", "", Agreement(1, 1, 1, 0), "", evidence)
    return build_confirmation(build(steps), {}, what, kind, size, suspect)


READ = {"kind": "read", "access_size": 65536, "size": MIB, "place": "random"}
WRITE = {"kind": "write", "access_size": 65536, "size": MIB, "place": "random"}


def test_only_operations_of_the_kind_get_another_request_size():
    experiment = confirm("S401", [dict(READ), dict(WRITE)], period_bytes=MIB).document
    assert experiment["steps"] == [{**READ, "access_size": "${request_size}"}, WRITE]
    assert experiment["name"] == "confirm S401 of r" and experiment["repetitions"] == 3
    other = confirm("S401", [{**READ, "access_size": 4096}], period_bytes=MIB)
    assert other.expected[0].code == "same-again" and other.document["repetitions"] == 6
    assert confirm("S401", [dict(READ)], size=1, period_bytes=MIB).expected[0].code == "same-again"


def test_a_unit_a_gap_or_neither_is_expected_with_each_request_size():
    unit, gap, neither = (
        confirm(code, [dict(READ)], **evidence).expected
        for code, evidence in (("S406", {"unit_bytes": MIB}), ("S411", {"gap_bytes": MIB}), ("S401", {}))
    )
    assert [text.code for text in unit] == ["other-request-size"] and unit[0].values["unit_size"] == "1 MiB"
    assert [(text.values["size"], text.values["n_operations"]) for text in gap] == [
        ("32 KiB", 32.0),
        ("64 KiB", 16.0),
        ("128 KiB", 8.0),
    ]
    assert [text.code for text in neither] == ["other-request-size"] and "unit_size" not in neither[0].values


def test_the_envelope_has_the_request_size_of_its_large_files():
    step = {"workload": "envelope"}
    confirmed = confirm("S401", [dict(step)], what="read_large", period_bytes=MIB).document
    assert confirmed["steps"] == [{**step, "transfer_size": "${request_size}"}]
    assert confirmed["factors"]["request_size"]["levels"] == [32768, 65536, 131072]
    for what, steps in (("read_small", [dict(step)]), ("read_large", [dict(step), {"workload": "other"}])):
        assert confirm("S401", steps, what=what, period_bytes=MIB).expected[0].code == "same-again"


def test_twice_as_much_moves_limits_that_would_end_it_earlier():
    bytes_twice = confirm("S404", [{**READ, "bytes": 10, "time_limit": 5}], late=False)
    assert bytes_twice.document["steps"] == [{**READ, "bytes": 20, "time_limit": 10, "size": "${amount}"}]
    assert bytes_twice.document["factors"] == {"amount": {"levels": [MIB, 2 * MIB], "unit": "bytes"}}
    assert [text.code for text in bytes_twice.expected] == ["twice-as-much"] and "size" not in bytes_twice.expected[
        0
    ].values
    counts = confirm("S402", [{"kind": "stat", "operations": 100}], kind="stat", size=0, period_s=5.0)
    assert counts.document["factors"] == {"amount": {"levels": [100, 200]}}
    assert_problem(counts.expected[0], "twice-as-long", period="5.00 s")
    late = confirm("S404", [dict(WRITE)], kind="write", late=True, bytes_before=MIB, moment_s=0.5)
    assert_problem(late.expected[0], "twice-as-much", size="1 MiB", moment="500 ms")
    assert confirm("S404", [{"kind": "stat"}], late=False).expected[0].code == "same-again"


def test_jumps_are_confirmed_in_order_and_stalls_with_fewer_ranks():
    jumps = confirm("S407", [dict(READ), dict(WRITE)])
    assert jumps.document["factors"] == {"order": {"levels": ["random", "seq"]}}
    assert [step["place"] for step in jumps.document["steps"]] == ["${order}", "random"]
    assert jumps.expected[0].code == "sequential-order"
    for ranks, levels in (([8], [1, 4, 8]), ([2], [1, 2]), ([3, 5], [1, 2, 5])):
        stalls = build_confirmation(
            build([dict(READ)], ranks_per_node=ranks),
            {},
            "r",
            "read",
            1,
            Suspect("S409", 1, "", "", Agreement(1, 1, 1, 0), ""),
        )
        assert stalls.document["ranks_per_node"] == levels and stalls.expected[0].code == "fewer-ranks"
    assert confirm("S409", [dict(READ)]).expected[0].code == "same-again", "a single rank waits for no other"


def test_a_placeholder_is_read_where_its_factor_has_one_level():
    steps = [{**READ, "access_size": "${size}"}]
    suspect = Suspect("S401", 1, "", "", Agreement(1, 1, 1, 0), "", {"period_bytes": MIB})
    for factor, setting, code in (
        ({"levels": ["64KiB", "1MiB"], "unit": "bytes"}, {"size": 65536}, "request-size"),
        ([65536, MIB], {}, "same-again"),
    ):
        given = build(steps, factors={"size": factor, "other": [1, 2]})
        confirmed = build_confirmation(given, {**setting, "nodes": 4, "ranks_per_node": 2}, "r", "read", 65536, suspect)
        assert confirmed.expected[0].code == code
        assert (confirmed.document["nodes"], confirmed.document["ranks_per_node"]) == ([4], [2])
        assert confirmed.document["factors"]["other"] == [1, 2]
