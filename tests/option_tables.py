"""``python tests/option_tables.py``: writes the tables of options into docs/commands, and the index of commands.

They follow from the declarations in ``commands/*/options.py``; a page marks their place with ``<!-- options: rank -->``
and ``<!-- end of options -->``.
"""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

from iosonde.commands import find_folder, folder_to_command, get_package_name, load_abouts
from iosonde.commands.declaration import COMMANDS, Command
from iosonde.core.options import Option, iter_options
from iosonde.data.options import SHARED, DataOptions

PAGES = Path(__file__).parents[1] / "docs" / "commands"
INDEX = PAGES / "README.md"
MARKS = re.compile(r"<!-- options: (.*?) -->\n.*?<!-- end of options -->", re.DOTALL)
# Commands that take the options of another one: page, command.
SAME_OPTIONS_AS = {"plan": "run", "lab run": "run", "validate": "fit"}
_NAME = re.compile(r"`([a-z][a-z_]*)`")
_SHARED = {*SHARED, "data"}
_JSON_HELP = "Stable JSON on stdout."
_HEAD = """<!-- Written by make golden from python/iosonde/commands. -->
# The commands

Most are [functions of Python](../python.md) too, with the options as keywords: `iosonde.rank(DATA, on="nodes")`. The
tables show a keyword that is called otherwise.
"""


def folder_commands(folder: str) -> list[Command]:
    """Return the declared commands of a folder, in the order of its files."""
    package = importlib.import_module(f"{get_package_name(folder)}.options").__package__
    return [command for command in COMMANDS.values() if command.answer.__module__.startswith(f"{package}.")]


def commands_by_name() -> dict[str, Command]:
    """Return all commands of the terminal, by their full name."""
    every = [command for folder in load_abouts() for command in folder_commands(folder) if command.name]
    return {command.name: command for command in every}


def page_of(command: Command) -> Path:
    """Return the page that describes a command."""
    return PAGES / f"{command.name.split()[0]}.md"


def render_command(command: Command) -> str:
    """Return the text between the marks of a command."""
    own = [option for option in command.declarations if not _is_shared(option)]
    parts = []
    if source := SAME_OPTIONS_AS.get(command.name):
        declared = [option for option in commands_by_name()[source].declarations if not _is_shared(option)]
        without = [one for one in commands_by_name()[source].declarations if one not in command.declarations]
        own = [option for option in own if option not in declared]
        exceptions = f" but {_join_names(without)}" if without else ""
        parts.append(f"All options of [{source}]({source}.md#options){exceptions}, and")
    if own:
        parts.append("\n".join(render_table(own, python_options(command))))
    shared = [option for option in command.declarations if _is_shared(option)]
    if names := _join_names(shared, ["`--json`"] * command.has_json):
        parts.append(f"{'Also' if own else 'Options:'} [{names}](README.md#options-of-every-analysis).")
    return "\n\n".join(parts or ["It has no options."])


def python_options(command: Command) -> list[Option[Any, Any]]:
    """Return the options of the Python functions of a command's folder."""
    folder = find_folder(command.name.split()[0])
    assert folder is not None, command.name
    functions = [declared for declared in folder_commands(folder) if declared.function]
    return [option for declared in functions for option in declared.declarations]


def render_table(options: list[Option[Any, Any]], in_python: Container[Option[Any, Any]] = ()) -> Iterator[str]:
    """Return the lines of a table; ``in_python``: options that are keywords of a Python function."""
    yield "| option | meaning |"
    yield "|---|---|"
    flags = {option.name: _flag(option) for option in options}
    for option in options:
        has_keyword = option in in_python and option.name != option.flag and not option.is_argument
        keyword = f" (`{option.name}=`)" if has_keyword else ""
        meaning = _NAME.sub(lambda match: f"`{flags.get(match[1], match[1])}`", option.help).replace("*", "\\*")
        yield f"| `{_escape(_spelling(option))}`{keyword} | {_escape(meaning + _default(option))} |"


def _default(option: Option[Any, Any]) -> str:
    """Return the sentence about the default."""
    if option.is_required:
        return "" if option.is_argument else " Required."
    return f" Default: {option.default_text}." if option.default_text else ""


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


def _flag(option: Option[Any, Any]) -> str:
    """Return an option as a sentence names it."""
    return option.metavar if option.is_argument else "--" + option.flag.replace("_", "-")


def _spelling(option: Option[Any, Any]) -> str:
    """Return an option with its value as it is typed."""
    flag = _flag(option)
    if option.is_argument:
        return flag if option.is_required or flag.startswith("[") else f"[{flag}]"
    if option.is_switch and option.default is None:
        flag += f", --no-{flag[2:]}"
    return f"{option.short + ', ' * bool(option.short)}{flag} {option.metavar}".strip()


def _join_names(options: Iterable[Option[Any, Any]], more: Iterable[str] = ()) -> str:
    return ", ".join([*(f"`{_flag(option)}`" for option in options), *more])


def _is_shared(option: Option[Any, Any]) -> bool:
    """Return whether it is one of every analysis, declared there."""
    return option.name in _SHARED and getattr(DataOptions, option.name) is option


def render_page(text: str) -> str:
    """Return a page with the tables of today. Marks with several commands take one table, which is the same of all."""
    commands = commands_by_name()

    def replace(match: re.Match[str]) -> str:
        tables = {render_command(commands[name]) for name in match[1].split(", ")}
        assert len(tables) == 1, f"{match[1]}: not the same options"
        return f"<!-- options: {match[1]} -->\n{tables.pop()}\n<!-- end of options -->"

    return MARKS.sub(replace, text)


def render_index() -> str:
    """Return the page of all commands."""
    lines = [_HEAD]
    for group, members in itertools.groupby(load_abouts().items(), lambda item: item[1].group):
        names = [(folder_to_command(folder), about.brief) for folder, about in members]
        rows = (f"| [{name}]({name}.md) | {brief} |" for name, brief in names)
        lines += [f"## {group}\n", "| command | what it does |", "|---|---|", *rows, ""]
    shared = sorted(filter(_is_shared, iter_options(DataOptions)), key=lambda option: not option.is_argument)
    table = [*render_table(shared), f"| `--json` | {_JSON_HELP} |"]
    return "\n".join([*lines, "## Options of every analysis\n", *table]) + "\n"


def render_file(path: Path) -> str:
    """Return what a page of docs/commands has to say."""
    return render_index() if path == INDEX else render_page(path.read_text(encoding="utf-8"))


def main() -> None:
    """Write the pages that differ."""
    for path in sorted(PAGES.glob("*.md")):
        text = render_file(path)
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
