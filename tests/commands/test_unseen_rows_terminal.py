"""``--plot FILE --against X --at Y=V`` of ``fit`` and ``validate``."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from iosonde.cli.group import cli
from messages import raises

DATA = Path(__file__).parents[1] / "golden" / "data" / "sizes_by_fs.csv"
ASKED = [str(DATA), "--response", "speed", "--on", "size,fs,sync", "--family", "tree", "--against", "size"]


@pytest.mark.parametrize("name", ["fit", "validate"])
def test_the_panel_is_in_the_file(tmp_path, name):
    words = [name, *ASKED, "--at", "fs=nfs,sync=no", "--plot", str(tmp_path / "a.svg")]
    assert CliRunner().invoke(cli, words, catch_exceptions=False).exit_code == 0
    assert " fs=nfs, sync=no" in (tmp_path / "a.svg").read_text()


def test_words_of_a_figure_need_one():
    with raises("option-requires-option"):
        CliRunner().invoke(cli, ["fit", *ASKED], standalone_mode=False, catch_exceptions=False)
