"""``iosonde anova``: its text and its JSON."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from iosonde.cli.commands import anova as command

CP = str(Path(__file__).parents[1] / "golden" / "data" / "cp_raw.csv")


def test_the_command_prints_text_and_json():
    args = [CP, "--response", "real_s", "--on", "replicas"]
    text = CliRunner().invoke(command.command, args, catch_exceptions=False).stdout
    assert max(map(len, text.splitlines())) < 80 and text.rstrip().endswith(".")
    made = json.loads(CliRunner().invoke(command.command, [*args, "--json"], catch_exceptions=False).stdout)
    assert {"name", "ss", "df", "share", "f", "p"} <= set(made["terms"][0])
    assert made["residual"]["df"] == 21
