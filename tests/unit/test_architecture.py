"""ARCHITECTURE.md is true: who imports whom, who prints, what is imported when, which page exists; names and sizes."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import house
import rooms_figure
import source

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "iosonde"
LAB = ROOT / "packages" / "iosonde-lab" / "iosonde_lab"
DISTRIBUTIONS = {path.name for path in (ROOT / "packages").glob("*/iosonde_*")}
# The only file of the product that knows the distribution for labs.
KNOWS_LAB = "commands/labs.py"

# A library that a single room (or file) may know: what it gives has to pass through that room's words.
ONLY_IN = {
    "textwrap": ("layout/text.py", "commands/python.py"),
    "duckdb": ("store/",),
    "pyarrow": ("store/",),
    "mpi4py": ("ranks/mpi.py",),
    "click": ("cli/",),
}

# Each costs 0.1 to 2 s to import: only inside the function that needs it.
HEAVY = {"scipy", "pyarrow", "duckdb", "vl_convert", "pandas", "statsmodels", "sklearn", "mpi4py"}

PRINTS = {"print", "input", "exit", "quit", "breakpoint", "SystemExit"}
# A rank is a process of its own: it must be able to end itself when its communicator or its watchdog is gone.
MAY_END_ITSELF = {"ranks/mpi.py", "ranks/heartbeat.py", "ranks/forked_program.py"}
PRINTS_OF = {("sys", "exit"), ("sys", "stdout"), ("sys", "stderr"), ("os", "_exit")}


# Commands are loaded late by the entry point.
LOADS_LATE = {"cli/main.py", "cli/group.py"}


@dataclass(frozen=True)
class Import:
    """One import statement: the dotted name, the line, whether it runs when the module is loaded, whether it is only
    for type checkers."""

    name: str
    line: int
    at_load: bool
    for_types: bool


@dataclass(frozen=True)
class Facts:
    """What is asked of a module's syntax."""

    documented: bool
    imports: tuple[Import, ...]
    classes: tuple[str, ...]
    functions: tuple[tuple[str, int], ...]


@cache
def modules() -> tuple[Path, ...]:
    """Those of the product, then those of the other distributions."""
    return tuple(house.all_files())


def parts_of(path: Path) -> tuple[str, ...]:
    """The names from the room to the file."""
    return path.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else path.parents[-len(ROOT.parts) - 2]).parts


def name_of(path: Path) -> str:
    """As people say it: ``stats/ols.py``."""
    return "/".join(parts_of(path))


def room_of(path: Path) -> str:
    """The room a module lies in; '' for the package itself. What starts the room ``serve`` is of that room; each
    other distribution is one room."""
    parts = parts_of(path)
    if parts[:2] == ("commands", "serve"):
        return "serve"
    return parts[0] if len(parts) > 1 else ""


@cache
def facts_of(path: Path) -> Facts:
    """Its top-level classes, its functions with the number of their parameters (those of commands are their options),
    and every import, relative ones spelled out."""
    tree = source.tree(path)
    imports: list[Import] = []
    functions: list[tuple[str, int]] = []

    def visit(node: ast.AST, at_load: bool, for_types: bool) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for_types = True
        elif isinstance(node, ast.Import):
            imports.extend(Import(alias.name, node.lineno, at_load, for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(path, node)
            imports.extend(Import(f"{base}.{alias.name}", node.lineno, at_load, for_types) for alias in node.names)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            at_load = False
            if not any("command(" in ast.unparse(one) for one in node.decorator_list):
                parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                functions.append((node.name, sum(one.arg not in ("self", "cls") for one in parameters)))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)):  # no import is in an expression
                visit(child, at_load, for_types)

    visit(tree, True, False)
    classes = tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef))
    return Facts(bool(ast.get_docstring(tree)), tuple(imports), classes, tuple(functions))


def imports_of(path: Path, types: bool = False) -> list[Import]:
    """Those for type checkers only where ``types`` asks for them."""
    return [one for one in facts_of(path).imports if types or not one.for_types]


def _absolute(path: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = dotted(path.parent / "__init__.py").split(".")
    return ".".join(package[: len(package) - node.level + 1] + ([node.module] if node.module else []))


def our_room(name: str) -> str | None:
    """The room that an imported name of ours belongs to; None for foreign names and the package itself."""
    parts = name.split(".")
    if parts[0] in DISTRIBUTIONS:
        return parts[0]
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
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert set(MAP) == rooms | DISTRIBUTIONS


def test_a_room_imports_only_what_the_map_allows():
    wrong = [
        (name_of(path), one.line, one.name)
        for path in modules()
        for one in imports_of(path)
        if not may_import(room_of(path), our_room(one.name))
        if (name_of(path), our_room(one.name)) != (KNOWS_LAB, LAB.name)
    ]
    assert not wrong, "ARCHITECTURE.md does not let these rooms import these"


def test_one_file_of_the_product_imports_labs_and_it_does_so_late():
    imports = [
        (name_of(path), one.at_load)
        for path in modules()
        for one in imports_of(path, types=True)
        if our_room(one.name) == LAB.name and room_of(path) != LAB.name
    ]
    assert set(imports) == {(KNOWS_LAB, False)}


def test_no_room_imports_a_plugin():
    """A plug-in is found by its entry point (``core/plugins.py``), and may be missing."""
    assert not [
        (name_of(path), one.line, one.name)
        for path in modules()
        for one in imports_of(path, types=True)
        if our_room(one.name) in DISTRIBUTIONS - {LAB.name, room_of(path)}
    ]


def may_import(room: str, other: str | None) -> bool:
    """Whether the map lets a room import another; the package itself has no bounds, nor have foreign names."""
    if not room or other in (None, room):
        return True
    nothing = {"nothing", "of", "ours"} <= MAP[room]
    return not nothing and other in {"core"} | MAP[room]


@pytest.mark.slow
def test_the_drawn_rooms_are_those_of_the_imports():
    rooms = rooms_figure.imported()
    assert set(rooms) | DISTRIBUTIONS == set(MAP)
    assert all(rooms_figure.reached(rooms, name) <= below(name) | {"core", "engine"} for name in rooms)
    assert rooms_figure.FIGURE.read_text(encoding="utf-8") == rooms_figure.svg(rooms), "make golden writes it"


@pytest.mark.parametrize("room", MAP)
def test_what_the_map_allows_is_used(room):
    files = [path for path in modules() if room_of(path) == room]
    if all(path.name == "__init__.py" for path in files):
        pytest.skip("an empty room")
    used = {our_room(i.name) for path in files for i in imports_of(path, types=True)}
    allowed = {word for word in MAP[room] if (PACKAGE / word).is_dir()}
    assert allowed <= used, f"ARCHITECTURE.md allows {room} more than it needs"


# Tests of a room that need what is above it: what it hands on is looked at where it arrives, or as it is said.
SEAMS = {
    "test_campaign_against.py": {"commands", "data"},
    "test_campaign_labels.py": {"data"},
    "test_campaign_targets.py": {"cli", "commands", "data"},
    "test_data_experiments.py": {"cli", "commands"},
    "test_data_factors.py": {"answers", "commands"},
    "test_importers_seam.py": {"store"},
    "test_importers_variants.py": {"commands"},
    "test_ingest_device_logs.py": {"commands"},
    "test_ingest_related_files.py": {"commands"},
    "test_ingest_same_measurement.py": {"commands"},
    "test_ingest_stored_paths.py": {"commands"},
    "test_measure_aggregate.py": {"importers"},
    "test_measure_on_servers.py": {"campaign", "commands", "store"},
    "test_measure_probe.py": {"campaign", "commands", "stats", "store"},
    "test_measure_probe_tcp.py": {"campaign", "commands", "stats"},
    "test_measure_restore.py": {"campaign", "store"},
    "test_measure_steps.py": {"stats", "store"},
    "test_measure_target.py": {"campaign"},
    "test_measure_wire.py": {"importers"},
    "test_ranks_abilities.py": {"commands"},
    "test_ranks_forked.py": {"store"},
    "test_ranks_leftovers.py": {"measure"},
    "test_stats_definitions.py": {"engine"},
    "test_store_written_before.py": {"cli"},
}


@pytest.mark.parametrize("room", MAP)
def test_tests_of_a_room_import_no_room_above_it(room):
    """``test_stats_….py`` may import what ``stats`` may, and what that may."""
    here = Path(__file__).parent
    files = [path for path in (here / f"test_{room}.py", *here.glob(f"test_{room}_*.py")) if path.exists()]
    above = {path.name: more for path in files if (more := rooms_in(path) - below(room))}
    assert above == {name: more for name, more in SEAMS.items() if re.match(rf"test_{room}[_.]", name)}, (
        "move the test to the room that it is of, or make the input without that room"
    )


def rooms_in(path: Path) -> set[str]:
    """The rooms that a test imports, early or late; what the package itself gives is of the commands."""
    names: set[str] = set()
    for node in source.nodes(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    ours = {name for name in names if name.split(".")[0] in {"iosonde", *DISTRIBUTIONS}}
    return {our_room(name) or "commands" for name in ours}


def below(room: str) -> set[str]:
    """A room, and all that the map lets it, and these, import."""
    found, todo = {"core", room}, [room]
    while todo:
        new = {word for word in MAP[todo.pop()] if word in MAP} - found
        found |= new
        todo += new
    return found


# They join what computes and what lays it out, as options.py does.
JOINS = {
    "commands/plot/files.py",
    "commands/report/html.py",
    "commands/report/parts.py",
    "commands/run/measurement.py",
    "commands/scale/network.py",
}
LAYS_OUT = re.compile(r"(text|figure|section)(_\w+)?\.py")
LAYOUT_ROOMS = ("layout", "page")


def lays_out(path: Path) -> bool:
    """Whether it shows what others have computed: a rule by the name of the file."""
    return room_of(path) in LAYOUT_ROOMS or (is_of_command(path) and bool(LAYS_OUT.fullmatch(path.name)))


def is_of_command(path: Path) -> bool:
    return room_of(path) == "commands" or parts_of(path)[:2] == (LAB.name, "command")


def layouts() -> list[Path]:
    return [path for path in modules() if lays_out(path)]


def test_what_lays_out_knows_answers_by_their_types_alone():
    """What a layout calls it could compute with: of the rooms that compute it may name classes and constants."""
    files = {dotted(path): path for path in modules()}

    def is_layout(name: str) -> bool:
        path = files.get(name) or files.get(name.rpartition(".")[0])
        return path is not None and lays_out(path)

    wrong = [
        (name_of(path), one.line, one.name)
        for path in layouts()
        for one in imports_of(path, types=True)
        if our_room(one.name) not in (None, "core") and not is_layout(one.name)
        if not one.name.rpartition(".")[2][0].isupper()
    ]
    assert not wrong, "pass the result in, or say it in the answer"


def test_what_computes_knows_no_layout():
    computes = [path for path in modules() if (is_of_command(path) or room_of(path) == "answers") and is_answer(path)]
    assert len(computes) > 100
    wrong = [
        (name_of(path), one.line, one.name)
        for path in computes
        for one in imports_of(path, types=True)
        if our_room(one.name) == "layout" or re.search(r"\.commands?\..*\b(text|figure|section)(_\w+)?(\.|$)", one.name)
    ]
    assert not wrong, "an answer is laid out by others"


def is_answer(path: Path) -> bool:
    """Whether a file of a command, or of what answers share, computes: what joins the two is no answer."""
    parts = parts_of(path)
    return (
        (len(parts) > 2 or parts[0] == "answers")
        and not lays_out(path)
        and name_of(path) not in JOINS
        and path.name != "options.py"
    )


# Where widths of columns and places on paper are added up.
ADDS_FOR_LAYOUT = {
    "commands/upgrade/figure_cluster.py",
    "commands/scale/figure.py",
    "commands/plot/figure_settings.py",
    "commands/survey/figure.py",
    "commands/fit/figure_tree.py",
    "commands/report/section_top.py",
    "commands/summary/text_cells.py",
    "layout/text.py",
    "commands/summary/text_settings.py",
    "commands/summary/text_one_table.py",
    "commands/show/text.py",
}


def test_a_layout_adds_no_numbers_up():
    """A sum of what was measured or counted is the answer's, which JSON has as well."""
    found = {
        name_of(path)
        for path in modules()
        if lays_out(path)
        for node in source.nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sum"
    }
    assert found == ADDS_FOR_LAYOUT, "hand the sum over with the answer"


def test_a_library_with_one_home_is_imported_only_there():
    wrong = [
        (name_of(path), one.line, one.name)
        for path in modules()
        for one in imports_of(path)
        for homes in [ONLY_IN.get(one.name.split(".")[0])]
        if homes and not name_of(path).startswith(homes)
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
    words = re.compile(rf"\b({'|'.join(PRINTS | {name for _, name in PRINTS_OF})})\b")
    wrong = [
        (name_of(path), node.lineno)
        for path in modules()
        if room_of(path) != "cli" and name_of(path) not in MAY_END_ITSELF
        if words.search(path.read_text(encoding="utf-8"))
        for node in source.nodes(path)
        if (isinstance(node, ast.Name) and node.id in PRINTS) or is_one_of(node, PRINTS_OF)
    ]
    assert not wrong, "raise an error, return a value, or take a function from cli"


def is_one_of(node: ast.AST, names: set[tuple[str, str]]) -> bool:
    """Whether it is the attribute of a name, as in ``sys.exit``."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and (node.value.id, node.attr) in names


# What follows links, crosses mounts, hangs with a FIFO or stops at an error in silence: `foreign/` does it safely.
UNSAFE_CALLS = {
    ("shutil", "rmtree"),
    ("os", "walk"),
    ("os", "removedirs"),
    ("tempfile", "TemporaryDirectory"),
    ("tarfile", "open"),
    ("zipfile", "ZipFile"),
}
UNSAFE_METHODS = {"rglob", "extractall", "unpack_archive"}
# Each with the reason why it may.
TOUCHES_TREES_ITSELF = {
    "cli/main.py",  # standard streams, by descriptor
    "core/plugins.py",  # metadata of installed packages, before anything else is loaded
    "core/program_output.py",  # a file in memory, by descriptor
    "measure/rank/output.py",  # by a descriptor that followed no link
    "survey/from_list.py",  # a list of files may come by a pipe
    "ranks/launch/program.py",  # maps an executable that was found on PATH
    "store/files.py",  # the store's own directories, through its Disk, which power loss is tried on
}


def test_foreign_trees_are_touched_by_the_room_for_it_alone():
    found = {name_of(path) for path in modules() if room_of(path) != "foreign" and any(touches_trees(path))}
    assert found == TOUCHES_TREES_ITSELF, "use foreign/: removal, reading, walking, unpacking"


def touches_trees(path: Path) -> Iterator[int]:
    """The lines on which it removes, walks, unpacks or opens by itself."""
    for node in source.nodes(path):
        bare_open = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open"
        method = isinstance(node, ast.Attribute) and node.attr in UNSAFE_METHODS
        if method or is_one_of(node, UNSAFE_CALLS) or bare_open:
            yield node.lineno


def files_of_cli() -> list[Path]:
    return [path for path in modules() if room_of(path) == "cli"]


def test_the_command_line_names_what_it_uses_at_its_top():
    late = {name_of(path) for path in files_of_cli() if any(not one.at_load for one in imports_of(path))}
    assert late == LOADS_LATE


def test_the_command_line_stays_thin():
    statements = house.statements([path for path in modules() if room_of(path) == "cli"])
    assert statements <= 500, "what computes goes to answers, what lays out to texts and figures"


def test_text_and_json_leave_the_command_line_by_one_file():
    says = {("click", "echo"), ("json", "dumps")}
    found = {name_of(path) for path in files_of_cli() if any(is_one_of(node, says) for node in source.nodes(path))}
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

    return {
        path: {other for one in imports_of(path, types=True) if (other := named(one.name))} - {path}
        for path in files.values()
    }


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
    top = ("iosonde",) if path.is_relative_to(PACKAGE) else ()
    return ".".join([*top, *parts_of(path)]).removesuffix(".py").removesuffix(".__init__")


def test_every_module_says_what_it_is_for():
    assert not [name_of(path) for path in modules() if not facts_of(path).documented]


# One meaning in several places: what a workload is told.
ONE_MEANING = {"Settings"}
# Called after what their fields hold.
OPTION_KINDS = {"core/options.py", "core/option_kinds.py"}


def test_a_public_class_has_a_name_of_its_own():
    places: dict[str, list[str]] = {}
    for path in modules():
        if name_of(path) in OPTION_KINDS:
            continue
        for name in facts_of(path).classes:
            if not name.startswith("_"):
                places.setdefault(name, []).append(name_of(path))
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert set(twice) == ONE_MEANING, twice


# The declaration of an option reads like a line of --help, by keywords.
DECLARES = {"core/options.py __init__"}


def test_no_function_takes_more_than_seven_parameters():
    found = {f"{name_of(path)} {name}" for path in modules() for name, many in facts_of(path).functions if many > 7}
    assert found == DECLARES, "make a frozen dataclass of what belongs together"


def _commands() -> dict[str, str]:
    from terminal import COMMANDS

    return COMMANDS


@pytest.mark.parametrize("name", _commands())
def test_every_command_has_a_page(name):
    assert (ROOT / "docs" / "commands" / f"{name}.md").is_file()


def test_every_page_has_a_command():
    pages = {path.stem for path in (ROOT / "docs" / "commands").glob("*.md")}
    assert pages == {*_commands(), "README"}


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


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", _commands())
def test_help_of_a_command_loads_nothing_heavy(name):
    assert not _loaded_by(name, "--help") & HEAVY


EXECUTES = {"eval", "exec", "compile", "__import__"}
EXECUTES_OF = {("os", "system"), ("os", "popen"), ("subprocess", "getoutput"), ("subprocess", "getstatusoutput")}
# What comes from a store, a file or another tool is data; a pickle, a marshal or a shelf is a program.
PROGRAMS = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "code", "runpy"}
# Only a file that has one of the words can do it, and is parsed.
MAY_EXECUTE = re.compile(
    rf"(?<![.\w])({'|'.join(EXECUTES)})\s*\(|\b({'|'.join(name for _, name in EXECUTES_OF)}|shell|allow_pickle)\b|"
    r"\byaml\s*\.\s*\w*load\b"
)


def test_nothing_that_was_read_can_be_executed():
    """Commands of an experiment go to /bin/sh in one place; nothing else is ever run, and no data is a program."""
    found = []
    for path in modules():
        found += [
            f"{name_of(path)}:{one.line} imports {one.name}"
            for one in imports_of(path)
            if one.name.split(".")[0] in PROGRAMS
        ]
        may_execute = MAY_EXECUTE.search(path.read_text(encoding="utf-8"))
        for node in source.nodes(path) if may_execute else ():
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            if isinstance(called, ast.Name) and called.id in EXECUTES:
                found.append(f"{name_of(path)}:{node.lineno} calls {called.id}")
            if isinstance(called, ast.Attribute):
                owner = called.value.id if isinstance(called.value, ast.Name) else ""
                if (owner, called.attr) in EXECUTES_OF or (owner == "yaml" and called.attr.endswith("load")):
                    found.append(f"{name_of(path)}:{node.lineno} calls {owner}.{called.attr}")
            for word in node.keywords:
                if word.arg in ("shell", "allow_pickle") and getattr(word.value, "value", None) is not False:
                    found.append(f"{name_of(path)}:{node.lineno} gives {word.arg}")
    assert not found


def test_no_room_and_no_command_is_an_attic():
    """Of all lines no room below ``commands`` has more than 15 %, of all statements no command more than 3 %."""
    rooms: dict[str, int] = dict.fromkeys(MAP, 0)
    commands: dict[str, int] = {}
    product = house.product_files()
    for path in product:
        parts = parts_of(path)
        if parts[0] in rooms:
            rooms[parts[0]] += len(path.read_text(encoding="utf-8").splitlines())
        if parts[0] == "commands" and len(parts) > 2:
            commands[parts[1]] = commands.get(parts[1], 0) + house.statements([path])
    n_lines, n_statements = sum(rooms.values()), house.statements(product)
    assert {room: n for room, n in rooms.items() if n > 0.15 * n_lines and room != "commands"} == {}
    assert {name: n for name, n in commands.items() if n > 0.03 * n_statements} == {}
