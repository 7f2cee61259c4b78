"""Messages name keywords as Python spells them: when a function raises or warns, and when an answer shows itself."""

from __future__ import annotations

import ast
import pickle
import re
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from test_python_incomplete import stored

import house
import iosonde
import source
from iosonde.cli.group import cli
from iosonde.commands.declaration import COMMANDS as DECLARED
from iosonde.commands.python import PythonSpelling
from iosonde.core.errors import InputError
from iosonde.core.message import current_spelling, spell, spell_for_terminal, use_spelling
from iosonde.foreign.child import Child
from terminal import COMMANDS

ROOT = Path(__file__).parents[2]
CP = ROOT / "tests" / "golden" / "data" / "cp_raw.csv"
FUNCTIONS = [name for name in iosonde.__all__ if name[0].islower()]


@pytest.mark.parametrize(
    ("function", "option", "value", "text"),
    [
        ("", "where", "'fs=nfs'", "where='fs=nfs'"),
        ("", "where", "fs=nfs", "where='fs=nfs'"),
        ("", "level", "0.95", "level=0.95"),
        ("", "hosts", "FILE", "hosts=FILE"),
        ("", "until", "2%", "until='2%'"),
        ("rank", "on", "fs,size", "on=['fs', 'size']"),
        ("anova", "block", "", "block="),
        ("regress", "robust", "", "robust=True"),
        ("regress", "at", "size=4096", "at={'size': 4096}"),
        ("scale", "at", "1,64", "at=[1, 64]"),
        ("scale", "station", "disk=2ms", "stations='disk=2ms'"),
        ("advise", "for", "fs=nfs,n=2", "workload={'fs': 'nfs', 'n': 2}"),
        ("survey_tree", "for", "10min", "seconds='10min'"),
        ("bound", "data", "3GB", "amount='3GB'"),
        ("bound", "data", "", "amount="),
        ("fit", "family", "'tree depth=4'", "families='tree depth=4'"),
        ("summary", "json", "", ".to_dict()"),
        ("show", "export", "", "iosonde.export()"),
        ("run", "nodes", "1,2", "nodes=[1, 2]"),
        ("run", "set", "n=1,4", "set={'n': [1, 4]}"),
        ("run", "target", "NAME=DIR", "target={'NAME': DIR}"),
        ("run", "target", "DIR", "target=DIR"),
        ("run", "shared_writes", "", "shared_writes=True"),
        ("plan", "as", "iozone", "as_tool='iozone'"),
        ("probe", "hosts", "FILE", "hosts=FILE"),
        ("probe", "json", "", ".to_dict()"),
    ],
)
def test_an_option_is_written_as_the_function_takes_it(function, option, value, text):
    assert not function or getattr(iosonde, function)  # a function that is used is loaded
    keys = [key for key, command in DECLARED.items() if function and command.function == function]
    assert PythonSpelling(keys[0] if keys else "")(option, value) == text


def options(
    command: click.Command, context: click.Context, names: tuple[str, ...] = ()
) -> Iterator[tuple[str, str, bool]]:
    """(command, option, whether it is a switch) of the whole command line."""
    for option in command.params:
        if isinstance(option, click.Option) and option.name not in ("version", "help", "as_json"):
            word = max(option.opts, key=len)
            if word.startswith("--"):
                yield " ".join(names), word[2:].replace("-", "_"), option.is_flag
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from options(command.get_command(context, name), context, (*names, name))


def test_every_option_in_a_template_is_one():
    """A spelled name that no front end has is a mistake, or a part of another program's flag."""
    known = {option for _, option, _ in options(cli, click.Context(cli))} | {"json"}
    unknown = []
    for path in house.all_files():
        for node in source.nodes(path):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "spell":
                unknown += [f"{path.relative_to(ROOT)}:{node.lineno} {node.attr}"] * (node.attr not in known)
    assert not unknown


def test_an_error_names_the_keyword_of_the_function_that_was_called():
    with pytest.raises(iosonde.IosondeError) as error:
        iosonde.queue("disk=2ms")
    assert "at=[1, 64, 10000]" in error.value.hint and "--" not in error.value.hint


def test_an_answer_that_shows_itself_later_names_keywords(tmp_path):
    answer = iosonde.summary(stored(tmp_path / "s", lacking=set(range(12))))
    for text in (str(answer), answer.to_dict()["sentence"]):
        assert "incomplete=True" in text and "--incomplete" not in text


def test_a_thread_of_a_python_program_names_keywords():
    spellings = []
    iosonde.explain_finding()
    thread = threading.Thread(target=lambda: spellings.append(f"{spell.where}"))
    thread.start()
    thread.join()
    assert spellings == ["where="]


def test_a_warning_knows_its_code():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        iosonde.summary(CP, "real_s", level=0.5)
    (warning,) = caught
    assert warning.message.code == "low-confidence-level" and warning.message.values["level"] == 0.5
    assert iosonde.IosondeWarning("text").code == "" and iosonde.IosondeWarning("text").values == {}


def test_a_command_in_the_same_process_names_options(tmp_path):
    place = stored(tmp_path / "s", lacking=set(range(12)))
    iosonde.summary(place)
    assert f"{spell.where}" == "where="
    assert "--incomplete" in CliRunner().invoke(cli, ["summary", str(place)]).stdout
    with use_spelling(spell_for_terminal):  # who chose a spelling keeps it
        assert "--incomplete" in str(iosonde.summary(place))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_goes_to_other_processes_and_is_named_after_the_package(name):
    function = getattr(iosonde, name)
    assert pickle.loads(pickle.dumps(function)) is function
    assert (function.__module__, function.__qualname__) == ("iosonde", name)
    assert pickle.loads(pickle.dumps(current_spelling())) == current_spelling()


def test_a_whole_command_line_in_a_message_is_the_terminals():
    """Nobody can type ``iosonde probe .to_dict()``."""
    command = re.compile(rf"\biosonde ({'|'.join(COMMANDS)})\b[^;]*{{spell\.")
    mixed = []
    for path in house.all_files():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            mixed += [f"{path.relative_to(ROOT)}:{number}"] * (command.search(line) is not None)
    assert mixed == [line for line in mixed if line.startswith("packages/iosonde-lab/iosonde_lab/bring.py")]


def test_what_follows_an_option_is_its_value():
    """``{spell.family} tree`` would be ``families= tree`` in Python."""
    value = re.compile(r"\{spell\.\w+\}( (tree|linear|mpirun|none|csv|romio|settings)\b|_)")
    texts = {path: path.read_text(encoding="utf-8") for path in house.all_files()}
    assert not [path for path, text in texts.items() if path.parent.name != "commands" and value.search(text)]


def test_an_error_of_a_helper_process_is_spelled_by_who_asked_it(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    child = Child("helper_with_options")
    try:
        with use_spelling(PythonSpelling()), pytest.raises(InputError) as caught:
            child.call("refuse", "/", "refusing")
        assert "max_files=" in str(caught.value) and "--" not in f"{caught.value} {caught.value.hint}"
        with use_spelling(PythonSpelling()):
            assert child.call("tell", "/", "telling") == {"hint": "give max_files=3"}
    finally:
        child.close()
    assert child.call("tell", "/", "telling") == {"hint": "give --max-files 3"}
    child.close()


def find_flags_in_texts(path: Path) -> Iterator[str]:
    """Literals with an option as a terminal spells it, outside docstrings and command lines of a terminal."""
    nodes = source.nodes(path)
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        if is_text and TERMINAL_OPTION.search(COMMAND_LINE.sub("", node.value)):
            yield f"{path.relative_to(ROOT)}:{node.lineno} {node.value}"


TERMINAL_OPTION = re.compile(r"(?<![\w-])--[a-z]")
COMMAND_LINE = re.compile(r"\b(iosonde [a-z]|mount --bind)[^;)]*")


def test_texts_of_answers_leave_the_spelling_of_options_to_the_front_end():
    """``(--json)`` in the text of an answer means nothing to who called a function."""
    texts = [
        path for path in house.all_files() if path.match("commands/*/text*.py") and "iosonde_lab" not in path.parts
    ]
    texts = [path for path in texts if path.name != "text_bisect.py"]  # a script for a shell, whoever asked for it
    assert len(texts) > 20 and not [line for path in texts for line in find_flags_in_texts(path)]


def test_a_text_names_the_keyword_that_it_was_called_with():
    plan = {"population": 300_000, "capacity": "50TB", "rate": "5GiB/s", "per_file": "2ms"}
    text = str(iosonde.survey_plan(**plan))
    assert "(rate=)" in text and "(per_file=)" in text and "--" not in text


def test_pages_of_findings_name_options_as_the_caller_writes_them():
    with use_spelling(spell_for_terminal):
        terminal = str(iosonde.explain_finding("S104"))
    assert "(--cache cold)" in terminal and "(cache='cold')" in str(iosonde.explain_finding("S104"))
    lines = str(iosonde.explain_finding()).splitlines()
    for line in (line for line in lines if not line.startswith("S118")):  # the lab is of the terminal alone
        page = str(iosonde.explain_finding(line.partition(":")[0]))
        assert "{spell" not in page and not TERMINAL_OPTION.search(COMMAND_LINE.sub("", page)), line
