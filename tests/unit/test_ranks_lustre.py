"""What Lustre says of itself: outputs in the form that its manual and its users publish; no Lustre was at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.core.filesystems import has_unsplit_files
from iosonde.ranks.machine import filesystems, mount, reading
from iosonde.ranks.machine.filesystems import lustre

SOURCE = "10.0.0.1@tcp:10.0.0.2@tcp:/scratch"
PLAIN = "stripe_count:  1 stripe_size:   1048576 pattern:       raid0 stripe_offset: -1\n"
# Small parts of files on the metadata server, the rest on all servers of data.
COMPOSITE = """\
/scratch/dir
  lcm_layout_gen:    0
  lcm_mirror_count:  1
  lcm_entry_count:   2
    lcme_id:             N/A
    lcme_mirror_id:      N/A
    lcme_flags:          0
    lcme_extent.e_start: 0
    lcme_extent.e_end:   65536
      stripe_count:  0       stripe_size:   65536       pattern:       mdt       stripe_offset: -1

    lcme_id:             N/A
    lcme_mirror_id:      N/A
    lcme_flags:          0
    lcme_extent.e_start: 65536
    lcme_extent.e_end:   EOF
      stripe_count:  -1       stripe_size:   1048576       pattern:       raid0       stripe_offset: -1

"""
PARAMETERS = """\
osc.scratch-OST0000-osc-ffff88003.max_rpcs_in_flight=8
osc.scratch-OST0001-osc-ffff88003.max_rpcs_in_flight=16
osc.home-OST0000-osc-ffff88004.max_rpcs_in_flight=1
osc.scratch-OST0000-osc-ffff88003.checksums=1
osc.scratch-OST0001-osc-ffff88003.checksums=1
llite.scratch-ffff88003.max_read_ahead_mb=64.00
llite.scratch-ffff88003.max_cached_mb=
users: 5
max_cached_mb: 2007
used_mb: 17
unused_mb: 1990
reclaim_count: 0
llite.home-ffff88004.max_cached_mb=
users: 1
max_cached_mb: 11
"""


def imports(state: str = "FULL") -> str:
    return f"""\
osc.scratch-OST0000-osc-ffff88003.import=
import:
    name: scratch-OST0000-osc-ffff88003
    target: scratch-OST0000_UUID
    state: IDLE
    connect_flags: [ write_grant, server_lock, version ]
    import_flags: [ replayable, pingable, connect_tried ]
    connection:
       failover_nids: [ 10.0.0.5@tcp, 10.0.0.6@tcp ]
       current_connection: 10.0.0.5@tcp
       connection_attempts: 1
       generation: 1
osc.scratch-OST0001-osc-ffff88003.import=
import:
    name: scratch-OST0001-osc-ffff88003
    target: scratch-OST0001_UUID
    state: {state}
    connection:
       failover_nids: [ 10.0.0.6@tcp ]
       current_connection: "10.0.0.6@tcp"
osc.home-OST0000-osc-ffff88004.import=
import:
    target: home-OST0000_UUID
    state: DISCONN
mdc.scratch-MDT0000-mdc-ffff88003.import=
import:
    target: scratch-MDT0000_UUID
    state: FULL
    connection:
       current_connection: 10.0.0.2@tcp
"""


@pytest.fixture
def tools(monkeypatch):
    """Answers by the words of a tool; what is asked for is noted."""
    answers: dict[str, str] = {}

    def tool(words, *_, **__):
        return next((answer for part, answer in answers.items() if part in " ".join(words)), None)

    monkeypatch.setattr(reading, "run_tool", tool)
    return answers


def of_scratch(tmp_path: Path) -> mount.Mount:
    return mount.Mount(str(tmp_path), "lustre", SOURCE, "rw", "rw", (0, 63), "/")


def test_a_layout_of_components_is_not_taken_for_its_first_one():
    found = lustre.parse_getstripe(COMPOSITE)
    assert found == {
        "mirrors": 1,
        "components": [
            {"start": 0, "end": 65536, "stripe_count": 0, "stripe_size": 65536, "pattern": "mdt", "stripe_offset": -1},
            {
                "start": 65536,
                "end": None,
                "stripe_count": -1,
                "stripe_size": 1048576,
                "pattern": "raid0",
                "stripe_offset": -1,
            },
        ],
    }
    assert not has_unsplit_files("lustre", {"striping": found})
    assert has_unsplit_files("lustre", {"striping": lustre.parse_getstripe(PLAIN)})


def test_parameters_are_those_of_this_file_system_and_what_differs_is_said():
    assert lustre.parse_parameters(PARAMETERS, "scratch") == {
        "osc.max_rpcs_in_flight": "8, 16",
        "osc.checksums": "1",
        "llite.max_read_ahead_mb": "64.00",
        "llite.max_cached_mb": "2007",
    }
    assert lustre.parse_parameters(PARAMETERS, "home") == {"osc.max_rpcs_in_flight": "1", "llite.max_cached_mb": "11"}
    assert lustre.parse_parameters("error: get_param: param_path 'mdc/*/x': No such file", "scratch") == {}


def test_a_target_without_a_connection_is_a_trouble_and_an_idle_one_is_none():
    found = lustre.parse_imports(imports(), "scratch")
    assert found == {
        "OST0000": ("IDLE", "10.0.0.5@tcp"),
        "OST0001": ("FULL", "10.0.0.6@tcp"),
        "MDT0000": ("FULL", "10.0.0.2@tcp"),
    }
    assert lustre.list_disconnected_targets(found) == []
    assert lustre.list_disconnected_targets(lustre.parse_imports(imports("DISCONN"), "scratch")) == [
        "OST0001 on 10.0.0.6@tcp: DISCONN"
    ]
    assert lustre.parse_imports(imports(), "scr") == {}


def test_its_name_is_that_of_the_source():
    for source, name in ((SOURCE, "scratch"), ("mgs@o2ib:/home/sub/dir", "home"), ("10.0.0.1@tcp:/x", "x")):
        assert lustre.parse_file_system_name(source) == name


def test_all_of_it_together(tools, tmp_path):
    tools |= {
        "--version": "lfs 2.15.3\n",
        "getstripe": PLAIN,
        ".import": imports("CONNECTING"),
        "get_param": PARAMETERS,
    }
    found = filesystems.identify_file_system(tmp_path, of_scratch(tmp_path))
    assert (found["family"], found["version"], found["striping"]["stripe_count"]) == ("lustre", "2.15.3", 1)
    assert (found["copies"], found["servers"]) == (1, ["10.0.0.5@tcp", "10.0.0.6@tcp"])
    told = filesystems.query_condition(tmp_path, of_scratch(tmp_path))
    assert told["health"] == ["OST0001 on 10.0.0.6@tcp: CONNECTING"]
    assert told["options"]["osc.max_rpcs_in_flight"] == "8, 16"


def test_mirrors_are_no_copies_that_are_always_equal(tools, tmp_path):
    tools |= {"getstripe": COMPOSITE.replace("mirror_count:  1", "mirror_count:  2"), ".import": imports()}
    assert filesystems.identify_file_system(tmp_path, of_scratch(tmp_path))["copies"] is None


def test_without_its_tools_nothing_is_known(tools, tmp_path):
    assert filesystems.query_condition(tmp_path, of_scratch(tmp_path)) is None
    assert filesystems.identify_file_system(tmp_path, of_scratch(tmp_path)) == {
        "family": "lustre",
        "version": None,
        "striping": {},
    }


def test_of_a_tool_that_complains_of_one_thing_the_rest_is_taken():
    words = ["sh", "-c", "echo known; exit 2"]
    assert reading.run_tool(words) is None and reading.run_tool(words, whatever_code=True) == "known\n"
