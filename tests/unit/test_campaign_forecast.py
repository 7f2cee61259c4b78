"""How long it will take: from the same cell, scaled from others, from speeds; per level; and what fits in less time."""

import json
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.campaign import forecast, needs
from iosonde.campaign.each_trial import Pace
from iosonde.campaign.forecast import FinishedTrial, LabWait, Speeds, TrialWork
from iosonde.core.faults import PlannedFault
from iosonde.core.schema import CENTRE
from iosonde.core.types import Factor, Run, Trial
from iosonde.measure import design
from iosonde.measure.workloads import envelope
from messages import assert_problem, raises

SIZE = Factor("size", "bytes", (10**6, 10**8))
NODES = Factor("nodes", "nodes", (1, 2))
RANKS = Factor("ranks_per_node", "ranks", (4,))
SPEEDS = Speeds(bytes_per_s=1e6, files_per_s=100, start_s=2)


def moved(cell):
    return TrialWork(cell["size"])


def nothing_known(cell):
    return None


def trials(factors=(SIZE,), asked=design.FULL, repetitions=2):
    return design.build_trials(list(factors), asked, range(repetitions), 0, 1)


def test_seconds_are_size_divided_by_speed():
    """A study planned 20 GB and 500 GB at 1.5 MB/s, and multiplied: it printed 30000 s and 8.6 days."""
    seconds_20gb = forecast.transfer_seconds(20 * 1000e6, 1.5e6)
    assert seconds_20gb == pytest.approx(13333.333333, rel=1e-9)
    assert seconds_20gb / 3600 == pytest.approx(3.703704, rel=1e-6)
    assert forecast.transfer_seconds(500 * 1000e6, 1.5e6) / 86400 == pytest.approx(3.858025, rel=1e-6)
    for speed in (0, -1.0, float("nan")):
        with raises("out-of-range"):
            forecast.transfer_seconds(1, speed)


def test_without_any_trial_the_speeds_are_the_guess_and_are_shown():
    found = forecast.forecast_trials(trials(), [], moved)
    assert_problem(found.basis, "forecast-basis", guessed=4, speeds="200 MB/s and 2000 files/s")
    assert sorted(found.seconds) == pytest.approx([1.505, 1.505, 2.0, 2.0])
    given_speeds = forecast.forecast_trials(trials(), [], moved, SPEEDS)
    assert_problem(given_speeds.basis, "forecast-basis", guessed=4, speeds="1 MB/s and 100 files/s")
    assert found.basis.replace("200 MB/s and 2000", "1 MB/s and 100") != given_speeds.basis, "one is a guess"
    assert given_speeds.total_s == pytest.approx(2 * (2 + 1) + 2 * (2 + 100))
    stated = forecast.forecast_trials(trials(), [], moved, Speeds(bytes_per_s=1.5e9))
    assert_problem(stated.basis, "forecast-basis", speeds="1500 MB/s and 2000 files/s")


def test_the_same_cell_is_known_best_whatever_else_its_run_carries():
    earlier = [FinishedTrial({"size": 10**6, "ranks": 4, "repetition": i}, s) for i, s in enumerate((7.0, 9.0, 50.0))]
    expected = forecast.build_estimator(earlier, moved, SPEEDS)
    assert expected({"size": 10**6}) == (9.0, forecast.MEASURED)
    assert expected({"size": 10**6, "centre_trial": True}) == (9.0, forecast.MEASURED)
    # 9 s where 3 s were expected: the other size takes 3 times what the speeds say, too.
    assert expected({"size": 10**8}) == (pytest.approx(3 * 102), forecast.SCALED)


def test_what_every_trial_takes_besides_is_not_scaled_with_the_size():
    """A command that sets a factor takes 60 s whatever is moved: two sizes tell it from the speed."""
    earlier = [FinishedTrial({"size": size}, 60 + 2 * SPEEDS.seconds(moved({"size": size}))) for size in (10**6, 10**7)]
    expected = forecast.build_estimator(earlier, moved, SPEEDS)
    assert expected({"size": 10**8}) == (pytest.approx(60 + 2 * 102), forecast.SCALED)


def test_a_guess_says_what_it_knows_nothing_of():
    found = forecast.forecast_trials(trials(), [], moved, SPEEDS, 3)
    assert_problem(found.basis, "forecast-basis", speeds="1 MB/s and 100 files/s", n_commands=3)
    known = forecast.forecast_trials(trials(), [FinishedTrial({"size": 1}, 3.0)], moved, SPEEDS, 3)
    assert_problem(known.basis, "forecast-basis", guessed=0, n_commands=0)


def test_what_is_left_is_predicted_anew_and_said_after_the_first_block():
    said = []
    pace = Pace(lambda ahead, finished: forecast.forecast_trials(ahead, finished, moved, SPEEDS), [], said.append)
    every = trials(repetitions=3)
    for place, trial in enumerate(every):
        rest_s = pace.rest_s(trial, every[place:])
        if place == 2:
            assert rest_s == pytest.approx(2 * (7 + 700)) and len(said) == 1
            assert_problem(said[0], "remaining-time", n_ahead=4)
            assert_problem(said[0].values["basis"], "forecast-basis", measured=4, n_measured=2)
        pace.add_finished(
            Run("r", "e", "t", "", 0, dict(trial.factors), []), 7.0 if trial.factors["size"] == 10**6 else 700.0
        )
    assert len(said) == 1


def test_what_is_done_after_a_trial_counts():
    at = "2026-11-22T10:{:02d}:00.000Z"
    runs = [
        {"experiment": "e", "started_at": at.format(2 * i + (i > 2) * 30), "seconds": 90.0, "facts": {"order": i}}
        for i in range(6)
    ]
    assert needs._compute_median_gap_s(runs) == pytest.approx(30)
    assert needs._compute_median_gap_s(runs[:1]) == 0


def test_a_gap_lies_between_neighbours_of_one_experiment_without_its_breaks():
    def run(minute, order, experiment="e", **facts):
        at = f"2026-11-22T10:{minute:02d}:00.000Z"
        return {"experiment": experiment, "started_at": at, "seconds": 60.0, "facts": {"order": order, **facts}}

    assert needs._compute_median_gap_s([run(0, 0), run(3, 1)]) == 120
    assert needs._compute_median_gap_s([run(3, 1), run(0, 0)]) == 120, "by time, not as listed"
    assert needs._compute_median_gap_s([run(0, 0), run(3, 1, waited_s=50.0)]) == 70, "a break belongs to the next"
    assert needs._compute_median_gap_s([run(0, 0), run(3, 1, "other")]) == 0
    assert needs._compute_median_gap_s([run(0, 0), run(3, 2)]) == 0, "a trial between them is missing"
    assert needs._compute_median_gap_s([run(0, 0), run(0, 1)]) == 0, "clocks may be set back"


def test_the_healing_of_a_lab_is_no_part_of_the_gap_between_trials():
    runs = [
        {
            "experiment": "e",
            "started_at": f"2026-11-22T10:0{2 * i}:00.000Z",
            "seconds": 60.0,
            "facts": {"order": i, "waited_for_lab_s": 50.0},
        }
        for i in range(4)
    ]
    assert needs._compute_median_gap_s(runs) == pytest.approx(10)


FAULT = Factor("fault", "", ("none", "kill-server", "stop"))
KILL, STOP = (PlannedFault(kind, "server2") for kind in FAULT.levels[1:])


def waits(cell):
    return LabWait({"none": (), "kill-server": (KILL,), "stop": (STOP,)}[cell["fault"]], True)


def test_a_lab_heals_and_settles_as_long_as_it_did_whatever_a_trial_moves():
    """Ten times the bytes of a trial of 3 s take 30 s and not ten times the 40 s of its healing; a fault that was
    never tried is taken to heal as others did."""
    size = 10**6
    earlier = [
        FinishedTrial({"size": size, "fault": "none"}, 3 + 4.0, 4.0),
        *[FinishedTrial({"size": size, "fault": "kill-server"}, 3 + lab_s, lab_s) for lab_s in (39.0, 40.0, 60.0)],
    ]
    speeds = Speeds(bytes_per_s=1e6, files_per_s=1.0, start_s=0.0)
    expected = forecast.build_estimator(earlier, moved, speeds, waits)
    assert expected({"size": size, "fault": "kill-server"}) == (43.0, forecast.MEASURED)
    of = {fault: expected({"size": 10 * size, "fault": fault}) for fault in FAULT.levels}
    assert of == {
        "none": (pytest.approx(34), forecast.SCALED),
        "kill-server": (pytest.approx(70), forecast.SCALED),
        "stop": (pytest.approx(70), forecast.SCALED),
    }
    alike = forecast.build_estimator(earlier, nothing_known, speeds, waits)
    assert alike({"size": 10 * size, "fault": "none"}) == (pytest.approx(7), forecast.ALIKE)
    assert alike({"size": 10 * size, "fault": "stop"}) == (pytest.approx(43), forecast.ALIKE)


def test_before_the_first_trial_nobody_knows_how_long_a_lab_heals():
    ahead = design.build_trials([SIZE, FAULT], design.FULL, range(1), 0, 1)
    found = forecast.forecast_trials(ahead, [], moved, SPEEDS, waits=waits)
    assert found.basis.values["is_without_lab"]
    told = forecast.forecast_trials(
        ahead, [FinishedTrial({"size": 1, "fault": "none"}, 5.0, 2.0)], moved, SPEEDS, waits=waits
    )
    assert not told.basis.values["is_without_lab"]
    never = forecast.forecast_trials(trials(), [], moved, SPEEDS, waits=lambda cell: LabWait())
    assert not never.basis.values["is_without_lab"] and never.basis != found.basis


def test_the_basis_counts_what_is_mixed():
    found = forecast.forecast_trials(trials(), [FinishedTrial({"size": 10**6}, 3.0)], moved, SPEEDS)
    assert_problem(found.basis, "forecast-basis", measured=2, scaled=2, guessed=0, n_measured=1)
    assert found.basis.count("; ") == 1


def test_commands_of_which_nobody_knows_what_they_move():
    found = forecast.forecast_trials(trials(), [], nothing_known)
    assert found.seconds == [None] * 4
    assert (found.unknown, found.total_s) == (4, 0)
    assert_problem(found.basis, "forecast-basis", unknown=4, guessed=0)
    after_a_pilot = forecast.forecast_trials(trials(), [FinishedTrial({"size": 10**6}, 5.0)], nothing_known)
    assert after_a_pilot.seconds == [5.0] * 4
    assert_problem(after_a_pilot.basis, "forecast-basis", measured=2, alike=2, n_measured=1)


@given(st.floats(0.01, 100))
def test_a_pilot_on_a_faster_or_slower_system_scales_everything(factor):
    earlier = [FinishedTrial({"size": 10**6}, 3 * factor)]
    found = forecast.forecast_trials(trials(), earlier, moved, SPEEDS)
    assert found.total_s == pytest.approx(factor * forecast.forecast_trials(trials(), [], moved, SPEEDS).total_s)


def test_what_the_user_says_a_trial_moves():
    work = forecast.parse_work("size * nodes * replica", ["size", "nodes", "replica"], "moves")
    assert work({"size": 100, "nodes": 4, "replica": 2}) == TrialWork(800)
    assert work({"size": 100}) is None
    with raises("unknown-factor", location="moves", part="sise", column=1):
        forecast.parse_work("sise * 2", ["size"], "moves")


def test_the_envelope_moves_what_its_phases_move():
    settings = envelope.Settings()
    assert envelope.files_touched(settings, 8) == 58 * settings.small_files
    assert 0 < envelope.bytes_written(settings, 8) < envelope.bytes_moved(settings, 8)


def test_each_level_counts_the_trials_that_have_it():
    ahead = trials([NODES, SIZE, RANKS])
    seconds = forecast.forecast_trials(ahead, [], moved, SPEEDS).seconds
    found = forecast.sum_seconds_by_level(ahead, seconds)
    assert set(found) == {"nodes", "size"}
    assert found["size"] == pytest.approx({10**6: 4 * 3, 10**8: 4 * 102})
    assert sum(found["nodes"].values()) == pytest.approx(sum(seconds))


# --- smaller campaigns ---

SWITCHES = [Factor(name, "", (0, 1)) for name in ("stripe", "cache", "ahead", "sync", "quick")]


def t_critical(df):
    from iosonde.stats.estimate.distributions import t_critical as critical

    return critical(0.95, df)


def offers(factors, asked, repetitions, budget_s, seconds_of=lambda cell: 10.0):
    made = design.offer_smaller_campaigns(factors, asked, repetitions, 1, seconds_of, budget_s, t_critical)
    return {offer.name.split(" ")[0] if offer.name.split(" ")[1] != "repetitions" else "fewer": offer for offer in made}


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=5),
    st.integers(1, 8),
    st.floats(1, 3000),
    st.sampled_from([{}, {"centre": 1}, {"constraints": ["f0 < 2"]}, {"hard_to_change": ["f0"]}, {"blocks": ["f0"]}]),
)
def test_every_offer_fits_and_is_what_it_says(levels, repetitions, budget_s, more):
    factors = [Factor(f"f{i}", "", tuple(range(n))) for i, n in enumerate(levels)]

    def seconds_of(cell):
        return 1.0 + cell["f0"]

    asked = {"kind": "full", **more}
    whole = sum(seconds_of(t.factors) for t in design.build_trials(factors, asked, range(repetitions), 0, 1))
    found = design.offer_smaller_campaigns(factors, asked, repetitions, 1, seconds_of, budget_s, t_critical)
    if whole <= budget_s:
        assert not found
    for offer in found:
        drawn = design.build_trials(factors, offer.design, range(offer.repetitions), 0, 1)
        assert len(drawn) == offer.trials
        assert sum(seconds_of(t.factors) for t in drawn) == pytest.approx(offer.seconds)
        assert offer.seconds <= budget_s * (1 + 1e-9)
        assert offer.costs
        assert json.loads(json.dumps(offer.to_json())) == offer.to_json()


def test_fewer_repetitions_say_how_much_wider_the_intervals_get():
    found = offers(SWITCHES, design.FULL, 10, 32 * 10 * 6)["fewer"]
    assert (found.repetitions, found.trials) == (6, 192)
    wider = (t_critical(5) / sqrt(6)) / (t_critical(9) / sqrt(10))
    assert f"{wider:.2g}" in found.costs and "95 %" not in found.costs
    assert "95 %" in offers(SWITCHES, design.FULL, 10, 32 * 10 * 4)["fewer"].costs


def test_the_largest_fraction_that_fits_with_its_aliases():
    half = offers(SWITCHES, design.FULL, 3, 16 * 10 * 3)["fraction"]
    assert (half.name, half.design["p"], half.trials) == ("fraction 1/2", 1, 48)
    assert " = " not in half.costs, "no effect is aliased with another one"
    quarter = offers(SWITCHES, design.FULL, 3, 16 * 10 * 3 - 1)["fraction"]
    assert (quarter.name, quarter.trials) == ("fraction 1/4", 24)
    assert "stripe = " in quarter.costs


def test_a_fraction_leaves_factors_with_more_levels_crossed():
    three = Factor("nodes", "", (1, 2, 4))
    found = offers([three, *SWITCHES], design.FULL, 3, 3 * 16 * 10 * 3)["fraction"]
    assert found.design["factors"] == [factor.name for factor in SWITCHES]
    assert found.trials == 3 * 16 * 3


def test_a_hypercube_and_one_at_a_time_for_many_levels():
    wide = [Factor(f"f{i}", "", tuple(range(8))) for i in range(3)]
    found = offers(wide, design.FULL, 2, 100 * 10 * 2)
    assert found["Latin"].design["points"] >= 90
    assert "L2-star discrepancy 0.0" in found["Latin"].costs
    assert found["one"].trials == 2 * (1 + 3 * 7)
    assert found["one"].costs and found["one"].costs != found["Latin"].costs


def test_nothing_is_offered_where_nobody_knows_how_long_a_trial_takes():
    assert not offers(SWITCHES, design.FULL, 3, 1, seconds_of=lambda cell: None)
    only_known_at_levels = {"kind": "full", "centre": 1}
    for asked in (design.FULL, only_known_at_levels):
        assert not offers(SWITCHES, asked, 3, 99, seconds_of=lambda cell: None if cell["cache"] else 10.0)
    assert not offers(SWITCHES, design.FULL, 3, 1)  # nothing fits into a second


def every_offer(factors, asked, repetitions, budget_s, seconds_of=lambda cell: 10.0):
    made = design.offer_smaller_campaigns(factors, asked, repetitions, 1, seconds_of, budget_s, lambda df: 2.0)
    return [(offer.design, offer.repetitions, offer.trials, offer.seconds) for offer in made]


def test_each_smaller_campaign_by_hand():
    """Four switches: 16 cells, 160 s a repetition, of which 4 are wanted within 5 minutes."""
    four, shared = SWITCHES[:4], {"order": "given"}
    names = [factor.name for factor in four]
    fraction = {"kind": "fractional", "factors": names, "p": 1, "order": "given"}
    assert every_offer(four, {"kind": "full", **shared}, 4, 300) == [
        (fraction, 3, 3 * 8, 240.0),  # no repetition of 160 s is done twice
        ({"kind": "one_at_a_time", "order": "given"}, 4, 4 * 5, 200.0),
    ]
    assert every_offer(four, {"kind": "full", **shared}, 4, 320)[:2] == [
        ({"kind": "full", **shared}, 2, 32, 320.0),
        (fraction, 4, 32, 320.0),
    ]
    assert every_offer(four, {"kind": "full"}, 4, 640) == []
    assert every_offer(four, {"kind": "full"}, 4, 639)[0] == ({"kind": "full"}, 3, 48, 480.0)
    assert every_offer(four, {"kind": "full"}, 1, 160) == []
    half, *_, single = every_offer(four, {"kind": "full"}, 1, 159)
    assert (half[1:], single[1:]) == ((1, 8, 80.0), (1, 5, 50.0))


def test_smaller_campaigns_of_other_designs():
    four = SWITCHES[:4]
    halves = {"kind": "fractional", "p": 1}
    found = every_offer(four, halves, 4, 239)
    assert [offer[0]["kind"] for offer in found] == ["fractional"]
    assert found[0] == (halves, 2, 16, 160.0)
    quarter = every_offer(SWITCHES, halves, 4, 320)
    names = [factor.name for factor in SWITCHES]
    assert [offer for offer in quarter if offer[0]["kind"] == "fractional"] == [
        (halves, 2, 32, 320.0),
        ({"kind": "fractional", "factors": names, "p": 2}, 4, 32, 320.0),
    ]
    cube = {"kind": "latin", "points": 20, "tries": 2, "ranges": {"a": {"low": 1, "high": 9}}}
    assert every_offer([Factor("a")], cube, 3, 300) == [
        ({"kind": "latin", "points": 10, "ranges": cube["ranges"]}, 3, 30, 300.0),
    ]
    assert [offer[0]["points"] for offer in every_offer([Factor("a")], cube, 3, 60)] == [2]
    assert every_offer([Factor("a")], cube, 3, 59) == []
    once = {"kind": "one_at_a_time"}
    assert every_offer(four, once, 4, 100) == [(once, 2, 10, 100.0)]
    assert every_offer(four, once, 4, 99) == []


def test_names_and_costs_of_smaller_campaigns_follow_their_numbers():
    made = design.offer_smaller_campaigns(SWITCHES[:4], design.FULL, 9, 1, lambda cell: 10.0, 900, lambda df: 12 / df)
    fewer, half, *_ = made
    wider = (12 / 4 / sqrt(5)) / (12 / 8 / sqrt(9))
    expected = ("5 repetitions", "fraction 1/2")
    assert (fewer.name, half.name) == expected and f"{wider:.2g}" in fewer.costs
    assert fewer.costs.count(";") == 1, "fewer than six trials"
    assert fewer.to_json()["seconds"] == 800.0 and fewer.to_json()["trials"] == 80
    assert set(fewer.to_json()) == {"name", "design", "repetitions", "trials", "seconds", "costs"}


def test_speeds_add_up_to_the_seconds_of_a_trial():
    speeds = Speeds(bytes_per_s=100.0, files_per_s=10.0, start_s=2.0, written_per_s=50.0)
    assert speeds.seconds(TrialWork(1000, 30, 400)) == 2 + 600 / 100 + 400 / 50 + 30 / 10
    assert Speeds(100.0, 10.0, 2.0).seconds(TrialWork(1000, 30, 400)) == 2 + 1000 / 100 + 30 / 10


@pytest.mark.parametrize(
    ("samples", "guess", "seconds"),
    [
        ([(2.0, 6.0)], 5.0, 15.0),  # one guess: a factor
        ([(2.0, 6.0), (2.0, 2.0), (2.0, 4.0)], 5.0, 10.0),  # the median of the factors
        ([(1.0, 12.0), (3.0, 16.0)], 5.0, 20.0),  # a line: 10 + 2 · guess
        ([(1.0, 10.0), (1.0, 14.0), (1.0, 12.0), (3.0, 16.0)], 5.0, 20.0),  # through the median of each guess
        ([(1.0, 16.0), (3.0, 12.0)], 2.0, 2.0 * (16 + 4) / 2),  # a line that falls is none
        ([(1.0, 1.0), (3.0, 9.0)], 2.0, 2.0 * (1 + 3) / 2),  # nor is one with less than nothing at 0
    ],
)
def test_a_guess_is_corrected_by_a_line_else_by_a_factor(samples, guess, seconds):
    fitted = forecast._fit_guess(samples)
    assert fitted is not None and fitted(guess) == pytest.approx(seconds)
    assert forecast._fit_guess([]) is None


def test_the_basis_names_the_commands_that_it_knows_nothing_of():
    texts = {n: forecast.forecast_trials(trials(), [], moved, SPEEDS, n).basis for n in (0, 1, 3)}
    assert len(set(texts.values())) == 3
    assert texts[0] in texts[1] and texts[0] in texts[3] and "3" in texts[3].removeprefix(texts[0])


def test_a_lab_waits_as_with_the_same_faults_else_as_with_others_or_without_any():
    slow = LabWait((PlannedFault("slow", "io1"),))
    lab_waits = {"same": slow, "other": LabWait((STOP,), True), "settles": LabWait(settles=True), "none": None}
    earlier = [
        FinishedTrial({"is": "same"}, 100.0, 10.0),
        FinishedTrial({"is": "same"}, 100.0, 20.0),
        FinishedTrial({"is": "settles"}, 100.0, 3.0),
        FinishedTrial({"is": "none"}, 100.0, 99.0),  # not a wait of the lab
    ]
    seconds = forecast._build_lab_estimator(earlier, lambda cell: lab_waits[cell["is"]])
    assert {name: seconds({"is": name}) for name in lab_waits} == {"same": 15, "other": 15, "settles": 3, "none": 0}
    assert forecast._build_lab_estimator(earlier, None)({"is": "same"}) == 0
    assert [bool(wait) for wait in (LabWait(), LabWait((STOP,)), LabWait((), True))] == [False, True, True]


def test_the_median_is_that_of_the_factors_of_a_cell():
    earlier = [
        FinishedTrial({"a": 1, "b": 1, "host": "x"}, 10.0),
        FinishedTrial({"a": 1, "b": 2}, 30.0),
        FinishedTrial({"a": 2}, 70.0),
    ]
    medians = forecast._Medians(earlier)
    cells = [{"a": 1}, {"a": 1, "b": 2}, {"a": 2}, {"a": 2, "b": 1}, {"a": 1, CENTRE: 1}, {"b": 2}]
    assert [medians.find_median(cell) for cell in cells] == [20, 30, 70, None, 20, 30]


def test_levels_of_unknown_seconds_and_constant_factors():
    ahead = [Trial(i, {"a": i % 2, "c": 1, CENTRE: i}, 0, 0, 0) for i in range(4)]
    assert forecast.sum_seconds_by_level(ahead, [1.0, None, 5.0, None]) == {"a": {0: 6.0, 1: 0.0}}


def test_rates_of_a_lab_are_a_range_and_say_whether_clients_send_each_copy():
    ahead = trials([NODES])

    def of(copies):
        return lambda cell: Speeds(1e8 * cell["nodes"], 500.0, written_per_s=5e7 if copies else None)

    assert forecast._format_rates(of(False), ahead).startswith("100 to 200 MB/s and 500 ")
    assert [forecast._is_sent_by_clients(of(copies), ahead) for copies in (True, False)] == [True, False]
    assert forecast._is_sent_by_clients(Speeds(written_per_s=1.0), ahead) is False
    assert forecast._format_rates(None, []).startswith("200 MB/s and 2000 ")
    assert forecast._format_rates(lambda cell: Speeds(123456789.0), ahead).startswith("123 MB/s")
    assert forecast._format_rates(Speeds(123456789.0), ahead).startswith("123.457 MB/s")


@pytest.mark.parametrize(
    ("besides", "known", "n_commands", "is_without_lab"), [(2, True, 2, True), (1, False, 0, False), (0, True, 0, True)]
)
def test_the_basis_excludes_what_no_guess_covers(besides, known, n_commands, is_without_lab):
    work = moved if known else nothing_known
    basis = forecast.forecast_trials(
        trials(), [], work, SPEEDS, besides=besides, waits=lambda _: LabWait((), True)
    ).basis
    kinds = {"guessed": 4, "unknown": 0} if known else {"guessed": 0, "unknown": 4}
    assert_problem(
        basis,
        "forecast-basis",
        n_measured=0,
        measured=0,
        scaled=0,
        alike=0,
        n_commands=n_commands,
        is_without_lab=is_without_lab,
        is_sent_by_clients=False,
        **kinds,
    )
