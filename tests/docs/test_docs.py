"""The examples in README.md and docs/ say what they show."""

import pytest

from console import ROOT, check, pages_with_sessions

PAGES = pages_with_sessions(ROOT / "README.md", ROOT / "docs")


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_the_examples_of_a_page_run(page, tmp_path):
    check(page, tmp_path)
