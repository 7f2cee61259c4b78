"""Importers take from command lines what the registry of the tools' options says, however an option is spelled."""

from __future__ import annotations

import json
import random

import pytest

from iosonde.core.vocabulary import ELBENCHO, FIO, IOR, IOZONE, MD_WORKBENCH, MDTEST, WARP
from iosonde.core.vocabulary.tool import Style, ValueKind
from iosonde.importers import elbencho, fio, ior, iozone, md_workbench, mdtest, warp
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
MD_WORKBENCH_OUTPUT = """\
Args: md-workbench {words}
MD-Workbench total objects: 1200 (version: 4.0) time: 2026-11-21 09:26:00
"""
WARP_OUTPUT = '{{"v": 2, "commandline": "warp put {words}", "total": {{}}, "by_op_type": {{}}}}'
IOR_OUTPUT = """\
IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Command line        : ior {words}
"""
READERS = {
    "ior": (IOR, ior, IOR_OUTPUT),
    "md-workbench": (MD_WORKBENCH, md_workbench, MD_WORKBENCH_OUTPUT),
    "warp": (WARP, warp, WARP_OUTPUT),
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
                    yield name, option.setting, f"{'--' if len(spelling.lstrip('+')) > 1 else '-'}{spelling}", True
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


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("-O lustreStripeCount=8,lustreStripeSize=4m", {"stripe_count": 8, "stripe_size": 4 << 20}),
        ("-O useO_DIRECT=1,fsync=0 -O fsyncPerWrite=1", {"direct": True, "fsync_per_write": True}),
        ("-w -E", {"existing_file": True}),
        ("-r -E", {}),  # what is only read exists
        ("-weB -D 30", {"direct": True, "fsync": True, "stonewall_seconds": 30}),
        ("-O summaryFormat=JSON,keepFile=1,segmentCount=2 -k -v -w -r", {}),
        ("--dfs.oclass=SX --new.flag -O newDirective=3", {"dfs_oclass": "SX", "new_flag": True, "newdirective": "3"}),
    ],
)
def test_options_that_ior_does_not_print_are_settings(words, settings):
    (run,) = ior.parse(Text(IOR_OUTPUT.format(words=words).encode(), "output"))
    assert run.factors == settings


def test_each_test_of_a_session_of_ior_has_the_settings_of_the_command_line():
    table = "access bw(MiB/s) IOPS iter\nwrite 1 2 0\n"
    output = IOR_OUTPUT.format(words="-we") + "".join(f"TestID : {number}\n{table}" for number in (0, 1))
    runs = ior.parse(Text(output.encode(), "output"))
    assert [run.factors for run in runs] == [{"fsync": True, "test_id": number} for number in (0, 1)]
    assert {row.includes for run in runs for row in run.rows if row.metric.startswith("bandwidth")} == {
        "open,fsync,close"
    }
