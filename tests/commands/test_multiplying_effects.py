"""Effects that multiply: every command names the factor that only logarithms show, as ``compare`` does."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import iosonde
from iosonde.core.verdict import VerdictState
from terminal import command_of

LOGARITHMS = "log(mib_s)"


def multiplying_effects(path: Path) -> str:
    rng = np.random.default_rng(7)
    rows = [
        f"{fs},{n},{100 * n**0.8 * (1 + (0.06 if n < 200 else 0.02) * (fs == 'b')) * np.exp(rng.normal(0, 0.04)):.3f}"
        for _, fs, n in product(range(4), "ab", (1, 4, 16, 64, 200))
    ]
    path.write_text("\n".join(["fs,clients,mib_s", *rows]) + "\n")
    return str(path)


def test_a_factor_that_only_ratios_show_is_named_by_every_command(tmp_path):
    data = multiplying_effects(tmp_path / "rates.csv")
    assert iosonde.compare(data, "fs").answer.items[0].state is VerdictState.DIFFERENT
    for name in ("summary", "rank", "anova"):
        text = CliRunner().invoke(command_of(name), [data], catch_exceptions=False, standalone_mode=False).stdout
        assert "fs" in text and "×1.05" in text, name
    page = tmp_path / "page.html"
    CliRunner().invoke(command_of("report"), [data, "-o", str(page)], catch_exceptions=False, standalone_mode=False)
    assert "×1.05" in page.read_text()


@pytest.mark.parametrize("seed", range(3))
def test_effects_that_add_get_no_advice(seed, tmp_path):
    rng = np.random.default_rng(seed)
    rows = [f"{fs},{n},{100 + 9 * n + rng.normal(0, 5):.3f}" for _, fs, n in product(range(4), "ab", (1, 16, 100))]
    path = tmp_path / "rates.csv"
    path.write_text("\n".join(["fs,clients,mib_s", *rows]) + "\n")
    text = CliRunner().invoke(command_of("summary"), [str(path)], catch_exceptions=False, standalone_mode=False).stdout
    assert LOGARITHMS not in text
