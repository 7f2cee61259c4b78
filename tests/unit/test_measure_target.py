"""The promise that data is safe: what a target must have, and what of it may be written and removed."""

import ctypes
import errno
import os
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.campaign import preflight
from iosonde.core.errors import InputError, SystemFaultError, TargetError, TargetFaultError
from iosonde.foreign.child import NoAnswerError
from iosonde.measure.target import keeper, space, work
from iosonde.measure.target.space import Limits, Need, QuotaFree
from iosonde.measure.target.workspace import MARKER, Workspace
from iosonde.ranks.machine import mount
from messages import raises

SMALL = Need(bytes=1, files=1)


def test_a_good_target_passes(tmp_path):
    space.check_space(tmp_path, SMALL, Limits())


@pytest.mark.parametrize(
    ("need", "limits", "says"),
    [
        (Need(10**18, 1), Limits(), "free, a trial needs"),
        (Need(100, 1), Limits(max_bytes=99), "--max-bytes"),
        (Need(1, 100), Limits(max_files=99), "--max-files"),
        (Need(1, 1, 100.0), Limits(max_seconds=99), "--max-seconds"),
    ],
)
def test_what_would_not_fit_is_refused(tmp_path, need, limits, says):
    with pytest.raises(InputError) as error:
        space.check_space(tmp_path, need, limits)
    assert says in error.value.message
    assert error.value.hint
    assert error.value.exit_code == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "lies",
    [
        {"f_files": 1, "f_ffree": -1, "f_favail": -1},
        {"f_files": 0, "f_ffree": 0, "f_favail": 0},
        {"f_blocks": -1, "f_bfree": -1, "f_bavail": -(2**40)},
        {"f_blocks": 0, "f_bfree": 0, "f_bavail": 0},
    ],
)
def test_a_count_that_is_negative_or_of_nothing_is_unknown_and_no_shortage(tmp_path, monkeypatch, lies):
    """CephFS says -1 where it does not know; 2^64-1 is -1, too."""
    true = os.statvfs(tmp_path)
    names = (
        "f_bsize",
        "f_frsize",
        "f_blocks",
        "f_bfree",
        "f_bavail",
        "f_files",
        "f_ffree",
        "f_favail",
        "f_flag",
        "f_namemax",
        "f_fsid",
    )
    said = os.statvfs_result([lies.get(name, getattr(true, name)) for name in names])
    monkeypatch.setattr(os, "statvfs", lambda _: said)
    space.check_space(tmp_path, SMALL, Limits())
    found = mount.measure_space(tmp_path)
    assert (found["free_inodes"] if "f_files" in lies else found["free_bytes"]) is None
    with raises("quota-too-small", TargetError):
        space.check_space(tmp_path, Need(1000, 1), Limits(), QuotaFree(999))


@pytest.mark.parametrize(
    ("true", "code", "values"),
    [
        ({"f_files": 100, "f_ffree": 50, "f_favail": 9}, "too-few-inodes", {"free_inodes": 9, "needed_files": 10}),
        ({"f_flag": os.ST_RDONLY}, "read-only-target", {}),
    ],
)
def test_too_few_inodes_and_a_read_only_mount_are_refused(tmp_path, monkeypatch, true, code, values):
    found = os.statvfs(tmp_path)
    names = (
        "f_bsize",
        "f_frsize",
        "f_blocks",
        "f_bfree",
        "f_bavail",
        "f_files",
        "f_ffree",
        "f_favail",
        "f_flag",
        "f_namemax",
        "f_fsid",
    )
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result([true.get(n, getattr(found, n)) for n in names]))
    with raises(code, TargetError, target=tmp_path, **values):
        space.check_space(tmp_path, Need(1, 10), Limits())


def test_quota_counts_as_space(tmp_path):
    with raises("quota-too-small", TargetError):
        space.check_space(tmp_path, Need(1000, 1), Limits(), QuotaFree(999))
    with raises("quota-too-small", TargetError, available_files=99, needed_files=100):
        space.check_space(tmp_path, Need(1, 100), Limits(), QuotaFree(10**9, 99))
    space.check_space(tmp_path, Need(900, 100), Limits(), QuotaFree(10**9, 100))


def test_the_least_of_all_quotas_is_asked_for_before_a_campaign_and_a_probe(tmp_path):
    """By the way of the product: facts → helper → refusal."""
    quotas = [{"free_bytes": None, "free_files": 7}, {"free_bytes": 50, "free_files": None}]
    quotas.append({"free_bytes": 2**40, "free_files": 2**40})
    for need, left in ((Need(1, 8), {"available_files": 7}), (Need(51, 1), {"available_bytes": "50 B"})):
        with preflight.open_keeper(None, lambda *_: None) as keeper, raises("quota-too-small", TargetError, **left):
            keeper.check(tmp_path, need, Limits(), preflight.compute_quota_free({"quota": quotas}))
    assert preflight.compute_quota_free({"quota": None}) == QuotaFree()


def test_absent_file_and_forbidden_targets(tmp_path):
    with raises("no-such-directory", TargetError, reason=os.strerror(errno.ENOENT)):
        space.check_space(tmp_path / "none", SMALL, Limits())
    (tmp_path / "file").touch()
    with raises("not-a-directory", TargetError):
        space.check_space(tmp_path / "file", SMALL, Limits())
    (tmp_path / "closed").mkdir(mode=0o500)
    if os.geteuid():  # root may write anywhere
        with raises("permission-denied", TargetError):
            space.check_space(tmp_path / "closed", SMALL, Limits())


def test_a_workspace_is_made_marked_and_removed(tmp_path):
    workspace = Workspace.create(tmp_path, "abc")
    assert workspace.path == tmp_path / "iosonde-abc"
    root = workspace.trial("trial-0000")
    (root / "f").write_text("x")
    workspace.remove_trial("trial-0000")
    assert not root.exists()
    workspace.remove()
    assert not list(tmp_path.iterdir())


def test_what_a_killed_campaign_left_is_taken_over_and_emptied(tmp_path):
    left = Workspace.create(tmp_path, "abc")
    (left.trial("trial-0000") / "f").write_text("x")
    again = Workspace.create(tmp_path, "abc")
    assert [path.name for path in again.path.iterdir()] == [MARKER]


@pytest.mark.parametrize("marked", [False, True])
def test_killed_before_it_was_marked_it_is_taken_over(tmp_path, marked):
    begun = tmp_path / "iosonde-abc"
    begun.mkdir()
    if marked:
        (begun / MARKER).touch()
    assert Workspace.create(tmp_path, "abc").is_ours()


def test_a_directory_that_is_not_ours_stays(tmp_path):
    theirs = tmp_path / "iosonde-abc"
    theirs.mkdir()
    (theirs / "precious").write_text("x")
    with raises("foreign-directory", TargetError):
        Workspace.create(tmp_path, "abc")
    with raises("foreign-directory", TargetError):
        Workspace(theirs, "abc").remove()
    assert (theirs / "precious").exists()


@pytest.mark.parametrize("place", ["workspace", "trial", "marker", "below"])
def test_a_planted_link_leads_nowhere(tmp_path, place):
    outside, inside = tmp_path / "outside", tmp_path / "target"
    outside.mkdir()
    inside.mkdir()
    (outside / "precious").write_text("x")
    (outside / MARKER).write_text("abc")
    if place == "workspace":
        (inside / "iosonde-abc").symlink_to(outside)
        with pytest.raises(TargetError):
            Workspace.create(inside, "abc")
    elif place == "trial":
        workspace = Workspace.create(inside, "abc")
        (workspace.path / "trial-0000").symlink_to(outside)
        with pytest.raises(TargetError):
            workspace.trial("trial-0000")
    elif place == "marker":
        (inside / "iosonde-abc").mkdir()
        (inside / "iosonde-abc" / MARKER).symlink_to(outside / MARKER)
        with pytest.raises(TargetError):
            Workspace(inside / "iosonde-abc", "abc").remove()
    else:
        workspace = Workspace.create(inside, "abc")
        (workspace.trial("trial-0000") / "link").symlink_to(outside)
        workspace.remove()
        assert not list(inside.iterdir())
    assert (outside / "precious").read_text() == "x"


@pytest.mark.parametrize(
    ("why", "error", "code"),
    [
        (errno.EACCES, TargetError, "permission-denied"),
        (errno.ENOSPC, TargetFaultError, "io-error"),
        (errno.ENOTCONN, TargetFaultError, "target-gone"),
    ],
)
def test_why_a_target_may_not_be_written_is_said(tmp_path, monkeypatch, why, error, code):
    def access(*_):
        ctypes.set_errno(why)
        return -1

    monkeypatch.setattr(space.ctypes, "CDLL", lambda *_, **__: SimpleNamespace(access=access))
    with raises(code, error, target=tmp_path) as caught:
        space.check_space(tmp_path, SMALL, Limits())
    assert (os.strerror(why) in caught.value.message) == (why != errno.EACCES)


@pytest.mark.parametrize(
    ("free", "inodes", "quota", "code"),
    [
        (1050, 10, QuotaFree(), None),  # 5 % on top of 1000 bytes, and 10 files
        (1049, 10, QuotaFree(), "target-too-small"),
        (1050, 9, QuotaFree(), "too-few-inodes"),
        (1050, 10, QuotaFree(1050, 10), None),
        (2000, 99, QuotaFree(1049, 10), "quota-too-small"),
        (2000, 99, QuotaFree(1050, 9), "quota-too-small"),
        (1000, 99, QuotaFree(1001, 99), "target-too-small"),  # the scarcer one is named
        (2000, 8, QuotaFree(2000, 9), "too-few-inodes"),
        (None, None, QuotaFree(), None),
        (None, None, QuotaFree(1049), "quota-too-small"),
    ],
)
def test_a_target_holds_a_trial_with_a_margin_and_the_scarcer_limit_is_named(
    tmp_path, monkeypatch, free, inodes, quota, code
):
    monkeypatch.setattr(mount, "get_free_bytes", lambda _: free)
    monkeypatch.setattr(mount, "get_free_inodes", lambda _: inodes)
    with raises(code, TargetError) if code else nullcontext():
        space.check_space(tmp_path, Need(1000, 10), Limits(), quota)


@pytest.mark.parametrize(
    ("limits", "value"),
    [
        (Limits(1000, 10, 5.0), {}),
        (Limits(999, 10, 5.0), {"needed_bytes": "1000 B", "max_bytes": "999 B"}),
        (Limits(1000, 9, 5.0), {"needed_files": 10, "max_files": 9}),
        (Limits(1000, 10, 4.9), {"needed_seconds": 5.0, "max_seconds": 4.9}),
    ],
)
def test_a_limit_is_kept_to_the_last_byte_file_and_second(limits, value):
    with raises("over-limit", InputError, **value) if value else nullcontext():
        space.check_limits(Need(1000, 10, 5.0), limits)


# The main process and its helper


class Helper:
    """Stands in for the child: notes each call, with the limit then, and answers."""

    def __init__(self, name, limit_s, on_wait):
        self.about, self.limit_s, self.calls, self.answers, self.closed = (name, on_wait), limit_s, [], [], False

    def call(self, operation, where, what, **arguments):
        self.calls.append((operation, where, arguments, self.limit_s))
        self.said = what
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self):
        self.closed = True


@pytest.fixture
def held(monkeypatch):
    monkeypatch.setattr(keeper, "Child", Helper)
    with keeper.Keeper(30.0, "on_wait") as made:
        yield made, made._child
    assert made._child.closed


def test_the_keeper_asks_its_helper_with_plain_values(held, tmp_path, monkeypatch):
    made, child = held
    assert child.about == ("iosonde.measure.target.work", "on_wait")
    monkeypatch.chdir(tmp_path)
    child.answers = ["/real/t", None, {"mount": None}, ["e1"]]
    assert str(made.resolve(Path("t"))) == "/real/t" and str(tmp_path / "t") in child.said
    target = Path("/t")
    made.check(target, Need(5, 6, 7.0), Limits(1, 2, 3.0), QuotaFree(8, 9))
    assert made.facts(target) == {"mount": None}
    assert made.list_leftovers(target, ["e1", "e2"]) == ["e1"] and str(target) in child.said
    made.remove_leftover(target, "e1")
    assert "/t/iosonde-e1" in child.said
    asked = {"path": "/t", "need": {"bytes": 5, "files": 6, "seconds": 7.0}}
    limits = {"max_bytes": 1, "max_files": 2, "max_seconds": 3.0}
    absolute = str(tmp_path / "t")
    assert child.calls == [
        ("resolve", absolute, {"path": absolute}, 30.0),
        ("check", "/t", {**asked, "limits": limits, "quota": {"bytes": 8, "files": 9}}, 30.0),
        ("facts", "/t", {"path": "/t"}, 30.0),
        ("left", "/t", {"target": "/t", "experiments": ["e1", "e2"]}, 30.0),
        ("remove_left", "/t", {"target": "/t", "experiment": "e1"}, 30.0),
    ]


def test_limits_only_fall_and_return_after_a_block(held, tmp_path):
    made, child = held
    child.answers = [{"health": []}, TargetFaultError("hangs", "hangs"), SystemFaultError("ended", "ended")]
    assert made.condition(tmp_path, 2.0) == {"health": []}
    assert made.condition(tmp_path, 2.0) is None and made.condition(tmp_path, 99.0) is None
    path = str(tmp_path)
    assert child.calls == [("condition", path, {"path": path}, limit) for limit in (2.0, 2.0, 30.0)]
    assert child.limit_s == 30.0
    made.limit(7.0)
    made.limit(9.0)
    assert child.limit_s == 7.0


def test_a_workspace_asks_the_helper_and_knows_when_its_target_is_lost(held):
    made, child = held
    workspace = made.workspace(Path("/t"), "e")
    workspace.remove()
    assert child.calls == [] and not workspace.begun, "nothing to remove"
    workspace.create(resumed=True, hold=False)
    assert workspace.begun and workspace.trial("trial-0001") == Path("/t/iosonde-e/trial-0001")
    workspace.verify("trial-0001")
    workspace.suspect()
    workspace.remove_trial("trial-0001")
    workspace.remove()
    ours = {"path": "/t/iosonde-e", "experiment": "e"}
    name = {"name": "trial-0001"}
    assert child.calls == [
        ("create", "/t", {**ours, "resumed": True, "hold": False}, 30.0),
        ("trial", "/t", ours | name, 30.0),
        ("verify", "/t", ours | name, 30.0),
        ("remove_trial", "/t", ours | name, keeper.SUSPECT_S),
        ("remove", "/t", ours, 30.0),
    ]


@pytest.mark.parametrize(
    ("error", "leftover"),
    [
        (NoAnswerError("hangs", "it hangs", where="/t"), "/t/iosonde-e/trial-0001"),
        (TargetFaultError("io-error", "it fails", where="/t"), None),
    ],
)
def test_what_hangs_leaves_files_and_is_lost(held, error, leftover):
    made, child = held
    workspace = made.workspace(Path("/t"), "e")
    workspace.begun = workspace.suspected = True
    child.answers = [error]
    with raises(error.code, TargetFaultError, where="/t", **({"leftover": leftover} if leftover else {})) as caught:
        workspace.remove_trial("trial-0001")
    assert (caught.value.message != error.message) == bool(leftover) and type(caught.value) is type(error)
    assert workspace.lost == error.message and workspace.suspected
    workspace.remove()
    assert len(child.calls) == 1, "its remains were reported"
    child.answers = [error]
    with raises(error.code, TargetFaultError) as caught:
        workspace.verify("trial-0001")
    assert caught.value.message == error.message


def test_the_helper_works_on_the_workspace_that_it_created(tmp_path, monkeypatch):
    monkeypatch.setattr(work, "_workspaces", {})
    path = str(tmp_path / "iosonde-e")
    work.OPERATIONS["create"](path, "e", resumed=False, hold=True)
    assert work._workspaces[path]._descriptor >= 0
    ours = {"path": path, "experiment": "e"}
    work.OPERATIONS["trial"](**ours, name="trial-0001")
    work.OPERATIONS["verify"](**ours, name="trial-0001")
    assert (tmp_path / "iosonde-e" / "trial-0001").is_dir()
    work.OPERATIONS["remove_trial"](**ours, name="trial-0001")
    assert not (tmp_path / "iosonde-e" / "trial-0001").exists()
    assert work.OPERATIONS["left"](str(tmp_path), ["e", "f"]) == ["e"]
    work.OPERATIONS["remove"](**ours)
    assert not list(tmp_path.iterdir())
    (tmp_path / "iosonde-f").mkdir()
    (tmp_path / "iosonde-f" / "trial-0001").mkdir()
    work.OPERATIONS["remove_left"](str(tmp_path), "f")
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(work, "_workspaces", {})
    Workspace.create(tmp_path, "e")
    work.OPERATIONS["trial"](**ours, name="trial-0002")
    assert work._workspaces[path].is_created
    work.OPERATIONS["remove"](**ours)


def test_the_helper_resolves_checks_and_asks(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(tmp_path)
    assert work.OPERATIONS["resolve"](str(tmp_path / "link")) == str(tmp_path)
    asked = []
    monkeypatch.setattr(work.space, "check_space", lambda *of: asked.append(of))
    work.OPERATIONS["check"]("/t", {"bytes": 1, "files": 2, "seconds": 3.0}, {"max_bytes": 4}, {"files": 5})
    assert asked == [(Path("/t"), Need(1, 2, 3.0), Limits(4), QuotaFree(None, 5))]
    assert work.OPERATIONS["facts"](str(tmp_path))["mount"]
    assert work.OPERATIONS["condition"](str(tmp_path)) is None
    assert work.progress() >= 0
