"""What `plan` says that a rank does."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

import iosonde
from iosonde.cli.group import cli
from iosonde.commands.plan.text import _describe_step, _format_command, _format_faults
from iosonde.core.errors import InputError
from iosonde.core.types import Factor
from iosonde.core.workload import MixPart, Step
from iosonde.measure.spec import CommandStep, Spec

KIB, MIB = 1024, 1024**2


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Step("write", 2 * KIB, size=100 * MIB), "51,200 writes of 2 KiB, 100 MiB"),
        (Step("read", 2048 * KIB, size=100 * MIB), "50 reads of 2 MiB, 100 MiB"),
        (Step("read", 4 * KIB, size=MIB, offsets="rnd"), "256 reads of 4 KiB at offsets rnd, 1 MiB"),
        (Step("write", 64 * KIB, count=1), "1 write of 64 KiB, 64 KiB"),
        (
            Step("read", KIB, size=64 * KIB, offsets={"stride": {"hole": KIB}}, sieve={"buffer": 16 * KIB}),
            "32 reads of 1 KiB at offsets stride, 32 KiB, sieved by 16 KiB",
        ),
        (
            Step("mix", count=9, of=(MixPart(7, Step("read", KIB)), MixPart(3, Step("write", KIB)))),
            "mix of 7 read : 3 write",
        ),
        (Step("fsync"), "fsync"),
    ],
)
def test_a_plan_says_operations(step, said):
    assert _describe_step(step) == said


def test_a_command_of_several_lines_stands_below_its_name_as_it_was_written():
    loop = "for n in 1 2; do\n  cat $n\ndone\n"
    assert list(_format_command("   3  ", CommandStep(loop, name="read"))) == [
        "   3  read",
        "        for n in 1 2; do",
        "          cat $n",
        "        done",
    ]
    assert list(_format_command("   3  ", CommandStep("\nls\n"))) == ["   3", "", "        ls"]
    assert list(_format_command("   3  set-up: ", CommandStep("sync"))) == ["   3  set-up: sync"]


def test_a_fault_that_is_a_factor_is_said_by_its_levels():
    fault = {"fault": "${fault}", "on": "server2", "at": "2s", "for": "500ms", "during": "write"}
    said = _format_faults(Spec({}, (), (Factor("fault", "", ("none", "stop")),), faults=(fault,)))
    words = re.findall(r"[\w|]+", " ".join(said))
    assert [word for word in words if word in (*fault.values(), "none|stop")] == [
        "none|stop",
        "server2",
        "2s",
        "write",
        "500ms",
    ]


def test_a_plan_over_a_limit_is_shown_before_it_is_refused(tmp_path):
    words = ["dd if=/dev/zero of=${TARGET}/f bs=1M count=10", "--target", str(tmp_path), "--max-bytes", "1m"]
    done = CliRunner().invoke(cli, ["plan", *words, "--json"])
    assert isinstance(done.exception, InputError) and json.loads(done.stdout)["bytes"] == 10 << 20
    with pytest.raises(InputError):
        iosonde.plan(words[0], target=str(tmp_path), max_bytes="1m")
