"""What the commands write, word for word: one Markdown page of sessions per command."""

import pytest

from console import ROOT, check, pages_with_sessions

PAGES = pages_with_sessions(ROOT / "tests" / "golden")


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_command_writes_what_was_recorded(page, tmp_path):
    check(page, tmp_path)
