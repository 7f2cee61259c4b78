"""Messages as data: templates that fit their values, options spelled by the front end, words asserted in one place."""

from __future__ import annotations

import ast
import copy
import json
import pickle
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import house
import iosonde
import source
from iosonde.commands.python import PythonSpelling
from iosonde.core.errors import InputError, IosondeError, SystemFaultError, TargetFaultError, error_from_json
from iosonde.core.message import Message, spell, spell_for_terminal, use_spelling
from iosonde.foreign.child import NoAnswerError
from iosonde.measure.workloads.settings import SettingError
from messages import codes, raises, with_code

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+){0,4}")
FRONT_ENDS = ("cli", "api", "report", "serve")


def errors(kind: type[IosondeError] = IosondeError) -> Iterator[type[IosondeError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from errors(child)


def calls() -> Iterator[tuple[Path, ast.Call, list[ast.expr], Assigned]]:
    """Every construction of an error or a message: file, call, its positional arguments from the code on, and what the
    function around it assigns."""
    for path in house.all_files():
        functions = [node for node in source.nodes(path) if isinstance(node, ast.FunctionDef)]
        for node in source.nodes(path):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if name == "Message" or (name.endswith("Error") and name in error_names()):
                    around = [one for one in functions if one.lineno <= node.lineno <= (one.end_lineno or 0)]
                    assigned = assignments(max(around, key=lambda one: one.lineno)) if around else []
                    yield path, node, node.args[name == "SettingError" :], assigned


@cache
def error_names() -> frozenset[str]:
    names = {
        node.name
        for path in house.all_files()
        for node in source.nodes(path)
        if isinstance(node, ast.ClassDef)
        and any(getattr(base, "id", getattr(base, "attr", "")).endswith("Error") for base in node.bases)
    }
    return frozenset(names | {"IosondeError"}) - {"SpecError"}


def fields(template: str) -> set[str]:
    found = {name.split(".")[0].split("[")[0] for _, name, _, _ in string.Formatter().parse(template) if name}
    nested = {
        inner
        for _, _, spec, _ in string.Formatter().parse(template)
        for _, inner, _, _ in string.Formatter().parse(spec or "")
        if inner
    }
    return (found | nested) - {"spell"}


Assigned = list[tuple[int, str, ast.expr]]


def literals(node: ast.expr, assigned: Assigned, line: int) -> Iterator[str]:
    """The texts that a template may be: of a conditional expression both, of a sum its parts, of a variable what was
    assigned to it last before a line, with what was added since."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body, assigned, line)
        yield from literals(node.orelse, assigned, line)
    elif isinstance(node, ast.BinOp):
        yield from literals(node.left, assigned, line)
        yield from literals(node.right, assigned, line)
    elif isinstance(node, ast.Name):
        before = [(at, value) for at, name, value in assigned if name == node.id and at < line]
        for at, value in before[-1:]:
            yield from literals(value, assigned, at)


@cache
def assignments(function: ast.AST) -> Assigned:
    """Line, name and value of what a function assigns to single names, in the order of lines."""
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found.append((node.lineno, node.targets[0].id, node.value))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.append((node.lineno, node.target.id, ast.BinOp(ast.Name(node.target.id), node.op, node.value)))
    return sorted(found, key=lambda one: one[0])


def test_every_template_names_values_that_are_there_and_every_code_is_one():
    wrong = []
    for path, call, arguments, assigned in calls():
        where = f"{path.relative_to(ROOT)}:{call.lineno}"
        if any(isinstance(one, ast.Starred) for one in arguments) or any(key.arg is None for key in call.keywords):
            continue
        if isinstance(arguments[0], ast.Constant) and not CODE.fullmatch(arguments[0].value):
            wrong.append(f"{where}: {arguments[0].value!r} is no code")
        values = {keyword.arg for keyword in call.keywords}
        for template in (text for argument in arguments[1:] for text in literals(argument, assigned, call.lineno)):
            if missing := fields(template) - values:
                wrong.append(f"{where}: {missing} of {template!r}")
    assert not wrong


def test_options_are_spelled_when_a_message_is_made_and_not_when_a_module_is_loaded():
    early = []
    for path in house.all_files():
        within = [
            node
            for function in source.nodes(path)
            if isinstance(function, (ast.FunctionDef, ast.Lambda))
            for node in ast.walk(function)
        ]
        inside = {(node.lineno, node.col_offset) for node in within if isinstance(node, ast.Attribute)}
        for node in source.nodes(path):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "spell":
                early += [f"{path}:{node.lineno}"] * ((node.lineno, node.col_offset) not in inside)
    assert not early


def test_a_message_is_its_text_and_knows_its_code_and_values():
    message = Message("too-few", "{n} trials of {name!r}: use {spell.repetitions:3}", n=2, name="a")
    assert message == "2 trials of 'a': use --repetitions 3"
    assert (message.code, message.values) == ("too-few", {"n": 2, "name": "a"})
    for copied in (pickle.loads(pickle.dumps(message)), copy.deepcopy(message)):
        assert (copied, copied.code, copied.values["name"]) == (message, "too-few", "a")
    placed = message.prefixed("line 3")
    assert (placed, placed.code, placed.values["place"]) == (f"line 3: {message}", "too-few", "line 3")
    assert placed.prefixed("a.csv").values["place"] == "a.csv: line 3"
    assert placed.without_prefix("line 3: ") == message and placed.without_prefix("line 3: ").code == "too-few"
    assert codes([message, "text"]) == ["too-few", ""] and with_code(["text", message], "too-few") is message


def test_an_option_is_spelled_by_the_front_end():
    assert f"{spell.leave_out} {spell.where:'fs=nfs'}" == "--leave-out --where 'fs=nfs'"
    assert iosonde.run and iosonde.regress  # declares their options
    with use_spelling(PythonSpelling()):
        assert f"{spell.where} {spell.where:'fs=nfs'} {spell.nodes:1,2}" == "where= where='fs=nfs' nodes=[1, 2]"
        assert f"{spell.robust} {spell.level:0.95} {spell.hosts:FILE}" == "robust=True level=0.95 hosts=FILE"
        with use_spelling(spell_for_terminal, is_default=True):
            assert f"{spell.level}" == "level="
    with use_spelling(spell_for_terminal, is_default=True), use_spelling(PythonSpelling(), is_default=True):
        assert f"{spell.level}" == "--level"


def test_an_error_keeps_its_code_through_processes_and_places():
    error = InputError("unknown-run", "there is no run {name}", "choose with {spell.where}", name="x")
    assert (str(error), error.hint, error.code, error.values) == (
        "there is no run x",
        "choose with --where",
        "unknown-run",
        {"name": "x"},
    )
    for copied in (pickle.loads(pickle.dumps(error)), error_from_json(error.to_json())):
        assert type(copied) is InputError
        assert (copied.message, copied.hint, copied.code, copied.values) == (
            error.message,
            error.hint,
            "unknown-run",
            {"name": "x"},
        )
    placed = error.prefixed("a.csv")
    assert (str(placed), placed.hint, placed.code) == ("a.csv: there is no run x", error.hint, "unknown-run")
    assert placed.values == {"name": "x", "place": "a.csv"}


def test_an_error_of_another_module_or_version_comes_back_as_its_nearest_kind():
    error = NoAnswerError("no-response", "{path} does not answer", path="/mnt/x")
    error.details = ("one", "two")
    again = error_from_json(json.loads(json.dumps(error.to_json())))
    assert (type(again), again.code, again.details) == (TargetFaultError, "no-response", ("one", "two"))
    assert type(error_from_json({**error.to_json(), "kind": "OfTomorrowError"})) is SystemFaultError
    setting = pickle.loads(pickle.dumps(SettingError(("phases", 0), "out-of-range", "{name} is 0", name="files")))
    assert (setting.path, setting.code, setting.values["name"]) == (("phases", 0), "out-of-range", "files")


def test_no_docstring_was_cut_into_two_literals():
    cut = []
    for path in house.all_files():
        for node in source.nodes(path):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and path.name != "iozone_blocks.py":
                cut += [f"{path}:{node.name}"] if re.search(r'"\s*\n\s*"', ast.get_docstring(node) or "") else []
    assert not cut


def test_python_and_the_terminal_are_told_their_own_words(tmp_path):
    table = tmp_path / "a.csv"
    table.write_text("x,y\n1,2\n2,3\n")
    with raises("not-a-store") as caught:
        iosonde.summary(table, incomplete=True)
    assert "incomplete=True" in caught.value.hint
    done = subprocess.run(
        [sys.executable, "-m", "iosonde.cli.main", "summary", str(table), "--incomplete"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "--incomplete" in done.stderr
