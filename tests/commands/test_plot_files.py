"""Where figures go: one file, or a directory with a file of each."""

from pathlib import Path

import pytest

from iosonde.commands.plot.files import FigureFiles, choose_files
from iosonde.commands.plot.layout import PAGE
from messages import raises


@pytest.mark.parametrize(
    ("name", "form", "kind", "format", "is_directory"),
    [
        ("a.svg", None, None, "svg", False),
        ("a.pdf", "pdf", "bars", "pdf", False),
        ("figures", None, PAGE, "png", True),
        ("figures", "svg", "bars", "svg", True),
        ("there.d", "pdf", PAGE, "pdf", True),
    ],
)
def test_a_suffix_names_a_file_unless_a_directory_is_there(tmp_path, name, form, kind, format, is_directory):
    (tmp_path / "there.d").mkdir()
    files = choose_files(tmp_path / name, form, kind)
    assert files == FigureFiles(tmp_path / name, format, is_directory)
    assert (tmp_path / name).is_dir() == is_directory
    assert files.place_of("one") == (tmp_path / name / f"one.{format}" if is_directory else tmp_path / name)


@pytest.mark.parametrize(
    ("form", "kind", "code"), [("pdf", None, "format-mismatch"), (None, PAGE, "directory-required")]
)
def test_a_file_has_one_figure_in_its_own_format(tmp_path, form, kind, code):
    with raises(code, path=tmp_path / "a.svg"):
        choose_files(tmp_path / "a.svg", form, kind)


def test_a_directory_that_cannot_be_made_is_refused(tmp_path):
    path = Path(tmp_path / "none" / "deeper")
    with raises("cannot-create-directory", path=path):
        choose_files(path, None, None)
