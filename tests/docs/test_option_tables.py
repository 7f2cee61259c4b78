"""Every option of every command is on the command's page."""

from __future__ import annotations

import re

import pytest

import option_tables
from option_tables import INDEX, MARKS, PAGES, SAME_OPTIONS_AS

COMMANDS = option_tables.commands_by_name()


def tables_of(command: str) -> list[str]:
    """The texts between the marks of a command, on its page."""
    page = option_tables.page_of(COMMANDS[command]).read_text(encoding="utf-8")
    return [match[0] for match in MARKS.finditer(page) if command in match[1].split(", ")]


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.md")), ids=lambda path: path.stem)
def test_a_page_has_the_tables_of_today(path):
    assert path.read_text(encoding="utf-8") == option_tables.render_file(path), "make golden writes it again"


def test_the_index_lists_every_page_of_a_command():
    index = INDEX.read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[([a-z-]+)\]\(\1\.md\) \| \S", index, re.MULTILINE)
    assert sorted(listed) == sorted({option_tables.page_of(command).stem for command in COMMANDS.values()})


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_one_table_on_its_page_with_every_option(name):
    (table,) = tables_of(name)
    if source := SAME_OPTIONS_AS.get(name):
        table += "".join(tables_of(source))
    named = set(re.findall(r"--(?:no-)?[a-z][a-z-]*", table)) | ({"--json"} if COMMANDS[name].has_json else set())
    flags = {"--" + option.flag.replace("_", "-") for option in COMMANDS[name].declarations if not option.is_argument}
    assert flags <= named
    arguments = {option.metavar.replace("|", "\\|") for option in COMMANDS[name].declarations if option.is_argument}
    assert not {metavar for metavar in arguments if metavar not in table}


def test_no_page_has_marks_of_an_unknown_command():
    texts = [path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")]
    marked = [name for text in texts for match in MARKS.finditer(text) for name in match[1].split(", ")]
    assert sorted(marked) == sorted(COMMANDS)


def test_an_option_is_spelled_as_it_is_typed():
    table = option_tables.render_command(COMMANDS["anova"])
    assert "| `--contrast 'F: a - b'` (`contrasts=`) | A difference of means. Repeatable. |" in table
    assert "a\\*b for all of both" in table and table.endswith("`--json`](README.md#options-of-every-analysis).")
    table = option_tables.render_command(COMMANDS["run"])
    assert "| `[SPEC\\|'COMMAND']` |" in table and "| `--direct, --no-direct` |" in table
    assert "with `--against` at most so many pairs. Default: 6; of pairs 100. |" in table
    assert "Default: 4KiB. |" in table and "Default: what fits. |" in table
    assert "`--page`" in option_tables.render_command(COMMANDS["plan"]).split("\n")[0]
