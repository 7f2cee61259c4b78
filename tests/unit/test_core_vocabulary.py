"""The registry of the tools' options: their spellings, and calls of tools in commands."""

from __future__ import annotations

import pytest

from iosonde.core.programs import list_programs
from iosonde.core.vocabulary import ELBENCHO, FIO, IOR, IOZONE, TOOLS
from iosonde.core.vocabulary.calls import find_tool_call, list_file_options, list_tool_calls


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
    (program,) = list_programs("cp -r a b")
    assert find_tool_call(program) is None


def test_files_of_options_are_read_by_their_sections():
    job, ini = "[global]\nbs=4k\nunknown=1\n", "[ior-easy]\nblockSize = 1g\nbs = 1\n[mdtest-easy]\nn=3\n"
    text = f"{job}{ini}[ior-hard]\nsegmentCount=1\n"
    assert [(option.setting, value) for option, value in list_file_options(text)] == [
        ("block_size", "4k"),
        ("block_size", "1g"),
        ("items_per_rank", "3"),
    ]
