"""What `plan` says of a design: short lines, everything that the design costs, nothing of a plain one."""

import re

from iosonde.campaign import forecast
from iosonde.campaign.plan import plan_campaign
from iosonde.campaign.request import Request
from iosonde.commands.plan import text as plan_text
from iosonde.commands.plan import text_design as text
from iosonde.core.types import Factor
from iosonde.measure import design

SWITCHES = [Factor(name, "", ("off", "on")) for name in ("stripe", "cache", "ahead", "sync")]
ALIASES = ["stripe:cache = ahead:sync", "stripe:ahead = cache:sync", "stripe:sync = cache:ahead"]
SIZE = Factor("size", "bytes", (4096, 2**20))


def said(lines):
    return "\n".join(lines)


def test_nothing_is_said_of_a_plain_design():
    assert not list(text.describe_design(design.build_cells(SWITCHES, design.FULL, 1)))


def test_a_fraction_with_its_aliases():
    found = said(text.describe_design(design.build_cells(SWITCHES, {"kind": "fractional", "p": 1}, 1)))
    head, *rows = found.splitlines()
    assert re.fullmatch(r"design .*\b8 .*\b4", head)
    assert [row[12:] for row in rows] == ["sync = stripe * cache * ahead", *ALIASES]


def test_what_was_dropped_held_and_repeated():
    asked = {"constraints": ["size > 4096 or sync == 'off'"], "hard_to_change": "cache", "blocks": "ahead", "centre": 2}
    found = said(text.describe_design(design.build_cells([*SWITCHES, SIZE], asked, 1)))
    for value in (r"\b8 .* size > 4096 or sync == 'off'", r"\b2 centre ", r"\b2 blocks ", r"\bcache\b"):
        assert re.search(value, found), value
    assert max(map(len, found.splitlines())) < 80


def test_a_hypercube_with_its_discrepancy():
    made = design.build_cells([*SWITCHES, SIZE], {"kind": "latin", "points": 12}, 1)
    assert f"{len(made.cells)} cells, L2-star discrepancy 0.{str(made.discrepancy)[2:4]}" in said(
        text.describe_design(made)
    )


def test_what_came_from_a_file_is_escaped():
    made = design.build_cells([SIZE], {"constraints": ["size != '\x1b[31m'"]}, 1)
    assert "\x1b" not in said(text.describe_design(made))


def test_each_level_and_what_fits():
    factors = [*SWITCHES, SIZE]
    trials = design.build_trials(factors, design.FULL, range(6), 0, 1)
    seconds = forecast.forecast_trials(
        trials, [], lambda cell: forecast.TrialWork(cell["size"]), forecast.Speeds(1e6, 1, 1.0)
    ).seconds
    total_s = sum(seconds)
    found = said(text.format_level_times(factors, forecast.sum_seconds_by_level(trials, seconds)))
    assert found.splitlines()[-1].split(": ", 1)[0].endswith("size 4 KiB")
    assert found.splitlines()[0][12:].startswith(f"{SWITCHES[0].name} {SWITCHES[0].levels[0]}: ")
    per_cell = {trial.factors["size"]: s for trial, s in zip(trials, seconds, strict=True)}
    offers = design.offer_smaller_campaigns(
        factors, design.FULL, 6, 1, lambda cell: per_cell[cell["size"]], total_s / 2, lambda df: 2.0
    )
    shown = said(text.format_budget(offers, total_s, total_s / 2))
    assert "3 repetitions: 96 trials" in shown
    assert "fraction 1/2: 96 trials" in shown
    assert max(map(len, shown.splitlines())) < 80
    assert len(list(text.format_budget([], total_s, total_s))) == 1
    assert len(list(text.format_budget([], total_s, 1.0))) == 1


def test_a_command_that_runs_once_a_whole_plot_is_said_to(tmp_path):
    (tmp_path / "e.yaml").write_text(
        "repetitions: 2\ndesign: {kind: full, hard_to_change: fs}\n"
        "factors:\n  fs: {levels: [a, b], set: 'mount ${LEVEL}', read: mounted}\n"
        "  mode: {levels: [m, n], set: 'tune ${LEVEL}'}\n  size: [1, 2]\nsteps: ['dd bs=${size}']\n"
    )
    found = " ".join(" ".join(plan_text.lines(plan_campaign(Request(what=str(tmp_path / "e.yaml"))))).split())
    fs, mode = re.search(r" fs a, b (.*) mode m, n (.*) size 1, 2", found).groups()
    assert "mounted" in fs and " plot; " in fs and " plot" not in mode  # mode is set in every trial
