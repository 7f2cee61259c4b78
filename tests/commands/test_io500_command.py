"""An IO500 phase by its own command: ior-hard's transfers are not those of ior-easy."""

from pathlib import Path

import pytest

from iosonde.commands.explain_difference.answer import explain_difference
from iosonde.commands.explain_difference.stated_numbers import read_io500_clock_contents, read_io500_settings
from iosonde.core.types import Run

HARD = "./ior -C -Q 1 -g -G 27 -k {e} -o /d/file -t 47008 -b 47008 -s 10000000 -w -D 300 -a POSIX {direct}"
TEXT = """[run]
procs           = 8

[ior-easy-write]
exe             = ./ior -C -g -k -e -o /d/easy -t 2m -b 9920000m -F -w -D 300 -a POSIX
throughput-stonewall = {easy}
score           = {easy}
t_delta         = 300.0

[ior-hard-write]
exe             = {hard}
throughput-stonewall = {score}
score           = {score}
t_delta         = 300.0
"""

RECORD, SHARED, BYTES = "record size", "shared file", "bytes of each"


def run(**facts: object) -> Run:
    return Run(
        id="a",
        experiment="e",
        source="io500",
        started_at="",
        seconds=0.0,
        factors={},
        observations=[],
        facts=dict(facts),
    )


@pytest.mark.parametrize("key", ["ior-hard-write", "ior_hard_write"])
def test_the_command_of_the_phase_stands_in_the_place_of_the_easy_one(key: str) -> None:
    of_run = {"record size": 2 << 20, "O_DIRECT": False, "threads": 8}
    made = run(commands={key: HARD.format(e="-e", direct="--posix.odirect")})
    found = read_io500_settings(made, "ior_hard_write", of_run)
    assert found[RECORD] == 47008 and found["O_DIRECT"] is True and found["threads"] == 8
    assert found[SHARED] is True and BYTES not in found
    assert read_io500_clock_contents(made, "ior_hard_write") == {"open", "fsync", "close"}
    without = run(commands={key: HARD.format(e="", direct="")})
    assert read_io500_clock_contents(without, "ior_hard_write") == {"open", "close"}


def test_without_a_command_nothing_is_taken_of_another_phase() -> None:
    of_run = {"record size": 2 << 20, "O_DIRECT": True, "threads": 8}
    assert read_io500_settings(run(), "ior_hard_read", of_run) == {"threads": 8}
    assert read_io500_settings(run(), "ior_easy_write", of_run) == of_run
    assert (
        read_io500_clock_contents(run(), "ior_hard_read") is None
        and read_io500_clock_contents(run(commands="broken"), "find") is None
    )


def test_two_lists_are_split_by_their_commands(tmp_path: Path) -> None:
    texts = {"a": HARD.format(e="-e", direct="--posix.odirect"), "b": HARD.format(e="", direct="")}
    for name, hard in texts.items():
        (tmp_path / f"{name}.txt").write_text(TEXT.format(hard=hard, easy=5.0, score=1.0 if name == "a" else 2.0))
    a, b = (str(tmp_path / f"{name}.txt") for name in texts)
    made = explain_difference(a, b, operation="ior_hard_write").differences[0].split
    assert made.differ["O_DIRECT"] == (True, False) and "fsync" in made.residual_attributes
    assert RECORD not in made.differ and RECORD not in made.unsaid.get("a", ())
