"""The registry of the tools' options: spellings, and the settings that importers take from command lines."""

from __future__ import annotations

import json
import random

import pytest

from iosonde.core.programs import list_programs
from iosonde.core.vocabulary import ELBENCHO, FIO, IOR, IOZONE, MDTEST, TOOLS
from iosonde.core.vocabulary.calls import find_tool_call, list_file_options, list_tool_calls
from iosonde.core.vocabulary.tool import Style, ValueKind
from iosonde.importers import elbencho, fio, iozone, mdtest
from iosonde.importers.text import Text

MDTEST_OUTPUT = """\
mdtest-4.0.0 was launched with 2 total task(s) on 1 node(s)
Command line used: /opt/mdtest {words}
"""
ELBENCHO_OUTPUT = """\
COMMAND LINE: "elbencho" {words}
OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
WRITE       Elapsed time     :        69ms        70ms
"""
IOZONE_OUTPUT = "\tCommand line used: iozone {words}\n"
READERS = {
    "mdtest": (MDTEST, mdtest, MDTEST_OUTPUT),
    "elbencho": (ELBENCHO, elbencho, ELBENCHO_OUTPUT),
    "iozone": (IOZONE, iozone, IOZONE_OUTPUT),
}


def spell(tool, name, value):
    """Every way in which a tool takes an option with this value."""
    if tool.style == Style.NAMES:
        ways = [f"--{name}={value}", f"-{name}={value}", f"--{name} {value}"]
    elif len(name) == 1:
        ways = [f"-{name} {value}", f"-{name}{value}", f"-{name}={value}"]
    else:
        ways = [f"--{name} {value}", f"--{name}={value}"]
    return ways


def values_of(option, noise):
    number = noise.randrange(1, 1000)
    if option.kind == ValueKind.SIZE:
        return [str(number), f"{number}k", f"{number}M", f"{number}g"]
    return [str(number)]


def cases():
    noise = random.Random(7)
    for name, (tool, _, _) in READERS.items():
        for option in tool.options:
            for spelling in option.names if option.is_read else ():
                if not option.takes_value:
                    yield name, option.setting, f"-{spelling}", True
                    continue
                for value in values_of(option, noise):
                    for words in spell(tool, spelling, value):
                        yield name, option.setting, words, option.parse_value(value)


@pytest.mark.parametrize(("name", "setting", "words", "value"), list(cases()))
def test_an_importer_reads_the_setting_of_the_registry(name, setting, words, value):
    tool, importer, output = READERS[name]
    text = Text(output.format(words=f"{words} -d dir").encode(), "output")
    run = importer.parse(text)[0]
    assert run.factors[setting] == value
    assert tool.read_settings(words.split()) == {setting: value}


@pytest.mark.parametrize(
    "option", [option for option in FIO.options if option.setting], ids=lambda option: option.setting
)
def test_fio_prints_the_options_that_its_command_line_has(option):
    for name in option.names:
        for value in ("64k", "1m") if option.kind == ValueKind.SIZE else ("7", "word"):
            document = {"fio version": "fio-3.33", "jobs": [{"jobname": "a", "job options": {name: value}}]}
            (run,) = fio.parse(Text(json.dumps(document).encode(), "output"))
            for words in spell(FIO, name, value)[: 2 if option.kind == ValueKind.SWITCH else 3]:
                (word,) = FIO.split(words.split())
                assert word.option == option and word.value == value
                parsed = option.parse_value(word.value)
                assert run.factors[option.setting] == (
                    int(value) if value == "7" else value if parsed is None else parsed
                )


def test_every_spelling_is_one_option():
    for tool in TOOLS.values():
        names = [name for option in tool.options for name in option.names]
        assert len(names) == len(set(names)), tool.name
        settings = [option.setting for option in tool.options if option.setting]
        assert len(settings) == len(set(settings)), tool.name


@pytest.mark.parametrize(
    ("tool", "words", "pairs"),
    [
        (IOR, "-wrt 1m -b=2m", [("-w", None), ("-r", None), ("-t", "1m"), ("-b", "2m")]),
        (IOR, "-b", [("-b", None)]),
        (IOR, "--new x", [("--new", None), ("", "x")]),
        (IOZONE, "-F a b -+m hosts -i 0", [("-F", "a b"), ("-+m", "hosts"), ("-i", "0")]),
        (FIO, "-name=a --direct 1 job", [("-name", "a"), ("--direct", None), ("", "1"), ("", "job")]),
        (ELBENCHO, "--size 1g - f", [("--size", "1g"), ("", "-"), ("", "f")]),
    ],
)
def test_words_are_split_as_the_tool_does(tool, words, pairs):
    assert [(word.name, word.value) for word in tool.split(words.split())] == pairs


def test_the_last_value_of_an_option_counts():
    assert IOR.find_value(["-t", "1m", "-t4k"], "transfer_size") == "4k"
    assert IOR.find_value(["-b"], "transfer_size") is None


@pytest.mark.parametrize(
    ("command", "tools", "processes", "is_plain"),
    [
        ("ior -w", ["ior"], 1, True),
        ("mpiexec.hydra -n 4 /opt/ior -w", ["ior"], 4, True),
        ("A=b srun -n8 -p x ior", ["ior"], 8, True),
        ("srun ior", ["ior"], None, True),
        ("echo ior; prior; ior-new", ["ior"], 1, False),
        ("mdtest -d x | tee log && fio --name=a", ["mdtest", "fio"], 1, True),
    ],
)
def test_calls_of_tools_are_found_in_a_command(command, tools, processes, is_plain):
    calls = list_tool_calls(command)
    assert [call.tool.name for call in calls] == tools
    assert (calls[0].count_processes(), calls[0].is_plain) == (processes, is_plain)


def test_a_program_that_is_no_tool_is_no_call():
    (program,) = list_programs("dd if=/dev/zero of=f")
    assert find_tool_call(program) is None


def test_files_of_options_are_read_by_their_sections():
    job, ini = "[global]\nbs=4k\nunknown=1\n", "[ior-easy]\nblockSize = 1g\nbs = 1\n[mdtest-easy]\nn=3\n"
    text = f"{job}{ini}[ior-hard]\nsegmentCount=1\n"
    assert [(option.setting, value) for option, value in list_file_options(text)] == [
        ("block_size", "4k"),
        ("block_size", "1g"),
        ("items_per_rank", "3"),
    ]
