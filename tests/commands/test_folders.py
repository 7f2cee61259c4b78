"""A folder of ``commands`` is all that a command needs: the terminal and Python find it there."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import iosonde
import option_tables
import sample_store
from iosonde import commands
from iosonde.cli.group import cli
from iosonde.commands.declaration import COMMANDS
from iosonde.core.errors import IosondeError
from stub import STUB, stub

FOLDERS = sorted(path.parent for path in Path(commands.__path__[0]).glob("*/__init__.py"))
INIT = '''
"""``iosonde toy``: a text, several times."""

from iosonde.commands.about import About

ABOUT = About("Share", 99, "a text, several times", ("repeat_text",), page="toys")
'''
FOR_PAGE = '''
"""Toys, for the page."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Toys:
    """What the page shows."""

    number: int

    def content(self) -> dict:
        """Return it as JSON."""
        return {"number": self.number}


def build_part(source, level):
    """Count the trials of a store with several."""
    return Toys(len(source.runs)) if len(source.runs) > 1 else None
'''
SECTION = '''
"""Toys on the page."""

from iosonde.page.tables import PageSection, SectionTable


def build_section(toys):
    """Return the section."""
    table = SectionTable("Toys in the box", ("toy", "number"), (("bear", str(toys.number)),), 1)
    return PageSection("Toys", "All <toys>", "One for each trial.", tables=(table,))
'''
OPTIONS = '''
"""``iosonde toy``: a text, several times."""

from dataclasses import KW_ONLY, dataclass

from iosonde.commands.command import command
from iosonde.core.option_kinds import Integer
from iosonde.core.options import Text


@dataclass
class ToyOptions:
    """Options of ``iosonde toy``."""

    text: Text[str] = Text("TEXT", "What is repeated.", is_argument=True, is_required=True)
    _: KW_ONLY
    number: Integer[int] = Integer("N", "How often.", 2, least=1, flag="times")


@command("toy", ToyOptions, "toy ab --times 3")
def repeat_text(options: ToyOptions) -> str:
    """Repeat TEXT `number` times.

    Returns
    -------
    str
        The text.
    """
    return options.text * options.number
'''


@pytest.fixture
def toy(tmp_path, monkeypatch) -> Iterator[None]:
    """A command that another package may have brought."""
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "__init__.py").write_text(INIT.lstrip())
    (folder / "options.py").write_text(OPTIONS.lstrip())
    (folder / "for_page.py").write_text(FOR_PAGE.lstrip())
    (folder / "section.py").write_text(SECTION.lstrip())
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    commands._list_own_folders.cache_clear()
    yield
    commands._list_own_folders.cache_clear()
    for name in [name for name in sys.modules if name.startswith("iosonde.commands.toy")]:
        del sys.modules[name]
    for key in [key for key in COMMANDS if key.startswith("iosonde.commands.toy")]:
        del COMMANDS[key]
    vars(commands).pop("toy", None)
    vars(iosonde).pop("repeat_text", None)


def invoke(*words: str) -> str:
    result = CliRunner().invoke(cli, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_folder_is_a_command_of_the_terminal(toy):
    assert "  toy  " in invoke("--help") and "a text, several times" in invoke("--help").split("Share:")[1]
    text = invoke("toy", "-h")
    assert all(word in text for word in ("Repeat TEXT --times times.", "--times N", "[default: 2]", "toy ab --times 3"))
    assert "Returns" not in text
    assert invoke("toy", "ab") == "abab\n" and invoke("toy", "ab", "--times", "3") == "ababab\n"
    with pytest.raises(IosondeError, match="--times 0 is not possible"):
        invoke("toy", "ab", "--times", "0")


def test_a_folder_is_a_function_of_python(toy):
    function = iosonde.repeat_text
    assert function("ab") == "abab" and function(text="ab", number=3) == "ababab"
    parameters = inspect.signature(function).parameters
    assert [(name, one.default) for name, one in parameters.items()] == [
        ("text", inspect.Parameter.empty),
        ("number", 2),
    ]
    assert parameters["number"].kind is inspect.Parameter.KEYWORD_ONLY
    text = inspect.getdoc(function)
    assert text.startswith("Repeat TEXT ``number`` times.") and "number : int, default 2" in text and "Returns" in text
    with pytest.raises(IosondeError, match="number=0 is not possible"):
        function("ab", number=0)
    with pytest.raises(TypeError, match=r"iosonde\.repeat_text\(\)"):
        function("ab", times=3)


def test_a_folder_has_a_section_of_the_page(toy, tmp_path):
    place, page = tmp_path / "store", tmp_path / "page.html"
    sample_store.main(str(place))
    assert json.loads(invoke("report", str(place), "--json"))["toys"] == {"number": 6}
    invoke("report", str(place), "-o", str(page))
    text = page.read_text()
    assert '<a href="#toys">Toys</a>' in text and '<section id="toys">' in text
    assert "All &lt;toys&gt;" in text and '<td class="n">6</td>' in text


def test_a_folder_is_in_the_index_of_the_docs(toy):
    assert "| [toy](toy.md) | a text, several times |" in option_tables.render_index()


def test_without_its_folder_a_command_is_unknown():
    assert "toy" not in cli.list_commands(None) and cli.get_command(None, "toy") is None
    with pytest.raises(AttributeError):
        iosonde.repeat_text  # noqa: B018


@pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])
def test_a_folder_says_what_it_is_about_and_no_more(folder):
    assert (folder / "options.py").is_file()
    docstring, imported, about = ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body
    assert isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant)
    assert ast.unparse(imported) == "from iosonde.commands.about import About"
    assert ast.unparse(about).startswith("ABOUT = About(")


def test_a_place_in_the_list_is_one_commands():
    places = [(about.group, about.place) for about in commands.load_abouts().values()]
    assert len(set(places)) == len(places)


def test_functions_of_a_folder_are_declared_there():
    for folder, about in commands.load_abouts().items():
        module = importlib.import_module(f"{commands.get_package_name(folder)}.options")
        declared = {command.function for key, command in COMMANDS.items() if key.startswith(f"{module.__package__}.")}
        assert declared - {""} == set(about.functions), folder


def test_editors_find_every_function():
    assert STUB.read_text(encoding="utf-8") == stub(), "make golden writes it again"


def test_the_list_of_commands_loads_none_of_them():
    code = """
        import sys
        from iosonde.commands import load_abouts
        load_abouts()
        print(*sorted(name for name in sys.modules if name.endswith(".options")))
        print(*sorted({"numpy", "pandas", "click"} & set(sys.modules)))
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert run.stdout == "\n\n"
