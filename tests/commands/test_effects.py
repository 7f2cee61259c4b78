"""Which factor matters: one verdict in ``summary``, ``plot``, the page and ``rank``, whatever goes together."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from iosonde.core.types import Observation, Run
from iosonde.core.verdict import VerdictState
from iosonde.store import Store
from terminal import command_of

anova = command_of("anova")
plot = command_of("plot")
rank = command_of("rank")
report = command_of("report")
summary = command_of("summary")

NOT_SEPARABLE = VerdictState.NOT_SEPARABLE

COMMANDS = {"summary": summary, "plot": plot, "report": report, "rank": rank}
pytestmark = pytest.mark.usefixtures("page_without_models")
ALIASED = ("disk", "s_disk"), ("flash", "s_flash")


def written(path, head: str, rows) -> str:
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")
    return str(path)


def content(name: str, *words: str) -> dict:
    done = CliRunner().invoke((COMMANDS | {"anova": anova})[name], [*words, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def effects(name: str, *words: str) -> dict[tuple[str, ...], str]:
    """(response, factors …) → state."""
    return {
        (one["response"], *one["subject"]): one["state"]
        for one in content(name, *words)["verdicts"]
        if one["question"] == "effect"
    }


def two_devices(path, broken: int = 0, clients=(1, 2, 4)) -> str:
    """Disks and flash, each in a pool of its own but for some rows; clients change little."""
    rng, rows = np.random.default_rng(1), []
    for mean, (device, pool) in zip((100, 900), ALIASED, strict=True):
        for client in clients:
            for repeat in range(6):
                other = ALIASED[device == "disk"][1]
                is_broken = client == 1 and repeat < broken
                rows.append((device, other if is_broken else pool, client, mean + 8 * client + rng.normal(0, 5)))
    return written(path / "devices.csv", "device,pool,clients,mbs", rows)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_obvious_effect_is_not_denied_where_two_columns_go_together(tmp_path, name):
    path = written(
        tmp_path / "two.csv", "device,setup,mbs", [(*ALIASED[k], (101, 901)[k] + i) for k in (0, 1) for i in range(4)]
    )
    assert effects(name, path) == {
        ("mbs", "device", "setup"): "different",
        ("mbs", "device"): NOT_SEPARABLE,
        ("mbs", "setup"): NOT_SEPARABLE,
    }


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("broken", [0, 1])
def test_a_third_factor_does_not_take_the_credit(tmp_path, name, broken):
    """`clients matters: 0.082 %` was the headline of a store of disks and flash."""
    path = two_devices(tmp_path, broken)
    states = effects(name, path)
    assert states["mbs", "device", "pool"] == states["mbs", "clients"] == "different"
    assert states["mbs", "device"] == ("different" if broken else NOT_SEPARABLE)
    assert states["mbs", "pool"] == NOT_SEPARABLE


def test_factors_that_go_together_are_first_in_the_order_and_share_vi(tmp_path):
    (made,) = content("rank", two_devices(tmp_path))["rankings"]
    assert made["order"] == [["device", "pool"], ["clients"]] and made["no_effect_seen"] == []
    first, second, last = made["factors"]
    assert {first["name"], second["name"]} == {"device", "pool"} and last["importance"] < 0.01
    assert first["effect_p"] == second["effect_p"] < 1e-9 and made["importance_of"] == "s1"


@pytest.mark.parametrize("name", ["summary", "plot", "report", "rank"])
def test_one_trial_a_setting_is_not_tested(tmp_path, name):
    path = written(tmp_path / "one.csv", "fs,mbs", [("a", 100.5), ("b", 60.2), ("c", 55.1)])
    assert effects(name, path) == {("mbs", "fs"): VerdictState.NOT_TESTED}


def several_metrics(path) -> str:
    """Three metrics of which one has an effect that is not significant beside the others' tests."""
    rng, rows = np.random.default_rng(34), []
    for fs in "ab":
        for size in (4, 16):
            for _ in range(4):
                rows.append((fs, size, rng.normal(100, 5), rng.normal(60 + 3.4 * (fs == "a"), 2), rng.normal(2, 0.1)))
    return written(path / "several.csv", "fs,size,read_mbs,write_mbs,copy_mbs", rows)


def test_a_verdict_does_not_depend_on_the_command_or_on_what_is_shown(tmp_path):
    """`no effect` stood above `qd first` on one page, as only one of two corrected."""
    path = several_metrics(tmp_path)
    told = {name: effects(name, path) for name in COMMANDS}
    assert told["summary"] == told["plot"] == told["report"] == told["rank"]
    every = content("summary", path)["verdicts"]
    for name, words in (("summary", ("--by", "fs,size")), ("rank", ()), ("report", ())):
        some = content(name, path, "--response", "write_mbs", *words)["verdicts"]
        for one in (verdict for verdict in some if verdict["question"] == "effect"):
            (same,) = [
                verdict
                for verdict in every
                if verdict["question"] == "effect"
                and (verdict["response"], verdict["subject"]) == (one["response"], one["subject"])
            ]
            assert (one["state"], one["p"], one["family"]) == (same["state"], pytest.approx(same["p"]), 6)


def test_a_share_is_the_same_in_summary_and_rank(tmp_path):
    path = two_devices(tmp_path)
    shown = [
        {tuple(one["subject"]): one["estimate"] for one in content(name, path)["verdicts"]}
        for name in ("summary", "rank")
    ]
    for subject in (("device", "pool"), ("clients",)):
        for key in ("value", "low", "high"):
            assert shown[0][subject][key] == pytest.approx(shown[1][subject][key])


def test_a_factor_that_is_set_once_for_several_trials_is_tested_between_bring_ups(tmp_path):
    """p = 3e-6 was said of a factor whose p is 0.06 between its bring-ups."""
    rng, rows = np.random.default_rng(3), []
    for lab in range(6):
        shift = rng.normal(0, 4)
        for mode in ("a", "b"):
            for _ in range(4):
                rows.append(
                    (("x", "y")[lab % 2], mode, lab, 100 + 5 * (lab % 2) + shift + 3 * (mode == "b") + rng.normal(0, 1))
                )
    path = written(tmp_path / "labs.csv", "fs,mode,bring_up,mbs", rows)
    ranked, summed = (effects(name, path) for name in ("rank", "summary"))
    assert ranked == summed and ranked["mbs", "mode"] == "different" and ranked["mbs", "fs"] == "inconclusive"
    assert content("rank", path)["rankings"][0]["order"] == [["mode"]]


def test_anova_corrects_over_the_same_family(tmp_path):
    path = several_metrics(tmp_path)
    every = effects("summary", path)
    for response in ("read_mbs", "write_mbs"):
        made = content("anova", path, "--response", response, "--on", "fs,size")["verdicts"]
        assert {(one["response"], *one["subject"]): one["state"] for one in made} == {
            key: state for key, state in every.items() if key[0] == response
        }
        assert {one["family"] for one in made} == {6}


def many_numbers(path) -> str:
    """A store of a tool whose headline is the bandwidth, with thirty more numbers of noise."""
    rng, store = np.random.default_rng(4), Store.create(str(path))
    for number in range(12):
        bandwidth = 1e8 * (1 + 0.04 * (number % 2)) * (1 + 0.02 * rng.normal())
        noise = [Observation("write", f"counter{k}", 100 + rng.normal(), "") for k in range(30)]
        store.append(
            Run(
                f"tool-{number:02}",
                "tool",
                "tool",
                f"2026-11-21T10:{number:02}:00Z",
                60.0,
                factors={"fs": ("nfs", "xfs")[number % 2]},
                observations=[Observation("write", "bandwidth", bandwidth, "bytes/s"), *noise],
                headlines={"write": ["bandwidth"]},
            )
        )
    return str(path)


@pytest.mark.parametrize("name", ["summary", "plot", "rank"])
def test_further_metrics_do_not_change_what_is_said_of_a_headline(tmp_path, name):
    path, key = many_numbers(tmp_path / "tool"), ("write bandwidth", "fs")
    assert effects(name, path)[key] == "different"
    every = content(name, path, "--metric", "all")["verdicts"]
    families = {verdict["response"]: verdict["family"] for verdict in every if verdict["question"] == "effect"}
    assert effects(name, path, "--metric", "all")[key] == "different"
    assert (families.pop("write bandwidth"), set(families.values())) == (1, {31})
    assert effects(name, path, "--metric", "bandwidth,counter0")[key] == "different"
