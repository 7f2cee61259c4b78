"""What the engine must never do: leave its root, crash, hang, or lose a descriptor."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from engine_helpers import (
    CLOSE,
    CREATE,
    OPEN,
    READS,
    WRITE,
    clean,
    open_files,
    phase,
    rows,
    run,
    session,
    total,
    write_file,
)

from iosonde.engine import _native


def test_a_mapped_page_with_nothing_behind_it_is_an_error_and_no_crash(tmp_path):
    write_file(tmp_path)
    os.truncate(tmp_path / "f000000", 8192)
    reads = {"kind": "mmap_read", "transfer_size": 4096, "size": 16384}
    [[record]] = run(tmp_path, phase(reads, on_error="continue"))
    assert list(rows(record)["status"]) == [0, 0, 5, 5]


def test_a_planted_link_does_not_lead_out(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "precious").write_text("keep")
    (root / "link").symlink_to(outside)
    (root / "f000000").symlink_to(outside / "precious")
    # As a directory on the way: refused before anything runs.
    for template in ("link/f", "link/deeper/f"):
        with pytest.raises(OSError) as error:
            run(root, phase(CREATE, WRITE, files={"template": template}))
        assert "link" in str(error.value)
    # As the file itself: the open fails with ELOOP; a link is unlinked and its aim stays.
    for steps in [(CREATE, WRITE), (OPEN, WRITE)]:
        [[record]] = run(root, phase(*steps))
        assert record.errors[0]["errno"] == 40
    assert clean(run(root, phase({"kind": "unlink"})))
    assert not (root / "f000000").is_symlink()
    assert [path.read_text() for path in outside.iterdir()] == ["keep"]


def test_a_link_planted_after_prepare_does_not_lead_out(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    for path in (root, outside, root / "d"):
        path.mkdir()
    opened = session(root, phase(CREATE, CLOSE, files={"template": "d/f"}))
    opened.prepare(0)
    (root / "d").rename(root / "moved")
    (root / "d").symlink_to(outside)
    [record] = opened.run(0)
    opened.close()
    assert record.errors == [] and list(outside.iterdir()) == []
    assert (root / "moved" / "f000000").exists()


def test_a_root_that_is_a_link_or_absent_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(OSError):
        session(tmp_path / "link", phase(CREATE))
    with pytest.raises(FileNotFoundError):
        session(tmp_path / "absent", phase(CREATE))


def test_a_file_that_must_be_open_and_is_absent_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        run(tmp_path, phase(READS))
    assert "f000000" in str(error.value)


def test_stop_ends_after_the_operation_in_flight_and_progress_is_seen(tmp_path):
    write_file(tmp_path)
    opened = session(tmp_path, phase(READS, passes=0, time_limit_ns=60_000_000_000), budget=1000)
    opened.prepare(0)
    seen = []

    def watch():
        while not seen or seen[-1] < 1000:
            seen.append(opened.operations_done())
        opened.stop()

    watcher = threading.Thread(target=watch)
    watcher.start()
    [record] = opened.run(0)
    watcher.join()
    opened.close()
    assert record.stopped == "stop" and total(record, "read")["count"] >= 1000
    assert seen == sorted(seen)


def test_ctrl_c_stops_the_workers_and_the_session_can_go_on(tmp_path, request):
    # Who starts the tests in the background has them ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    write_file(tmp_path)
    opened = session(tmp_path, phase(READS, passes=0, time_limit_ns=60_000_000_000), budget=1000)
    opened.prepare(0)
    threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        opened.run(0)
    assert opened.wear_out(0, 10)[0].stopped == "count"
    opened.close()


def test_session_is_busy_while_it_runs(tmp_path):
    write_file(tmp_path)
    opened = session(tmp_path, phase(READS, passes=0, time_limit_ns=60_000_000_000), budget=1000)
    opened.prepare(0)
    runner = threading.Thread(target=opened.run, args=(0,))
    runner.start()
    while opened.operations_done() == 0:
        pass
    with pytest.raises(_native.EngineError):
        opened.close()
    opened.stop()
    runner.join()
    opened.close()


def test_a_session_that_is_dropped_leaves_no_open_file(tmp_path):
    before = open_files()
    opened = session(tmp_path, phase(CREATE, files={"template": "d/f", "count": 20}), phase(CREATE))
    opened.prepare(0)
    opened.run(0)
    opened.prepare(1)
    assert open_files() >= before + 20
    del opened
    assert open_files() == before


def test_remove_tree_keeps_what_links_point_to(tmp_path):
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    outside.mkdir()
    (outside / "precious").write_text("keep")
    for number in range(5):
        (tree / f"d{number}" / "e").mkdir(parents=True)
        (tree / f"d{number}" / "e" / "f").write_text("")
    (tree / "link").symlink_to(outside)
    assert _native.remove_tree(str(tree)) == (6, 11)
    assert not tree.exists() and (outside / "precious").exists()
    with pytest.raises(FileNotFoundError):
        _native.remove_tree(str(tree))
    (tmp_path / "link").symlink_to(outside)
    with pytest.raises(OSError):
        _native.remove_tree(str(tmp_path / "link"))
    assert (outside / "precious").exists()
