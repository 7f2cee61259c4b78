"""What the commands about labs write, word for word."""

from pathlib import Path

from console import check


def test_commands_about_labs_write_what_was_recorded(tmp_path):
    check(Path(__file__).parents[1] / "golden" / "lab.md", tmp_path)
