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
