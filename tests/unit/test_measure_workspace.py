"""Only what we made is written to and removed, whoever moves or links names meanwhile; what fails is said truly."""

import errno
import os
from pathlib import Path

import pytest

from iosonde.core.errors import TargetError, TargetFaultError
from iosonde.measure.rank import trial_root
from iosonde.measure.target.keeper import SUSPECT_S, Keeper
from iosonde.measure.target.workspace import MARKER, Workspace
from messages import assert_problem, raises


@pytest.fixture
def place(tmp_path):
    """A target, and a directory of somebody else's that looks like a workspace."""
    target, victim = tmp_path / "target", tmp_path / "victim"
    target.mkdir()
    for name in ("trial-0000", "trial-0001"):
        (victim / name).mkdir(parents=True)
        (victim / name / "thesis.tex").write_text("precious")
    return target, victim


def swap(workspace, victim, how):
    """The workspace moves away, and the victim gets its name, as a link or as itself; where the victim is then."""
    workspace.path.rename(workspace.path.with_name("away"))
    if how == "link":
        workspace.path.symlink_to(victim)
        return victim
    victim.rename(workspace.path)
    return workspace.path


@pytest.mark.parametrize("how", ["link", "directory"])
@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.parametrize("does", ["trial", "verify", "remove_trial", "remove"])
def test_nothing_is_done_in_what_took_the_place_of_the_workspace(place, how, hold, does):
    target, victim = place
    workspace = Workspace.create(target, "abc", hold=hold)
    workspace.trial("trial-0000")
    victim = swap(workspace, victim, how)
    with raises("directory-replaced", TargetFaultError) as caught:
        getattr(workspace, does)(*([] if does == "remove" else ["trial-0001" if does == "trial" else "trial-0000"]))
    assert caught.value.exit_code == 3
    assert bool(caught.value.values["location"]) == hold
    assert [(victim / name / "thesis.tex").read_text() for name in ("trial-0000", "trial-0001")] == ["precious"] * 2
    assert sorted(os.listdir(victim)) == ["trial-0000", "trial-0001"]


def test_a_trial_that_was_replaced_is_neither_believed_nor_removed(place):
    target, victim = place
    workspace = Workspace.create(target, "abc", hold=True)
    root = workspace.trial("trial-0000")
    root.rename(target / "away")
    (victim / "trial-0000").rename(root)
    with raises("directory-replaced", TargetFaultError):
        workspace.verify("trial-0000")
    with raises("directory-replaced", TargetFaultError):
        workspace.remove_trial("trial-0000")
    assert (root / "thesis.tex").read_text() == "precious"


@pytest.mark.parametrize("hold", [True, False])
def test_a_trial_replaced_by_a_link_before_its_removal_is_said_to_be_replaced(place, hold):
    target, victim = place
    workspace = Workspace.create(target, "abc", hold=hold)
    root = workspace.trial("trial-0000")
    root.rename(target / "away")
    root.symlink_to(victim / "trial-0000")
    with raises("directory-replaced", TargetFaultError):
        workspace.remove_trial("trial-0000")
    assert root.is_symlink() and (victim / "trial-0000" / "thesis.tex").read_text() == "precious"


def test_a_workspace_that_was_moved_away_or_unmounted_is_said_to_be_gone(place):
    target, _ = place
    workspace = Workspace.create(target, "abc", hold=True)
    workspace.path.rename(target / "away")
    with raises("directory-missing", TargetFaultError):
        workspace.trial("trial-0000")
    with raises("directory-missing", TargetFaultError):
        workspace.remove()


def test_what_cannot_be_read_is_not_said_to_be_somebody_elses(place, monkeypatch):
    target, _ = place
    workspace = Workspace.create(target, "abc")

    def fails(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "read", fails)
    with raises("io-error", TargetFaultError, error="Input/output error"):
        workspace.is_ours()
    with raises("io-error", TargetFaultError, error="Input/output error") as caught:
        workspace.remove()
    assert caught.value.values["leftover"] == str(workspace.path)


@pytest.mark.parametrize(
    ("error", "code"),
    [(errno.ENOTCONN, "target-gone"), (errno.ESTALE, "target-gone"), (errno.EROFS, "io-error")],
)
def test_a_failed_removal_says_who_failed_and_what_is_left(place, monkeypatch, error, code):
    from iosonde.engine import _native

    target, _ = place
    workspace = Workspace.create(target, "abc", hold=True)
    root = workspace.trial("trial-0000")

    def fails(*_):
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(_native, "remove_tree_at", fails)
    with raises(code, TargetFaultError, target=target, error=os.strerror(error), leftover=root):
        workspace.remove_trial("trial-0000")


def test_what_a_file_system_healed_back_is_removed_by_the_experiment_that_made_it(place):
    target, _ = place
    healed = target / "iosonde-abc"
    (healed / "trial-0000" / "rank00000").mkdir(parents=True)
    with raises("foreign-directory", TargetError):
        Workspace.create(target, "abc")
    workspace = Workspace.create(target, "abc", resumed=True)
    assert os.listdir(workspace.path) == [MARKER]


@pytest.mark.parametrize("name", ["thesis.tex", "trial-00", "trial-0001.tex"])
def test_what_holds_anything_else_stays_also_on_a_resume(place, name):
    target, _ = place
    healed = target / "iosonde-abc"
    (healed / "trial-0000").mkdir(parents=True)
    (healed / name).mkdir()
    with raises("foreign-directory", TargetError):
        Workspace.create(target, "abc", resumed=True)
    assert sorted(os.listdir(healed)) == sorted(["trial-0000", name])


def test_a_rank_follows_no_link_in_what_we_made(place):
    target, victim = place
    workspace = Workspace.create(target, "abc")
    root = workspace.trial("trial-0000")
    with trial_root.open_trial_root(str(root)) as here:
        swap(workspace, victim, "link")
        with open(f"{here}/f", "w") as file:
            file.write("x")
    assert (target / "away" / "trial-0000" / "f").exists()
    with raises("directory-replaced", TargetFaultError), trial_root.open_trial_root(str(root)):
        pass
    assert os.listdir(victim / "trial-0000") == ["thesis.tex"]


def test_a_node_without_the_target_is_told_from_one_whose_target_fails(place):
    target, _ = place
    with raises("directory-not-shared", TargetError):
        trial_root.check_visible(str(target / "iosonde-abc" / "trial-0000"))


def test_a_target_on_which_ranks_hung_has_little_time_until_it_answers(tmp_path):
    """A server that came back is trusted again: a busy one may take longer than a suspected one."""
    limits = []

    class Recorded(Keeper):
        def on(self, workspace, operation, what, **more):
            limits.append(self._child.limit_s)

    with Recorded(30.0) as keeper:
        workspace = keeper.workspace(tmp_path, "x")
        workspace.suspect()
        workspace.remove_trial("trial-0001")
        workspace.trial("trial-0002")
    assert limits == [SUSPECT_S, 30.0]


def count_open_files():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("hold", [True, False])
def test_no_descriptor_stays_open_once_a_workspace_is_removed(place, hold):
    target, _ = place
    before = count_open_files()
    workspace = Workspace.create(target, "abc", hold=hold)
    assert count_open_files() == before + hold and (workspace._descriptor >= 0) is hold
    workspace.trial("trial-0000")
    workspace.trial("trial-0001")
    assert count_open_files() == before + 3 * hold and len(workspace._trials) == 2 * hold
    workspace.verify("trial-0000")
    workspace.remove_trial("trial-0000")
    assert count_open_files() == before + 2 * hold and len(workspace._trials) == hold
    workspace.remove()
    assert count_open_files() == before and not os.listdir(target)
    assert (workspace._descriptor, workspace._trials) == (-1, {})


def test_descriptors_of_a_trial_root_are_closed(place):
    target, _ = place
    workspace = Workspace.create(target, "abc")
    root, before = workspace.trial("trial-0000"), count_open_files()
    trial_root.check_visible(str(root))
    with raises("directory-missing", TargetFaultError), trial_root.open_trial_root(f"{root}x"):
        pass
    assert count_open_files() == before


@pytest.mark.parametrize(
    ("error", "code", "values"),
    [
        (errno.ENOTDIR, "directory-replaced", {"path": "/t/iosonde-e/trial-1"}),
        (errno.ELOOP, "directory-replaced", {"path": "/t/iosonde-e/trial-1"}),
        (errno.ENOENT, "directory-missing", {"path": "/t/iosonde-e/trial-1", "parent": "/t"}),
        (errno.EIO, "io-error", {"target": "/t"}),
        (errno.ESTALE, "target-gone", {"target": "/t"}),
    ],
)
def test_why_a_trials_directory_cannot_be_opened(error, code, values):
    found = trial_root._build_fault(OSError(error, "x"), Path("/t/iosonde-e/trial-1"))
    assert_problem(found, code, **values)


def test_a_node_that_fails_to_see_a_directory_for_another_reason_says_so(monkeypatch):
    def fail(*_, **__):
        raise OSError(errno.EIO, "x")

    monkeypatch.setattr(trial_root.os, "open", fail)
    with raises("io-error", TargetFaultError):
        trial_root.check_visible("/t/iosonde-e/trial-1")


@pytest.mark.parametrize(
    ("marker", "is_ours"), [("abc", True), ("abcd", False), ("ab", False), (None, False), ("", False)]
)
def test_a_workspace_is_known_by_its_marker(place, marker, is_ours):
    target, _ = place
    workspace = Workspace(target / "iosonde-abc", "abc")
    assert not workspace.is_ours() and workspace.target == target
    workspace.path.mkdir()
    if marker is not None:
        (workspace.path / MARKER).write_text(marker)
    assert workspace.is_ours() is is_ours


@pytest.mark.parametrize(
    ("names", "begun", "only_trials"),
    [
        ([], True, True),
        ([f"{MARKER}="], True, True),
        ([f"{MARKER}=x"], False, True),
        (["trial-0001/"], False, True),
        ([f"{MARKER}=", "trial-0001/", "rank-12/"], False, True),
        (["trial-0001="], False, False),
        (["trial-001/"], False, False),
        (["trial-0001/", "mine/"], False, False),
        (["mine="], False, False),
        ([f"{MARKER}/"], False, True),
    ],
)
def test_what_a_killed_campaign_may_have_left(place, names, begun, only_trials):
    target, _ = place
    workspace = Workspace(target / "iosonde-abc", "abc")
    workspace.path.mkdir()
    for name in names:
        if name.endswith("/"):
            (workspace.path / name).mkdir()
        else:
            (workspace.path / name.partition("=")[0]).write_text(name.partition("=")[2])
    here = os.open(workspace.path, os.O_RDONLY)
    try:
        assert workspace._was_just_begun(here) is begun
        assert workspace._has_only_trials(here) is only_trials
    finally:
        os.close(here)


def test_directories_of_others_are_not_taken_for_trials(place, monkeypatch):
    target, _ = place
    workspace = Workspace(target / "iosonde-abc", "abc")
    (workspace.path / "trial-0001").mkdir(parents=True)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with raises("foreign-directory", TargetError):
        Workspace.create(target, "abc", resumed=True)


def test_a_target_that_fails_while_a_workspace_is_made_says_so_and_leaves_nothing(place, monkeypatch):
    target, _ = place
    before = count_open_files()

    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "x")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with raises("io-error", TargetError, path=target / "iosonde-abc", error=os.strerror(errno.ENOSPC)):
            Workspace.create(target, "abc", hold=True)
    with monkeypatch.context() as patch:
        patch.setattr(os, "mkdir", fail)
        with raises("io-error", TargetError, path=target / "iosonde-abc", error=os.strerror(errno.ENOSPC)):
            Workspace.create(target, "abc", hold=True)
    assert not os.listdir(target) and count_open_files() == before


def test_a_killed_attempt_of_a_trial_is_emptied(place):
    target, _ = place
    workspace = Workspace.create(target, "abc")
    root = workspace.trial("trial-0000")
    (root / "f").write_text("x")
    assert workspace.trial("trial-0000") == root and os.listdir(root) == []
    assert root.stat().st_mode & 0o777 == workspace.path.stat().st_mode & 0o777 == 0o700


def test_a_trial_that_was_removed_is_a_fault_only_where_it_was_held(place):
    target, _ = place
    for hold in (True, False):
        workspace = Workspace.create(target, f"e{hold}", hold=hold)
        root = workspace.trial("trial-0000")
        root.rmdir()
        if hold:
            with raises("directory-removed", TargetFaultError, path=root):
                workspace.verify("trial-0000")
        else:
            workspace.verify("trial-0000")
        root.write_text("x")
        with raises("directory-replaced", TargetFaultError, path=root):
            workspace.verify("trial-0000")


def test_a_removal_that_fails_for_another_reason_is_that_fault(place, monkeypatch):
    from iosonde.engine import _native

    target, _ = place
    workspace = Workspace.create(target, "abc")
    workspace.trial("trial-0000")

    def fail(directory, name, identity):
        raise OSError(errno.ESTALE, "x")

    with monkeypatch.context() as patch:
        patch.setattr(_native, "remove_tree_at", fail)
        with raises("target-gone", TargetFaultError):
            workspace.remove_trial("trial-0000")
    workspace.remove()
    workspace.remove()
    assert not os.listdir(target), "what is gone needs no removal"
