"""``python tests/option_tables.py``: writes the tables of options into docs/commands, and the index of commands.

They follow from the declarations in ``commands/*/options.py``; a page marks their place with ``<!-- options: rank -->``
and ``<!-- end of options -->``.
"""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from iosonde.commands import abouts
from iosonde.commands.declaration import COMMANDS, Command
from iosonde.core.options import Option, options_of
from iosonde.data.options import SHARED, DataOptions

PAGES = Path(__file__).parents[1] / "docs" / "commands"
INDEX = PAGES / "README.md"
_PLACE = re.compile(r"<!-- options: (.*?) -->\n.*?<!-- end of options -->", re.DOTALL)
_OPTION = re.compile(r"`([a-z][a-z_]*)`")
HEAD = """# The commands

Written by `make golden` from `python/iosonde/commands`. Each is a function of Python too, as
`iosonde.rank(DATA, on="nodes")`,
with the options as keywords; where a keyword is called otherwise, the tables say so.
"""


def commands_of(folder: str) -> list[Command]:
    """The terminal's commands of a folder, in the order of its file."""
    module = importlib.import_module(f"iosonde.commands.{folder}.options").__name__
    return [command for command in COMMANDS.values() if command.answer.__module__ == module and command.name]


def table_of(options: list[Option]) -> Iterator[str]:
    """The rows of these options."""
    yield "| option | meaning | default |"
    yield "|---|---|---|"
    flags = {option.name: option.flag for option in options}
    for option in options:
        keyword = "" if option.name == option.flag or option.is_argument else f" (`{option.name}=`)"
        default = option.default_text or ("required" if option.is_required else "")
        meaning = _OPTION.sub(lambda match: f"`--{flags.get(match[1], match[1]).replace('_', '-')}`", option.help)
        yield f"| `{_cell(_words(option))}`{keyword} | {_cell(meaning)} | {_cell(default)} |"


def _words(option: Option) -> str:
    """An option as it is typed."""
    flag = "--" + option.flag.replace("_", "-")
    if option.is_argument:
        return option.metavar
    if option.is_switch:
        return f"{flag}, --no-{flag[2:]}" if option.default is None else flag
    return f"{option.short + ', ' * bool(option.short)}{flag} {option.metavar}".strip()


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def text_of(command: Command) -> str:
    """What stands between the marks of a command."""
    own = [option for option in command.declarations if not is_shared(command, option)]
    shared = [option for option in command.declarations if is_shared(command, option)]
    lines = list(table_of(own)) if own else []
    names = [f"`--{option.flag}`" for option in shared] + ["`--json`"] * command.has_json
    if names:
        also = "Also" if own else "Options"
        where = " ([of every analysis](README.md#options-of-every-analysis))" if shared else ""
        lines += [""] * bool(own) + [f"{also}: {', '.join(names)}{where}."]
    return "\n".join(lines)


def is_shared(command: Command, option: Option) -> bool:
    """Whether it is one of every analysis, declared there."""
    return option.name in SHARED and getattr(DataOptions, option.name) is option


def page_with_tables(text: str) -> str:
    """A page whose tables are those of today."""
    by_name = {command.name: command for folder in abouts() for command in commands_of(folder)}

    def replace(match: re.Match[str]) -> str:
        return f"<!-- options: {match[1]} -->\n{text_of(by_name[match[1]])}\n<!-- end of options -->"

    return _PLACE.sub(replace, text)


def index() -> str:
    """The page of all commands."""
    lines = [HEAD]
    for group, members in itertools.groupby(abouts().items(), lambda item: item[1].group):
        names = [(folder.strip("_").replace("_", "-"), about.brief) for folder, about in members]
        rows = (f"| [{name}]({name}.md) | {brief} |" for name, brief in names)
        lines += [f"## {group}\n", "| command | what it does |", "|---|---|", *rows, ""]
    shared = [option for option in options_of(DataOptions) if option.name in SHARED]
    return "\n".join([*lines, "## Options of every analysis\n", *table_of(shared)]) + "\n"


def main() -> None:
    """Write what differs."""
    for path in sorted(PAGES.glob("*.md")):
        text = index() if path == INDEX else page_with_tables(path.read_text(encoding="utf-8"))
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
