"""A look at a directory: which files it touches, what it writes, and how it goes on after damage."""

from __future__ import annotations

import os

import pytest

from iosonde.core.errors import TargetError
from iosonde.measure.monitor import operations
from iosonde.measure.monitor.window import DIRECTORY, EACH, FILE_BYTES, Window, count_looks, name_files

LOOKS = 3
ID = "20260101-0000abcd"


def look(path, number, prepare=False):
    return operations.look(str(path), ID, number, LOOKS, prepare)


def files(path):
    return sorted(name for name in os.listdir(path / DIRECTORY / f"iosonde-{ID}") if name.startswith("f"))


def test_no_look_touches_a_file_that_the_last_ones_touched():
    """Over a whole window, each file has one look of each kind, and as far apart as a third of the window."""
    looks, touched = 15, {}
    for number in range(40):
        window = Window(number, looks)
        for first in (window.to_read, window.to_open, window.to_stat, window.to_write):
            for name in name_files(first):
                touched.setdefault(name, []).append(number)
    gaps = [b - a for numbers in touched.values() for a, b in zip(numbers, numbers[1:], strict=False)]
    assert min(gaps) >= looks // 3 and max(map(len, touched.values())) == 4


@pytest.mark.parametrize("space", [16 << 20, 64 << 20, 65 << 20])
def test_the_files_never_take_more_than_the_space(space):
    assert (count_looks(space) + 1) * EACH * FILE_BYTES <= space


def test_looks_move_on_and_measure_each_operation(tmp_path):
    for number in range(3):
        outcome = look(tmp_path, number, prepare=number == 0)
        assert outcome["errors"] == [] and {name: len(v) for name, v in outcome["seconds"].items()} == {
            "stat": EACH,
            "open": EACH,
            "read": EACH,
            "write": EACH,
        }
        assert all(0 < value < 10 for values in outcome["seconds"].values() for value in values)
        assert 0 < sum(map(sum, outcome["seconds"].values())) < outcome["busy_s"]
        assert outcome["bytes"] == (2 + LOOKS * (number == 0)) * EACH * FILE_BYTES
        assert files(tmp_path) == list(Window(number + 1, LOOKS).names)


def test_after_damage_the_files_are_restored_and_nothing_else_is_touched(tmp_path):
    look(tmp_path, 0, prepare=True)
    root = tmp_path / DIRECTORY / f"iosonde-{ID}"
    (root / Window(1, LOOKS).names[0]).unlink()
    os.truncate(root / Window(1, LOOKS).names[1], 5)
    (root / "f000000").write_bytes(b"of a look that was killed")
    (root / "mine").write_text("not ours")
    outcome = look(tmp_path, 1, prepare=True)
    assert outcome["errors"] == [] and files(tmp_path) == list(Window(2, LOOKS).names)
    assert (root / "mine").read_text() == "not ours"


def test_a_missing_file_is_an_error_of_its_operation_alone(tmp_path):
    look(tmp_path, 0, prepare=True)
    for name in name_files(Window(1, LOOKS).to_read):
        (tmp_path / DIRECTORY / f"iosonde-{ID}" / name).unlink()
    outcome = look(tmp_path, 1)
    assert outcome["errors"] and outcome["seconds"]["read"] == [] and len(outcome["seconds"]["write"]) == EACH


def test_a_directory_of_somebody_else_is_left_alone(tmp_path):
    other = tmp_path / DIRECTORY / f"iosonde-{ID}"
    other.mkdir(parents=True)
    (other / "theirs").write_text("x")
    with pytest.raises(TargetError):
        look(tmp_path, 0, prepare=True)
    assert os.listdir(other) == ["theirs"]


@pytest.mark.parametrize("link", [DIRECTORY, f"{DIRECTORY}/iosonde-{ID}"])
def test_a_link_in_place_of_a_directory_is_not_followed(tmp_path, link):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / link).parent.mkdir(exist_ok=True)
    (tmp_path / link).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TargetError):
        look(tmp_path, 0, prepare=True)
    assert os.listdir(tmp_path / "elsewhere") == []


def test_removal_leaves_nothing_of_ours(tmp_path):
    look(tmp_path, 0, prepare=True)
    operations.remove(str(tmp_path), ID)
    assert os.listdir(tmp_path) == []
