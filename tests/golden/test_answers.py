"""What commands answer, whole: JSON, text and figure of small data (`answers.py`)."""

import pytest

from answers import find_differences, list_commands, read_recorded, record


@pytest.mark.parametrize("command", list_commands())
def test_a_command_answers_what_was_recorded(command, tmp_path):
    differences = list(find_differences(read_recorded(command), record(command, tmp_path)))
    assert not differences, "\n".join([*differences[:20], "`make golden` records it again; read the diff"])
