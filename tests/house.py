"""``python tests/house.py``: how far the house is from the field's English and from its own limits, as JSON.

``tests/unit/test_english.py`` keeps what was reached: the figures of names and phrases may only fall.
"""

from __future__ import annotations

import ast
import io
import json
import keyword
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import source

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "iosonde"
LAB = ROOT / "packages" / "iosonde-lab" / "iosonde_lab"
DIALECT = frozenset(
    (
        "found",
        "made",
        "one",
        "said",
        "told",
        "asked",
        "known",
        "left",
        "given",
        "shown",
        "wanted",
        "held",
        "seen",
        "kept",
        "whole",
        "beside",
        "named",
    )
)
OPAQUE_PARAMETERS = frozenset(("one", "found", "made", "told", "said"))
# Front ends spell options; an argument list of a foreign program is no option of ours.
FRONT_ENDS = frozenset(("cli", "serve", "page", "layout"))
FRONT_FILES = re.compile(r"(options|text|figure|section)(_\w+)?\.py")
DECLARATIONS = (PACKAGE / "core" / "system_words.py",)  # names, types and help of options
PHRASE = re.compile(r"(?<![\w/.=-])[A-Za-z]{2,}[ ,:]+[a-z]{2,}(?![\w=/.(-]*[_=/(])")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def room_of(path: Path) -> str:
    """The folder below the package that a file lies in; '.' for the package's own files; 'lab' or 'extras' for those of
    the distributions."""
    if not path.is_relative_to(PACKAGE):
        return path.relative_to(ROOT).parts[1].removeprefix("iosonde-")
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else "."


def product_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def plugin_files() -> list[Path]:
    """Modules of the distributions in ``packages``."""
    return sorted((ROOT / "packages").glob("*/iosonde_*/**/*.py"))


def all_files() -> list[Path]:
    """Files of the product and of all other distributions."""
    return [*product_files(), *plugin_files()]


def words_of(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def dialect_per_1000(files: list[Path]) -> float:
    """Identifiers that hold a word of the dialect, of 1,000."""
    names = [
        token.string
        for path in files
        for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
        if token.type == tokenize.NAME and not keyword.iskeyword(token.string)
    ]
    hits = sum(not DIALECT.isdisjoint(name.strip("_").split("_")) for name in names)
    return round(1000 * hits / max(len(names), 1), 1)


def functions(files: list[Path]) -> Iterator[Function]:
    for path in files:
        for node in source.nodes(path):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node


def is_property(function: Function) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


def one_word_share(files: list[Path]) -> float:
    """Functions and methods whose name is one word, of all but properties and dunder methods."""
    names = [node.name for node in functions(files) if not is_property(node) and not node.name.startswith("__")]
    return round(sum("_" not in name.strip("_") for name in names) / max(len(names), 1), 3)


def opaque_parameters(files: list[Path]) -> int:
    return sum(
        argument.arg in OPAQUE_PARAMETERS
        for node in functions(files)
        for argument in (*node.args.args, *node.args.kwonlyargs)
    )


def docstrings(path: Path) -> set[int]:
    """Identities of the docstrings' nodes."""
    return {
        id(node.body[0].value)
        for node in source.nodes(path)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }


def options() -> frozenset[str]:
    """Every option of every command, without its dashes."""
    import click

    from iosonde.cli.group import cli

    def of_command(command: click.Command, context: click.Context) -> Iterator[str]:
        for option in command.params:
            yield from (word[2:] for word in (*option.opts, *option.secondary_opts) if word.startswith("--"))
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                child = command.get_command(context, name)
                assert child is not None
                yield from of_command(child, context)

    return frozenset(of_command(cli, click.Context(cli)))


def own_flags() -> list[str]:
    """Places below the front ends where a sentence names an option as a terminal spells it.

    A whole command line in a sentence stays as one types it. What begins with dashes is a word of a command line, and
    what has several lines a script.
    """
    flag = re.compile(rf"(?<![\w-])--({'|'.join(sorted(options(), key=len, reverse=True))})(?![\w-])")
    places = []
    for path in all_files():
        if room_of(path) in FRONT_ENDS or FRONT_FILES.fullmatch(path.name) or path in DECLARATIONS:
            continue
        ignored = docstrings(path)
        for node in source.nodes(path):
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str)) or id(node) in ignored:
                continue
            sentence = re.sub(r"(iosonde|iperf3|'[a-z]+) [-a-z].*", "", node.value)
            if flag.search(sentence) and not sentence.lstrip().startswith("--") and "\n" not in sentence:
                places.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}")
    return places


def phrases(function: Function) -> list[str]:
    """Phrases of two words or more that a test function asserts."""
    texts: list[str] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            constants = [part.value for part in ast.walk(node.test) if isinstance(part, ast.Constant)]
            texts += [value for value in constants if isinstance(value, str) and PHRASE.search(value)]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("raises"):
            texts += [ast.unparse(option.value) for option in node.keywords if option.arg == "match"]
    return texts


def phrase_share(files: list[Path]) -> float:
    """Test functions that assert phrases, of all."""
    tests = [node for node in functions(files) if node.name.startswith("test_")]
    return round(sum(bool(phrases(test)) for test in tests) / max(len(tests), 1), 3)


OBLIQUE = frozenset(("Of", "What", "Whether", "Where", "How", "One", "That", "Those", "Which"))


def oblique_docstrings(files: list[Path]) -> int:
    """Functions whose docstring does not begin with what they do or return."""
    texts = (ast.get_docstring(node) or "" for node in functions(files) if not is_property(node))
    return sum(text.partition(" ")[0] in OBLIQUE for text in texts)


def test_files() -> list[Path]:
    return sorted([*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "packages").glob("*/tests/**/test_*.py")])


def statements(files: list[Path]) -> int:
    return sum(isinstance(node, ast.stmt) for path in files for node in source.nodes(path))


def measure() -> dict[str, Any]:
    files = all_files()
    rooms = sorted({room_of(path) for path in files})
    text = {path: path.read_text(encoding="utf-8") for path in files}
    outside_data = [path for path in files if room_of(path) != "data"]
    return {
        "dialect_per_1000": dialect_per_1000(files),
        "dialect_per_1000_by_room": {
            room: dialect_per_1000([path for path in files if room_of(path) == room]) for room in rooms
        },
        "opaque_parameters": opaque_parameters(files),
        "one_word_functions": one_word_share(files),
        "oblique_docstrings": oblique_docstrings(files),
        "flags_below_front_ends": len(own_flags()),
        "phrases_in_tests": phrase_share(test_files()),
        "store_is_none_outside_data": sum(
            len(re.findall(r"store is (?:not )?None", text[path])) for path in outside_data
        ),
        "fmt_skip": sum(content.count("fmt: " + "skip") for content in text.values()),
        "architecture_bytes": (ROOT / "ARCHITECTURE.md").stat().st_size,
        "changelog_bytes": (ROOT / "CHANGELOG.md").stat().st_size,
        "docs_words": sum(len(path.read_text(encoding="utf-8").split()) for path in (ROOT / "docs").rglob("*.md")),
        "statements": statements(product_files()),
        "statements_of_lab": statements([path for path in files if room_of(path) == "lab"]),
    }


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
