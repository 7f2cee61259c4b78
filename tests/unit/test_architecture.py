"""ARCHITECTURE.md is true: who imports whom, who prints, what is imported when, which page exists."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "iosonde"

# A library that a single room (or file) may know: what it gives has to pass through that room's words.
ONLY_IN = {
    "textwrap": "report/text/layout.py",
    "duckdb": "store",
    "pyarrow": "store",
    "mpi4py": "ranks/mpi.py",
    "click": "cli",
}

# Each costs 0.1 to 2 s to import: only inside the function that needs it.
HEAVY = {"scipy", "pyarrow", "duckdb", "vl_convert", "pandas", "statsmodels", "sklearn", "mpi4py"}

PRINTS = {"print", "input", "exit", "quit", "breakpoint", "SystemExit"}
# A rank is a process of its own: it must be able to end itself when its communicator or its watchdog is gone.
MAY_END_ITSELF = {"ranks/mpi.py", "ranks/heartbeat.py"}
PRINTS_OF = {("sys", "exit"), ("sys", "stdout"), ("sys", "stderr"), ("os", "_exit")}


# Everything is loaded late by the entry point, a command by the table of commands, the reader of tables by its options.
LOADS_LATE = {"cli/main.py", "cli/group.py", "cli/options/data.py"}


@dataclass(frozen=True)
class Import:
    """One import statement: the dotted name, the line, and whether it runs when the module is loaded."""

    name: str
    line: int
    at_load: bool


@cache
def modules() -> tuple[Path, ...]:
    return tuple(sorted(PACKAGE.rglob("*.py")))


def name_of(path: Path) -> str:
    """As people say it: ``stats/ols.py``."""
    return path.relative_to(PACKAGE).as_posix()


def room_of(path: Path) -> str:
    """The room a module lies in; '' for the package itself."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def imports_of(path: Path, types: bool = False) -> list[Import]:
    """Every import of a module, relative ones spelled out; those for type checkers only where ``types`` asks for
    them."""
    found: list[Import] = []

    def visit(node: ast.AST, at_load: bool) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test) and not types:
            return
        if isinstance(node, ast.Import):
            found.extend(Import(alias.name, node.lineno, at_load) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(path, node)
            found.extend(Import(f"{base}.{alias.name}", node.lineno, at_load) for alias in node.names)
        inside_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)):  # no import is in an expression
                visit(child, at_load and not inside_function)

    visit(tree_of(path), True)
    return found


def _absolute(path: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = ["iosonde", *path.relative_to(PACKAGE).parts[:-1]]
    return ".".join(package[: len(package) - node.level + 1] + ([node.module] if node.module else []))


def our_room(name: str) -> str | None:
    """The room that an imported name of ours belongs to; None for foreign names and the package itself."""
    parts = name.split(".")
    if parts[0] != "iosonde" or len(parts) < 2:
        return None
    return parts[1] if (PACKAGE / parts[1]).is_dir() else None


def map_of_rooms() -> dict[str, set[str]]:
    """The table in ARCHITECTURE.md: room → rooms it may import besides `core`."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)/` \|[^|]*\|([^|]*)\|$", text, re.MULTILINE)
    return {room: set(re.findall(r"\w+", allowed)) for room, allowed in rows}


MAP = map_of_rooms()


def test_every_room_is_on_the_map_and_every_room_on_the_map_exists():
    assert set(MAP) == {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}


def test_a_room_imports_only_what_the_map_allows():
    wrong = [
        (name_of(path), one.line, one.name)
        for path in modules()
        for one in imports_of(path)
        if not may_import(room_of(path), our_room(one.name))
    ]
    assert not wrong, "ARCHITECTURE.md does not let these rooms import these"


def may_import(room: str, other: str | None) -> bool:
    """Whether the map lets a room import another; the package itself has no bounds, nor have foreign names."""
    if not room or other in (None, room):
        return True
    nothing = {"nothing", "of", "ours"} <= MAP[room]
    return not nothing and other in {"core"} | MAP[room]


@pytest.mark.parametrize("room", MAP)
def test_what_the_map_allows_is_used(room):
    files = [path for path in modules() if room_of(path) == room]
    if all(path.name == "__init__.py" for path in files):
        pytest.skip("an empty room")
    used = {our_room(i.name) for path in files for i in imports_of(path, types=True)}
    allowed = {word for word in MAP[room] if (PACKAGE / word).is_dir()}
    assert allowed <= used, f"ARCHITECTURE.md allows {room} more than it needs"


def test_report_knows_results_by_their_types_alone():
    """What a report calls it could compute with: of rooms above ``core`` it may name classes and constants."""
    wrong = [
        (name_of(path), one.line, one.name)
        for path in modules()
        if room_of(path) == "report"
        for one in imports_of(path, types=True)
        if our_room(one.name) not in (None, "core", "report") and not one.name.rpartition(".")[2][0].isupper()
    ]
    assert not wrong, "pass the result in, or say it in answers"


def test_a_library_with_one_home_is_imported_only_there():
    wrong = [
        (name_of(path), one.line, one.name)
        for path in modules()
        for one in imports_of(path)
        for home in [ONLY_IN.get(one.name.split(".")[0])]
        if home and name_of(path) != home and not name_of(path).startswith(f"{home}/")
    ]
    assert not wrong


def test_heavy_libraries_are_imported_only_when_needed():
    assert not [
        (name_of(path), one.line, one.name)
        for path in modules()
        for one in imports_of(path)
        if one.at_load and one.name.split(".")[0] in HEAVY
    ]


def test_only_the_command_line_prints_asks_or_exits():
    wrong = [
        (name_of(path), node.lineno)
        for path in modules()
        if room_of(path) != "cli" and name_of(path) not in MAY_END_ITSELF
        for node in ast.walk(tree_of(path))
        if (isinstance(node, ast.Name) and node.id in PRINTS)
        or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            and (node.value.id, node.attr) in PRINTS_OF)
    ]  # fmt: skip
    assert not wrong, "raise an error, return a value, or take a function from cli"


def files_of_cli() -> list[Path]:
    return [path for path in modules() if room_of(path) == "cli"]


def test_a_command_names_what_it_uses_at_its_top():
    """``answers``, ``campaign`` and ``report`` load their modules when they are used (``core/on_demand.py``)."""
    late = {name_of(path) for path in files_of_cli() if any(not one.at_load for one in imports_of(path))}
    assert late == LOADS_LATE


def test_the_command_line_stays_thin():
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in modules() if room_of(path) == "cli")
    assert lines <= 3500, "what computes goes to answers, what lays out to report"


def test_text_and_json_leave_the_command_line_by_one_file():
    found = {name_of(path) for path in files_of_cli() for node in ast.walk(tree_of(path))
             if isinstance(node, ast.Attribute) and ast.unparse(node) in ("click.echo", "json.dumps")}  # fmt: skip
    assert found == {"cli/output.py"}


def test_no_module_imports_itself_by_way_of_others():
    """A late import and one for type checkers only count: each module can be understood after those that it names."""
    assert in_circles() == set(), "move what both need into a module of its own"


def test_no_module_is_named_as_a_part_of_another():
    """A leading underscore says "part of another file", which is what a folder or a name of its own is for."""
    hidden = {name_of(path) for path in modules() if path.name.startswith("_") and path.name != "__init__.py"}
    assert not hidden, "give it a name of its own"


@cache
def in_circles() -> set[str]:
    """The modules from which a way of imports leads back to them."""
    uses = uses_of_modules()
    return {name_of(path) for path in uses if path in reached_from(path, uses)}


def uses_of_modules() -> dict[Path, set[Path]]:
    """Module → the modules of ours that it names: ``from a.b import c`` is ``a/b/c.py``, or ``a/b`` that holds c."""
    files = {dotted(path): path for path in modules()}

    def named(name: str) -> Path | None:
        return files.get(name) or files.get(name.rpartition(".")[0])

    return {path: {other for one in imports_of(path, types=True) if (other := named(one.name))} - {path}
            for path in files.values()}  # fmt: skip


def reached_from(start: Path, uses: dict[Path, set[Path]]) -> set[Path]:
    reached: set[Path] = set()
    todo = list(uses[start])
    while todo:
        path = todo.pop()
        if path not in reached:
            reached.add(path)
            todo += uses[path]
    return reached


def dotted(path: Path) -> str:
    """``iosonde.core.table``; of a package, the package."""
    return ".".join(["iosonde", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")


def test_every_module_says_what_it_is_for():
    assert not [name_of(path) for path in modules() if not ast.get_docstring(tree_of(path))]


def _commands() -> dict[str, str]:
    from iosonde.cli.group import COMMANDS

    return COMMANDS


@pytest.mark.parametrize("name", _commands())
def test_every_command_has_a_page(name):
    assert (ROOT / "docs" / "commands" / f"{name}.md").is_file()


def test_every_page_has_a_command():
    pages = {path.stem for path in (ROOT / "docs" / "commands").glob("*.md")}
    assert pages <= set(_commands())


def _loaded_by(*words: str) -> set[str]:
    """Top-level modules in the interpreter after `iosonde WORDS…`."""
    code = (
        "import sys, iosonde.cli.main as m\n"
        "try: m.main()\n"
        "except SystemExit: pass\n"
        "finally: print('LOADED', *sorted({name.split('.')[0] for name in sys.modules}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("LOADED")[2].split())


@pytest.mark.slow
def test_help_loads_nothing_heavy():
    assert not _loaded_by("--help") & (HEAVY | {"numpy", "yaml"})


@pytest.mark.slow
@pytest.mark.parametrize("name", _commands())
def test_help_of_a_command_loads_nothing_heavy(name):
    assert not _loaded_by(name, "--help") & HEAVY
