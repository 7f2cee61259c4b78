"""The attempts to break it: the harness sees what breaks, and some fixed attacks find nothing."""

import signal

import pytest

from faults.breaks import runner
from faults.breaks.case import Case, judge
from faults.breaks.warm import Ended, warm

WARM = "faults.test_breaks"


def spin():
    while True:
        pass


def sleep():
    signal.pause()


def fail():
    raise KeyError("a mistake of ours")


@pytest.mark.parametrize(
    ("function", "how", "breach"),
    [
        ("spin", {"cpu_s": 1}, "had not ended after 1 s of CPU"),
        ("sleep", {"wall_s": 0.3}, "had not ended after 0 s"),
        ("fail", {}, "traceback: KeyError"),
    ],
)
def test_a_function_that_hangs_or_fails_is_ended_and_seen(tmp_path, function, how, breach):
    (sentence,) = judge(warm().call(f"{WARM}:{function}", tmp_path, **how))
    assert breach in sentence


@pytest.mark.parametrize(
    ("code", "out", "err", "breach"),
    [
        (0, "fine", "", None),
        (2, "", "iosonde: no such file\nhint: give another", None),
        (2, "", "", "no word"),
        (-9, "", "", "exit code -9"),
        (1, "", "Traceback (most recent call last):\nOSError: x", "traceback: OSError: x"),
        (3, "", "iosonde: full: OSError(28, 'x')", "Python's words"),
    ],
)
def test_the_end_of_a_command_is_judged(code, out, err, breach):
    breaches = judge(Ended("iosonde x", code, out, err, 0.1, 60.0))
    assert len(breaches) == bool(breach) and all(breach in sentence for sentence in breaches)


def test_a_command_is_killed_before_each_of_its_changes(tmp_path):
    """Before the last one most is there, before the first one nothing."""
    fixture = str(runner.Path(__file__).parents[1] / "golden/fixtures/ior/gen-ior301-shared-2reps.txt")
    words, there = ["import", "--jobs", "1", "--store", "st", fixture], []
    changes = (
        warm()
        .call("faults.breaks.warm:count_changes", tmp_path, words=[*words[:4], "whole", fixture], kill=(0, 0))
        .answer
    )
    assert changes > 5
    for change in (1, changes // 2, changes):
        folder = tmp_path / str(change)
        folder.mkdir()
        assert warm().command(words, folder, kill=(signal.SIGKILL, change)).code == -signal.SIGKILL
        there.append(len(list((folder / "st").rglob("*"))) if (folder / "st").exists() else 0)
    assert there[0] < there[1] < there[2]


def test_what_breaks_is_counted_printed_and_can_be_repeated(tmp_path, monkeypatch, capsys):
    attacks = {"one": [], "other's": ["it broke", "and again"]}
    every = [Case("row", name, lambda _, found=found: found) for name, found in attacks.items()]
    monkeypatch.setattr(runner, "cases", lambda *_: every)
    tally = runner.Tally()
    runner.run_part("stores", 7, True, "", tally)
    assert tally.rows() == [["row", "2", "1", "1"], ["all", "2", "1", "1"]]
    assert """--parts stores --seed 7 --quick --only 'row: other'"'"'s'""" in capsys.readouterr().out


@pytest.mark.parametrize("part", runner.PARTS)
def test_names_are_unique_and_quick_is_a_part_of_all(part):
    every, quick = ([f"{case.row}: {case.name}" for case in runner.cases(part, 7, few)] for few in (False, True))
    assert len(set(every)) == len(every)
    assert 0 < len(quick) < len(every)


# What once was another number, a hang, a traceback, a file outside or half a store.
FIXED = {
    "texts": [
        "import: text, NUL: ior/gen-ior400-fpp-3reps.txt #0",
        "import: text, cut: fio/gen-fio333-terse3.txt #0",
        "import: text, long line and NUL: ior/gen-ior400-fpp-3reps.txt #0",
    ],
    "archives": [
        "import: hostile archive: tar, through a link",
        "import: hostile archive: tar, a and a/b",
        "import: archive, a bit flipped: tgz #37",
        "import: archive, a bit flipped: lzma.zip #0",
    ],
    "stores": [
        "store: file damaged: FIFO #0",
        "store: run forged: files lead outside",
        "store: question or marker changed: other seed",
        "store: run forged: missing is true",
    ],
    "kills": [
        "store: killed, then again: merge into, SIGTERM, between changes #0",
        "store: killed, then again: merge, SIGKILL, between changes #0",
        "store: killed, then again: prune, SIGINT, between changes #6",
        "store: killed, then again: redact, SIGINT, between changes #0",
        "store: killed, then again: export csv, SIGKILL, between changes #0",
    ],
    "serving": ["serve: page of unlike experiments: /history?store=1"],
}


@pytest.mark.slow
@pytest.mark.parametrize(("part", "name"), [(part, name) for part, names in FIXED.items() for name in names])
def test_a_fixed_attack_breaks_nothing(part, name):
    (case,) = [case for case in runner.cases(part, 1, False) if f"{case.row}: {case.name}" == name]
    assert runner.attack(case) == []
