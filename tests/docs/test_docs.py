"""The examples in README.md and docs/ say what they show."""

import shutil

import pytest

from console import ROOT, blocks_of, check, pages_with_sessions

PAGES = {str(page.relative_to(ROOT)): page for page in pages_with_sessions(ROOT / "README.md", ROOT / "docs")}
NEEDS = sorted(
    {
        (name, program)
        for name, page in PAGES.items()
        for block in blocks_of(page.read_text(encoding="utf-8"))
        for program in block.needs
    }
)


@pytest.mark.parametrize("name", PAGES)
def test_the_examples_of_a_page_run(name, tmp_path):
    check(PAGES[name], tmp_path)


@pytest.mark.parametrize(("name", "program"), NEEDS)
def test_a_program_that_examples_need_is_here(name, program):
    if not shutil.which(program):
        pytest.skip(f"the examples of {name} that need {program} were not run: it is not on this machine")
