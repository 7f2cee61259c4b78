"""What the house says of itself is true: dependencies, versions, names of commands, checks, where tests may look."""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

import set_version
import source
from iosonde.stats import checks
from terminal import COMMANDS, GROUPS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "iosonde"
LAB = ROOT / "packages" / "iosonde-lab"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# What tests and lint start rather than import.
TOOLS = {
    "ipykernel",
    "hatchling",
    "editables",
    "pytest-timeout",
    "pytest-xdist",
    "ruff",
    "mypy",
    "pandas-stubs",
    "types-pyyaml",
    "types-jsonschema",
}


# Dependencies


def python_files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All inside of it, at any depth: what is in an expression is left out, which no import and no function is."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)):
            yield child
            yield from statements(child)


def imported(*folders: str) -> set[str]:
    """Top-level names of the foreign modules that files in these folders import, early or late."""
    names: set[str] = set()
    for path in python_files(*folders):
        for node in statements(source.tree(path)):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add((node.module or "").split(".")[0])
    own = {"iosonde", *(path.name for path in ROOT.glob("packages/*/iosonde_*"))}
    return names - set(sys.stdlib_module_names) - own - {"_typeshed"}  # the latter: inside a type checker


def plain(name: str) -> str:
    """A distribution's name as registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def distributions(requirements: list[str]) -> set[str]:
    return {plain(re.match(r"[\w.-]+", one)[0]) for one in requirements}


@cache
def origins() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def gives(module: str) -> set[str]:
    """The distributions that a module comes from; one that is not installed is taken to be called as its module."""
    return {plain(name) for name in origins().get(module, [module])}


NEEDED = distributions(PROJECT["dependencies"])
EXTRAS = PROJECT["optional-dependencies"]


@pytest.mark.slow
def test_what_the_package_imports_is_what_it_asks_for():
    used = imported("python")
    asked = NEEDED | distributions([*EXTRAS["notebook"], *EXTRAS["postgres"]])
    assert not {module for module in used if not gives(module) & asked}, "imported, and not in pyproject.toml"
    assert set().union(*map(gives, used)) >= NEEDED, "in pyproject.toml, and imported nowhere"


@pytest.mark.slow
def test_the_lab_imports_nothing_but_iosonde():
    lab = tomllib.loads((LAB / "pyproject.toml").read_text(encoding="utf-8"))
    assert imported("packages/iosonde-lab/iosonde_lab") <= {"numpy"} and "numpy" in NEEDED
    assert lab["project"]["dependencies"] == [f"iosonde=={PROJECT['version']}"]
    assert distributions(lab["build-system"]["requires"]) <= distributions(EXTRAS["dev"])


@pytest.mark.slow
def test_what_tests_import_is_asked_for_and_used():
    asked = distributions(EXTRAS["dev"]) | distributions(EXTRAS["browser"])
    folders = ("tests", "packages", "benches")
    files = python_files(*folders, "tools")
    ours = {path.stem for path in files} | {path.name for path in (ROOT / "tests").iterdir()}
    used = imported(*folders) - ours
    assert not {module for module in used if not gives(module) & (asked | NEEDED)}
    docs = " ".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    shown = {name for name in asked if re.search(rf"import {name}\b", docs)}
    assert asked - TOOLS - shown <= set().union(*map(gives, used)), "in an extra, and used by no test"


def test_a_type_that_is_not_checked_says_why():
    lines = [
        (path.name, line)
        for path in python_files("python", "packages")
        for line in path.read_text("utf-8").splitlines()
    ]
    silent = [
        one for one in lines if "type: ignore" in one[1] and not re.search(r"# type: ignore\[[\w-]+\]  # \w", one[1])
    ]
    assert not silent, "write it as: type: ignore[code], and the reason in a comment behind"


def lines_of_fields(function: ast.FunctionDef) -> int:
    """The lines beyond the first of the errors, messages and results that it makes: each value has its own."""
    lines: set[int] = set()
    for one in ast.walk(function):
        name = getattr(one.func, "id", getattr(one.func, "attr", "")) if isinstance(one, ast.Call) else ""
        if name[:1].isupper():
            lines.update(range(one.lineno + 1, one.end_lineno + 1))
    return len(lines)


def test_functions_that_compute_fit_a_screen():
    """With their docstring; one that is longer is two things. What it makes counts one line, however many fields it
    has."""
    found = {
        (path.name, one.name, one.end_lineno - one.lineno + 1 - lines_of_fields(one))
        for path in python_files(*(f"python/iosonde/{room}" for room in ("stats", "model", "explain")))
        for one in statements(source.tree(path))
        if isinstance(one, ast.FunctionDef)
    }
    assert {one for one in found if one[2] > 55} == set()


def test_doctor_looks_for_libraries_that_are_needed():
    from iosonde.ranks.abilities.software import _LIBRARIES

    assert {plain(name) for name in _LIBRARIES} <= NEEDED


def test_what_is_needed_is_locked():
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = {plain(line.split("==")[0]) for line in lock.splitlines() if "==" in line}
    assert locked >= NEEDED | distributions(EXTRAS["dev"])


# Versions


def test_the_oldest_rust_is_said_once():
    oldest = tomllib.loads((ROOT / "rust" / "Cargo.toml").read_text(encoding="utf-8"))["package"]["rust-version"]
    readme, makefile = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "Makefile"))
    assert re.findall(r"Rust ≥ ([\d.]+)", readme) == [oldest]
    assert not re.findall(r"Rust \d[\d.]*", makefile), "the Makefile reads it from rust/Cargo.toml"
    assert "rust-version" in makefile


def test_the_oldest_python_is_said_once():
    oldest = PROJECT["requires-python"].removeprefix(">=")
    readme, makefile = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "Makefile"))
    assert re.findall(r"Python ≥ ([\d.]+)", readme) == [oldest]
    assert set(re.findall(r"Python (3[\d.]+)", makefile)) == {oldest}


def test_every_file_that_says_the_version_says_the_same():
    assert set(set_version.versions().values()) == {PROJECT["version"]}
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(PROJECT['version'])} \(", changelog, re.MULTILINE)


# Names of commands

# In a sentence "iosonde" is mostly the subject ("iosonde reads"); after one of these it begins a command.
CALL = re.compile(r"(?:^|[`($]\s?|[:;] |\b(?:see|with|run|use|try|then) )iosonde ([a-z][a-z-]*)", re.MULTILINE)
# A title, a workload's name, a trial's; and what the package and `doctor` say at the head of a sentence.
TALK = {"experiment", "envelope", "commands", "measures", "cannot", "removes", "does"}


def strings_of(path: Path) -> list[str]:
    return [node.value for node in source.nodes(path) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def code_of(page: Path) -> list[str]:
    """Blocks and words that a page shows as code."""
    text = page.read_text(encoding="utf-8")
    fences = re.findall(r"^```(?:console|sh)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line.strip() for block in fences for line in block.splitlines() if re.match(r"\s*(\$ )?iosonde ", line)]
    return [*lines, *re.findall(r"`[^`\n]+`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))]


def commands_in(texts: list[str]) -> set[str]:
    return {name for text in texts for name in CALL.findall(text)} - TALK


def test_a_command_is_seen_where_a_text_names_one():
    texts = ["look (iosonde diagnose)", "`iosonde summary x`", "$ iosonde run", "run iosonde plan", "see: iosonde fit"]
    assert commands_in(texts) == {"diagnose", "summary", "run", "plan", "fit"}
    no_commands = ["which iosonde does itself", "this iosonde reads 3"]
    assert not commands_in(no_commands)


def unknown(texts: list[str]) -> set[str]:
    return commands_in(texts) - set(COMMANDS)


def test_every_command_that_a_sentence_names_exists():
    # Only files that could name an unknown one (in one string, or in two that are joined) are parsed, into their
    # strings.
    texts = {
        path: path.read_text(encoding="utf-8") for path in python_files("python", "packages/iosonde-lab/iosonde_lab")
    }
    words = {path: set(re.findall(r"iosonde ([a-z][a-z-]*|[\"'\\{])", text)) for path, text in texts.items()}
    found = {
        path.relative_to(ROOT).as_posix(): unknown(strings_of(path))
        for path, named in words.items()
        if named - TALK - set(COMMANDS)
    }
    assert sum(bool(named & set(COMMANDS)) for named in words.values()) > 20
    assert not {path: names for path, names in found.items() if names}


def test_every_command_that_a_page_names_exists():
    pages = [
        ROOT / "README.md",
        ROOT / "ARCHITECTURE.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
    ]
    found = {page.relative_to(ROOT).as_posix(): unknown(code_of(page)) for page in pages}
    assert not {page: names for page, names in found.items() if names}


def test_the_index_has_the_commands_in_the_groups_of_help():
    index = (ROOT / "docs" / "commands" / "README.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", index, re.MULTILINE | re.DOTALL))
    listed = {group: set(re.findall(r"^\| \[([a-z-]+)\]\(\1\.md\)", sections[group], re.MULTILINE)) for group in GROUPS}
    assert listed == {group: set(commands) for group, commands in GROUPS.items()}
    assert "(docs/commands/README.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_file_that_the_map_names_exists():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)+\w+\.\w+|(?:\w+/){2,})`", text.replace("/X", "/rank"))
    absent = [
        name for name in named if not any((base / name).exists() for base in (ROOT, PACKAGE, LAB, ROOT / "rust/src"))
    ]
    assert len(named) > 30 and not absent


# Findings


def test_every_file_of_a_check_is_one_and_every_check_is_asked():
    folder = PACKAGE / "stats" / "checks"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "examine", "runs"}
    assert {name.rpartition(".")[2] for name in checks.list_check_modules().values()} == files
    for code, name in checks.list_check_modules().items():
        module = importlib.import_module(name)
        about_data = code < "S300"
        assert set(re.findall(r'"(S\d{3})"', Path(module.__file__).read_text(encoding="utf-8"))) == {code}
        assert hasattr(module, "check") is about_data and hasattr(module, "check_fit") is (code > "S300")
        assert (code in checks.CHECK) is about_data and module.__doc__.startswith(f"{code}: ")


def test_every_check_is_in_the_pages_that_list_them():
    listed = (ROOT / "docs" / "commands" / "explain.md").read_text(encoding="utf-8")
    assert not {code for code in checks.list_check_modules() if f"{code}:" not in listed}


# Tests


def test_no_test_looks_outside_of_the_checkout_but_by_the_one_way():
    """``outside.py`` finds what is not in the repository, and skips with its name."""
    here, wrong = Path(__file__), []
    for path in set(python_files("tests", "benches")) - {here, ROOT / "tests" / "outside.py"}:
        text = path.read_text(encoding="utf-8")
        depth = len(path.relative_to(ROOT).parts) - 1
        above = [int(up) for up in re.findall(r"__file__\)\.(?:resolve\(\)\.)?parents\[(\d+)", text) if int(up) > depth]
        if above or 'environ.get("IOSONDE_SHARED' in text:
            wrong.append(path.relative_to(ROOT).as_posix())
    assert not wrong


@pytest.mark.parametrize(
    ("name", "status"), [("settings.png", pytest.ExitCode.TESTS_FAILED), ("target", pytest.ExitCode.OK)]
)
def test_a_session_that_leaves_a_file_in_the_root_fails(request, tmp_path, monkeypatch, name, status):
    conftest = request.config.pluginmanager.get_plugin(str(ROOT / "conftest.py"))
    monkeypatch.setattr(conftest, "ROOT", tmp_path)
    session = SimpleNamespace(config=SimpleNamespace(stash={conftest.FILES_BEFORE: set()}), exitstatus=0)
    (tmp_path / name).touch()
    conftest.pytest_sessionfinish(session)
    assert session.exitstatus == status
