"""The bench of races: its truth, its rivals on cases whose answer is known, and its limits."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from scipy.special import ndtr

import bench_race as bench
import racers
import surfaces
from racers import Choices
from surfaces import Surface

EASY = Surface("easy", np.array([50.0, 100.0, 80.0, 60.0]), surfaces.build_normal(0.02))
NAMES = [surface.name for surface in surfaces.build_surfaces()]


def find_surface(name: str) -> Surface:
    return next(surface for surface in surfaces.build_surfaces() if surface.name == name)


def create_scores(n_right: int, n_races: int = bench.RACES, ratio: float = 0.3, regret: float = 0.01, **kind: bool):
    """The scores of a race with these on a surface, and of Rinott's procedure."""
    ours = bench.Score(racers.OURS, n_races, n_right, 100 * ratio, regret)
    rinott = bench.Score(racers.RINOTT, n_races, n_races, 100, 0.0)
    flags = {"is_promised": True, "has_trials_limit": True, **kind}
    return bench.SurfaceScores("s", 10, scores=(ours, rinott), **flags)


# -- surfaces


@pytest.mark.parametrize("name", NAMES)
def test_trials_have_the_planted_means(name):
    surface = find_surface(name)
    draws = surface.draw_all(np.random.default_rng(1), 1, np.arange(8000))[0]
    errors = np.abs(draws.mean(axis=0) / surface.means - 1)
    assert draws.shape == (8000, surface.n_settings)
    assert np.all(errors < 5 * draws.std(axis=0) / surface.means / np.sqrt(len(draws)) + 1e-9)


def test_the_seed_of_a_surface_fixes_its_trials_and_each_purpose_has_others():
    surface = find_surface("drift by blocks")
    draws = [surface.draw_all(surface.create_generator(purpose), 1, np.arange(5)) for purpose in ("a", "a", "b")]
    assert np.array_equal(draws[0], draws[1]) and not np.array_equal(draws[0], draws[2])


def test_surfaces_are_those_that_were_planned():
    made, measured = surfaces.build_made_surfaces(), surfaces.build_measured_surfaces()
    assert (len(made), len(measured)) == (12, 3) and len(set(NAMES)) == 15
    assert {2, 3, 8, 200} <= {surface.n_settings for surface in made}
    assert [surface.name for surface in made if not surface.is_promised] == ["one slow trial in ten", "two modes"]
    assert not find_surface(surfaces.SLIPPAGE).has_trials_limit and not find_surface("2 settings").has_trials_limit


def test_a_choice_is_right_within_the_margin_and_in_the_slippage_configuration_nowhere_else():
    surface = Surface("x", np.array([100.0, 95.0, 94.9]), surfaces.build_normal(0.1))
    assert surface.is_right(np.arange(3)).tolist() == [True, True, False]
    assert surface.compute_regret(np.array([0, 2])) == pytest.approx([0, 0.051])
    slippage = find_surface(surfaces.SLIPPAGE)
    assert slippage.is_right(np.arange(slippage.n_settings)).tolist() == [True] + [False] * 9


def test_a_level_is_common_to_a_block_and_a_mode_to_a_trial():
    drift = surfaces.build_drift(0.0, 0.2, 0.0, 10)(np.random.default_rng(1), np.arange(3), np.arange(50)[:, None])
    assert np.allclose(drift, drift[:, :1]) and np.ptp(drift[:, 0]) > 0.2
    modes = surfaces.build_mixture(0.0, 0.1, 0.5)(np.random.default_rng(1), np.arange(3), np.arange(500)[:, None])
    assert sorted(set(modes.ravel().round(6))) == pytest.approx([0.5 / 0.95, 1 / 0.95])
    assert np.mean(modes < 0.6) == pytest.approx(0.1, abs=0.03)


def test_measured_trials_are_read_by_setting_and_too_few_are_refused(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("# measured\na,b,y\n" + "".join(f"1,x,{y}\n2,x,\n2,x,{y + 10}\n" for y in range(5)))
    first, second = surfaces.read_trials(table, ["a", "b"], "y")
    assert (first.tolist(), second.tolist()) == ([0, 1, 2, 3, 4], [10, 11, 12, 13, 14])
    noise = surfaces.build_resampled([first, second[:3]])
    values = noise(np.random.default_rng(1), np.arange(2), np.arange(300)[:, None]) * [2, 11]
    assert [sorted(set(column.round(6))) for column in values.T] == [[0, 1, 2, 3, 4], [10, 11, 12]]
    table.write_text(table.read_text() + "3,x,7\n")
    with pytest.raises(ValueError):
        surfaces.read_trials(table, ["a", "b"], "y")


# -- procedures


# Banks, Carson, Nelson and Nicol, Discrete-Event System Simulation, 5th edition, Table A.12.
@pytest.mark.parametrize(
    ("confidence", "first_stage", "n_settings", "h"),
    [
        (0.90, 5, 2, 2.291),
        (0.90, 20, 10, 3.437),
        (0.95, 5, 10, 5.797),
        (0.95, 10, 2, 2.614),
        (0.95, 10, 8, 4.106),
        (0.95, 20, 10, 3.875),
        (0.95, 50, 2, 2.373),
        (0.975, 10, 8, 4.635),
    ],
)
def test_the_constant_of_rinott_is_as_published(confidence, first_stage, n_settings, h):
    assert racers.compute_rinott_h(n_settings, first_stage, confidence) == pytest.approx(h, abs=3e-3)


def test_the_constant_of_rinott_selects_with_its_probability_in_a_simulation_of_its_definition():
    generator, h, df, others = np.random.default_rng(4), racers.compute_rinott_h(30, 6), 5, 29
    best, rest = generator.chisquare(df, (4000, 1)), generator.chisquare(df, 1000)
    inner = np.mean(ndtr(h / np.sqrt(df * (1 / best + 1 / rest))), axis=1)
    assert np.mean(inner**others) == pytest.approx(0.95, abs=0.01)


def test_the_fixed_plan_takes_the_trials_that_its_variances_ask_for():
    surface = Surface("plan", np.array([100.0, 90.0]), surfaces.build_normal(np.array([0.2, 0.001])))
    choices = racers.run_rinott(surface, 400)
    first_stage, h = racers._choose_first_stage(surface, 5.0)
    assert choices.n_trials == pytest.approx(first_stage + (h * 20 / 5) ** 2, rel=0.06)
    assert surface.is_right(choices.settings).mean() > 0.95


def test_sums_of_trials_are_those_of_each_race():
    surface = Surface(
        "exact", np.array([3.0, 7.0]), lambda generator, settings, blocks: 1.0 + 0.0 * (settings + blocks)
    )
    counts = np.array([0, 4, 1, 0, 2])
    assert racers._sum_trials(surface, np.random.default_rng(1), 1, counts, 6).tolist() == (7.0 * counts).tolist()


def test_all_procedures_choose_the_best_of_an_easy_surface():
    races = racers.run_races(EASY, 5)
    assert races.settings.tolist() == [1] * 5 and races.n_trials >= 4 * 6
    assert racers.run_rinott(EASY, 5).settings.tolist() == [1] * 5
    assert racers.run_halving(EASY, 5, 40).settings.tolist() == [1] * 5
    assert all(choices.settings.tolist() == [1] * 5 for choices in racers.run_random(EASY, 5, 60).values())


def test_successive_halving_keeps_to_its_budget_and_counts_earlier_rounds():
    drawn = []

    def noise(generator, settings, blocks):
        drawn.append(np.broadcast_shapes(settings.shape, blocks.shape))
        return np.ones(drawn[-1])

    surface = Surface("counted", np.arange(1.0, 9.0), noise)
    assert racers._halve(surface, np.random.default_rng(1), 3, 96).tolist() == [7] * 3
    assert drawn == [(3, 4, 8), (3, 8, 4), (3, 16, 2)]


def test_the_best_trial_and_the_best_mean_are_two_choices():
    settings, values = np.array([[0, 1, 1, 0], [2, 2, 1, 1]]), np.array([[9.0, 7, 7, 1], [1, 1, 5, 9]])
    assert racers._choose_best_trial(settings, values).tolist() == [0, 1]
    assert racers._choose_best_mean(settings, values, 4).tolist() == [1, 1]


def test_a_peer_that_is_not_installed_is_named_and_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(racers, "load_optuna", lambda: None)
    monkeypatch.setattr(racers.shutil, "which", lambda name: None)
    assert len(racers.find_missing_peers()) == 2
    procedures = [score.procedure for score in bench.measure_surface(EASY, 3).scores]
    assert procedures == [racers.OURS, racers.RINOTT, racers.HALVING, racers.RANDOM_DRAW, racers.RANDOM_MEAN]


def test_optuna_chooses_the_best_of_an_easy_surface():
    optuna = racers.load_optuna() or pytest.skip("Optuna is not installed")
    choices = racers.run_optuna(optuna, EASY, 2, 40)
    assert [each.settings.tolist() for each in choices.values()] == [[1, 1], [1, 1]]


@pytest.mark.slow
def test_irace_chooses_the_best_of_an_easy_surface_and_refuses_too_few_trials():
    program = racers.find_irace() or pytest.skip("irace is not installed")
    assert racers.run_irace(program, EASY, 3, 120).settings.tolist() == [1] * 3
    with pytest.raises(subprocess.CalledProcessError):
        racers.run_irace(program, EASY, 1, 2)


# -- limits and the page


def test_the_interval_is_wilsons():
    assert bench.Score("x", 20, 19, 1, 0).compute_interval() == pytest.approx((0.7639, 0.9911), abs=1e-4)


@pytest.mark.parametrize(
    ("scores", "n_broken"),
    [
        (create_scores(1900), 0),
        (create_scores(1885), 1),
        (create_scores(1885, is_promised=False, has_trials_limit=False), 0),
        (create_scores(1990, regret=0.051), 1),
        (create_scores(1990, ratio=0.36), 1),
        (create_scores(1990, ratio=0.36, has_trials_limit=False), 0),
        (create_scores(185, n_races=200), 0),
        (create_scores(170, n_races=200), 1),
    ],
)
def test_the_race_is_held_to_its_limits(scores, n_broken):
    assert len(bench.find_broken_limits([scores])) == n_broken


def test_the_limit_of_trials_is_for_the_median_of_surfaces():
    results = [create_scores(2000, ratio=ratio) for ratio in (0.1, 0.3, 0.9)]
    assert bench.compute_median_ratio(results) == pytest.approx(0.3) and not bench.find_broken_limits(results)
    assert bench.compute_median_ratio([]) is None


def test_scores_hold_choices_against_the_truth():
    score = bench.score_choices("x", EASY, Choices(np.array([1] * 90 + [2] * 10), 12.0))
    assert (score.n_races, score.n_right, score.n_trials, score.regret) == (100, 90, 12.0, pytest.approx(0.2))


def test_more_trials_mean_fewer_studies():
    assert [bench.count_studies(n, bench.RACES) for n in (50, 500, 5000)] == [100, 20, 3]
    assert bench.count_studies(5000, bench.QUICK_RACES) == 1


def test_the_page_gets_new_tables_and_keeps_its_words(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"Words.\n\n{bench.TABLES}\n\nold\n")
    monkeypatch.setattr(racers, "find_missing_peers", lambda: ["Peer: not installed"])
    monkeypatch.setattr(bench, "_measure_named", None)
    monkeypatch.setattr(bench, "ProcessPoolExecutor", lambda n: FakeWorkers())
    monkeypatch.setattr("sys.argv", ["bench_race.py", "--only", "normal, CV 3 %", "--table", str(page)])
    assert bench.main() == 0
    text = page.read_text()
    assert text.startswith("Words.") and "old" not in text and "Peer: not installed" in text
    assert text.count("\n| iosonde |") == 1 and text.split("\n", 2)[2] in capsys.readouterr().out + text


class FakeWorkers:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def map(self, _, jobs):
        return [create_scores(1950) for _ in jobs]
