"""Calls to the servers for each operation of a client, as a campaign with `profile: true` counts them in each phase."""

import json

import pytest
from lab_here import iosonde, why_not

FILE = """\
name: calls
nodes: 1
lab: {file_system: glusterfs, name: calls, servers: 2, clients: 1, disk_size: 512MiB, profile: true,
      set: {replica: 2}}
repetitions: 1
factors:
  quick_read:
    levels: [on, off]
    set: iosonde lab set performance.quick-read=${LEVEL}
    read: iosonde lab get performance.quick-read | cut -d' ' -f3
steps:
  - workload: phases
    phases:
      - name: make
        files: {template: small/f, count: 20}
        steps: [create, {kind: write, transfer_size: 4KiB, size: 4KiB}, close]
      - name: read
        files: {template: small/f, count: 20}
        steps: [open, {kind: read, transfer_size: 4KiB, size: 4KiB}, close]
"""


@pytest.mark.slow
def test_quick_read_spares_all_calls_but_the_look_up_and_a_copy_costs_one_more_write(lab_root, tmp_path):
    """K-34, F-12, F-13."""
    if why := why_not("glusterfs"):
        pytest.skip(why)
    file, store = tmp_path / "calls.yaml", tmp_path / "s"
    file.write_text(FILE)
    done = iosonde("lab", "run", file, "--store", store, "--alongside", limit_s=300)
    assert done.returncode == 0, done.stderr
    assert any(line.endswith(": read, quick_read=off") for line in done.stdout.splitlines())
    told = json.loads(iosonde("summary", store, "--json").stdout)["server_calls"]
    found = {(one["operation"], one["setting"].rpartition("=")[2]): one for one in told}
    kinds = {key: {row["kind"]: row["calls"] for row in one["servers"]} for key, one in found.items()}
    # Each server is looked up; one of them opens and reads. With the look-up's answer comes a small file.
    assert kinds["read", "on"] == pytest.approx({"lookup": 2}, abs=0.3)
    assert kinds["read", "off"]["read"] == 1 and kinds["read", "off"]["open"] >= 1
    assert found["read", "off"]["calls"] > found["read", "on"]["calls"] + 2
    # Each copy is written by a call of its own, and notes before and after that it was.
    for value in ("on", "off"):
        of = kinds["make", value]
        assert found["make", value]["per"] == "write" and of["write"] == of["create"] == 2 <= of["fxattrop"]
