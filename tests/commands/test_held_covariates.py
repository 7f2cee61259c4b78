"""Covariates and days that the user names are held by comparisons of two tables, and days by anova."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import iosonde


def write_days(folder: Path) -> dict[str, str]:
    """Ten days of four trials each: B is 20 above A, and a unit of load costs 5."""
    noise = random.Random(7)
    rows = [
        (f"2026-11-{day + 10}", version, load := noise.uniform(0, 50), 700 + effect + 20 * (version == "B") - 5 * load)
        for day, effect in enumerate(noise.gauss(0, 60) for _ in range(10))
        for version in "AABB"
    ]
    lines = [(v, f"{day},{load:.2f},{mean + noise.gauss(0, 5):.2f}") for day, v, load, mean in rows]
    paths = {name: folder / f"{name}.csv" for name in ("A", "B", "all")}
    for version in "AB":
        own = [line for v, line in lines if v == version]
        paths[version].write_text("\n".join(["day,load,mib_s", *own]) + "\n")
    paths["all"].write_text("\n".join(["version,day,load,mib_s", *(f"{v},{line}" for v, line in lines)]) + "\n")
    return {name: str(path) for name, path in paths.items()}


def test_two_tables_hold_what_one_table_holds(tmp_path: Path) -> None:
    data, roles = write_days(tmp_path), {"load": "covariate", "day": "block"}
    (one,) = iosonde.compare(data["all"], "version", response="mib_s", roles=roles).answer.items
    (two,) = iosonde.compare(data["A"], b=data["B"], response="mib_s", roles=roles).answer.items
    ratio = one.comparison.ratio
    assert (two.comparison.ratio.low, two.comparison.ratio.high) == pytest.approx((ratio.low, ratio.high))
    assert two.comparison.method == one.comparison.method and two.comparison.verdict == "different"


def test_anova_removes_a_block_that_the_user_names(tmp_path: Path) -> None:
    data = write_days(tmp_path)["all"]
    by_role = iosonde.anova(data, "mib_s", "version", roles={"day": "block"}).answer.anova
    by_option = iosonde.anova(data, "mib_s", "version", block="day").answer.anova
    assert [source.f for source in by_role.sources] == [source.f for source in by_option.sources]
    assert any(source.block for source in by_role.sources)
