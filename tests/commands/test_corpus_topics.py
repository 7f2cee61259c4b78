"""What an archive is asked: planted dependence, shares of open and close, stragglers, imbalance, and validity."""

import json
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import archive_sample as archive
import corpus_sample
import iosonde
from iosonde.commands.corpus.answer import HowCorpus, corpus
from iosonde.commands.corpus.dependence import PairState
from iosonde.commands.corpus.figure import figure
from iosonde.commands.corpus.for_page import build_corpus_page
from iosonde.commands.corpus.ratios import RANKS
from iosonde.commands.corpus.section import save_corpus
from iosonde.commands.corpus.text import lines
from iosonde.commands.corpus.topics import BALANCE, DEPENDENCE, OPEN_CLOSE, TOPICS, VALIDITY, WEAR_OUT
from iosonde.commands.corpus.validity import RunState
from iosonde.core.errors import InputError
from iosonde.core.types import Observation
from iosonde.core.where import ALSO_INCOMPLETE
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from messages import raises

IOR = {phase.replace("-", "_") for phase in archive.IOR}
MDTEST = {f"mdtest_{phase.replace('-', '_')}" for phase in archive.MDTEST}


def imported(root, what):
    """A store of one of the archives."""
    getattr(archive, f"write_{what}")(root / what)
    pattern = {
        "io500": "{institution}/{system}/{file_system}/*/{submission}/...",
        "mlperf": "{institution}/{system}/...",
    }
    iosonde.import_files([root / what], store=root / "s", recursive=True, factors_from=[f"{what}/{pattern[what]}"])
    return root / "s"


@pytest.fixture(scope="module")
def io500(tmp_path_factory):
    return imported(tmp_path_factory.mktemp("io500"), "io500")


@pytest.fixture(scope="module")
def mlperf(tmp_path_factory):
    return imported(tmp_path_factory.mktemp("mlperf"), "mlperf")


def ask(place, *topics, per=None, **words):
    return corpus(open_data(place, ranks=False), ResponseQuery(**words), HowCorpus(per=per, about=topics))


def test_phases_of_one_cause_remain_and_others_go_together_by_size_only(io500):
    dependence = ask(io500, DEPENDENCE).parts.dependence
    assert set(dependence.phases) == IOR | MDTEST | {"find"}  # no score: it is computed from its phases
    within = {frozenset(pair) for group in (IOR, MDTEST) for pair in combinations(group, 2)}
    assert {frozenset(pair.names) for pair in dependence.list_pairs(PairState.REMAINS)} == within
    assert {pair.state for pair in dependence.pairs if frozenset(pair.names) not in within} == {PairState.BY_SIZE}
    assert dependence.tests == 3 * len(dependence.pairs) and not any(
        link.is_carried for pair in dependence.pairs for link in pair.links
    )


def test_correlations_are_those_of_scipy_over_one_value_a_system(io500):
    answer = ask(io500, DEPENDENCE)
    pair = next(pair for pair in answer.parts.dependence.pairs if set(pair.names) == {"ior_easy_write", "find"})
    by_name = {phase.name: phase for phase in ask(io500, per="none").phases}
    per_node = {phase.name: phase for phase in answer.phases}
    for link, phases in ((pair.total, by_name), (pair.per_unit, per_node)):
        a, b = (_by_system(phases[name]) for name in pair.names)
        theirs = stats.spearmanr([a[name] for name in a], [b[name] for name in a])
        assert (link.rho.value, link.p) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
        assert link.rho.n == archive.SYSTEMS
    p = [link.p for one in answer.parts.dependence.pairs for link in one.links]
    q = [link.q for one in answer.parts.dependence.pairs for link in one.links]
    assert q == pytest.approx(stats.false_discovery_control(p, method="by"))


def _by_system(phase):
    logs = {}
    for name, value in zip(phase.names, phase.values, strict=True):
        logs.setdefault(name, []).append(np.log(value))
    return {name: np.mean(values) for name, values in logs.items()}


def test_without_sizes_only_the_whole_is_correlated(io500):
    dependence = ask(io500, DEPENDENCE, per="none").parts.dependence
    assert all(pair.per_unit is None and pair.equal_size is None for pair in dependence.pairs)
    assert {pair.state for pair in dependence.pairs} == {PairState.REMAINS} and dependence.per == ""
    assert all("varies-besides" in verdict.doubts for verdict in dependence.verdicts)


def _draw_carried():
    """Two rates of twelve systems: significant together, and not without the fifth, which is first in both."""
    for seed in range(1000):
        x, y = np.random.default_rng(seed).uniform(1.0, 2.0, (2, 12))
        x[4] = y[4] = 9.0
        p, without = (stats.spearmanr(*pair).pvalue for pair in ((x, y), (np.delete(x, 4), np.delete(y, 4))))
        others = [stats.spearmanr(np.delete(x, at), np.delete(y, at)).statistic for at in range(12)]
        if p < 0.03 and without > 0.06 and others[4] < min(others[:4] + others[5:]) - 0.01:
            return x, y
    raise AssertionError


def test_a_correlation_that_one_system_carries_is_said_to_be(tmp_path):
    runs = [
        corpus_sample.run(
            f"s{place}", "site", f"sys{place}", 2020, corpus_sample.rows(1, easy, 1.0, create)[:3], nodes=1, api="POSIX"
        )
        for place, (easy, create) in enumerate(zip(*_draw_carried(), strict=True))
    ]
    store = corpus_sample.write(tmp_path / "s", runs)
    answer = ask(store, DEPENDENCE, per="none", response=("ior_easy_write", "mdtest_easy_write"))
    (pair,) = answer.parts.dependence.pairs
    assert pair.total.is_discovery and pair.total.is_carried and pair.total.carrier.startswith("sys4,")
    (verdict,) = [one for one in answer.verdicts if one.question == "dependence"]
    assert verdict.state == "inconclusive" and "leverage" in verdict.doubts
    assert pair.total.carrier in "\n".join(lines(answer))


def test_false_discoveries_of_whole_archives_are_rare(tmp_path):
    """Rates that only grow with the nodes: no pair remains but in 1 of 20 archives, whatever the systems."""
    rng, found = np.random.default_rng(7), 0
    for draw in range(20):
        runs = []
        for place in range(20):
            nodes = int(rng.choice([4, 8, 16, 32]))
            rows = corpus_sample.rows(nodes, *np.exp(rng.normal(0, 0.7, 3)))[:3]
            run = corpus_sample.run(f"s{place}", f"site{place}", f"sys{place}", 2020, rows, nodes=nodes, api="POSIX")
            runs.append(run)
        dependence = ask(corpus_sample.write(tmp_path / str(draw), runs), DEPENDENCE).parts.dependence
        found += bool(dependence.list_pairs(PairState.REMAINS))
    assert found <= 2


def test_shares_of_open_and_close_are_those_of_each_file_system(io500):
    answer = ask(io500, OPEN_CLOSE)
    shares = {(row.operation, row.what, row.level): row for row in answer.parts.ratios[OPEN_CLOSE]}
    assert answer.parts.by == "file_system" and {key[0] for key in shares} == IOR
    for operation in IOR:
        for level, share in archive.OPEN_SHARE.items():
            median = shares[operation, "open", level].median
            assert median.n == archive.SYSTEMS / 2 and median.low <= share <= median.high
        close = shares[operation, "close", ""].median
        assert close.n == archive.SYSTEMS and close.low <= archive.CLOSE_SHARE <= close.high
    assert ask(io500, OPEN_CLOSE, on=("institution", "nodes")).parts.by == "institution"


@pytest.mark.parametrize(
    ("times", "offset"),
    [
        ({"open_time": 345.3, "close_time": 345.3, "total_time": 658.0, "time": 312.9}, 345.1),  # clocks differ
        ({"open_time": 0.01, "close_time": 106.7, "total_time": 292.2, "time": 185.5}, None),  # time is that of access
        ({"open_time": 60.0, "close_time": 60.0, "total_time": 305.0, "time": 185.0}, None),  # as above
        ({"open_time": 50.0, "close_time": 50.0, "total_time": 300.0, "time": 300.0}, None),
        ({"open_time": 50.0, "close_time": 50.0, "total_time": 300.0}, None),
    ],
)
def test_clocks_that_differ_falsify_open_and_close(tmp_path, times, offset):
    runs = corpus_sample.corpus(3, 1)
    runs[0].observations += [Observation("ior_easy_write", name, seconds, "s") for name, seconds in times.items()]
    parts = ask(corpus_sample.write(tmp_path / "s", runs), OPEN_CLOSE).parts
    assert [point.value for point in parts.clock_offsets] == ([pytest.approx(offset)] if offset else [])
    assert bool(parts.ratios[OPEN_CLOSE]) is (offset is None)


def test_file_systems_that_differ_in_case_only_are_one(tmp_path):
    runs = corpus_sample.corpus(8, 1)
    for place, run in enumerate(runs):
        run.factors["file_system"] = "Lustre" if place else "LUSTRE"
        times = {"open_time": 1.0, "close_time": 1.0, "total_time": 10.0}
        run.observations += [Observation("ior_easy_write", name, seconds, "s") for name, seconds in times.items()]
    ratios = ask(corpus_sample.write(tmp_path / "s", runs), OPEN_CLOSE).parts.ratios[OPEN_CLOSE]
    assert {(row.level, row.median.n) for row in ratios} == {("", 8), ("Lustre", 8)}
    assert {row.median.value for row in ratios} == {0.1}


def test_stragglers_are_the_time_over_that_of_the_stonewall(io500):
    rows = {row.operation: row for row in ask(io500, WEAR_OUT).parts.ratios[WEAR_OUT]}
    assert set(rows) == {"ior_easy_write", "ior_hard_write", "mdtest_easy_write", "mdtest_hard_write"}
    for operation, row in rows.items():
        ratio = archive.EASY_RATIO if operation == "ior_easy_write" else archive.OTHER_RATIO
        assert row.median.low <= ratio <= row.median.high and row.largest >= row.high.value


def test_a_run_of_ior_alone_has_a_stonewall_by_its_settings(tmp_path):
    runs = corpus_sample.corpus(6, 1)
    for run, wears_out in zip(runs, (True,) * 5 + (False,), strict=True):
        run.factors |= {"stonewall_seconds": 10, "wear_out": wears_out}
        run.observations.append(Observation("ior_easy_write", "total_time", 14.0, "s"))
    (row,) = ask(corpus_sample.write(tmp_path / "s", runs), WEAR_OUT).parts.ratios[WEAR_OUT]
    assert (row.operation, row.median.value, row.runs) == ("ior_easy_write", 1.4, 5)


def test_imbalance_of_the_find_is_the_busiest_rank_over_the_mean(io500):
    (row,) = ask(io500, BALANCE).parts.ratios[BALANCE]
    assert (row.operation, row.what, row.median.n) == ("find", RANKS["operations"], archive.SYSTEMS)
    assert row.median.value == pytest.approx(archive.BUSIEST, rel=1e-4)


def test_epochs_of_mlperf_are_compared_with_their_mean(mlperf):
    (row,) = ask(mlperf, BALANCE).parts.ratios[BALANCE]
    slow = archive.SLOW_EPOCH / ((4 + archive.SLOW_EPOCH) / 5)
    assert (row.operation, row.what, row.median.n) == ("train", "epochs", archive.MLPERF_SYSTEMS)
    assert row.median.value == pytest.approx(slow, rel=0.02)
    assert ask(mlperf, DEPENDENCE).parts.dependence.tests == 3


def test_what_a_tool_calls_invalid_is_listed_and_left_out(io500):
    validity = ask(io500, VALIDITY).parts.validity
    assert validity.counts == {"valid": archive.SYSTEMS + 1, RunState.NOT_ACCEPTED: 0, "invalid": 1, "incomplete": 0}
    (invalid,) = [one for one in validity.submissions if one.state == "invalid"]
    assert invalid.settings == ("site00", "system01", "submission-1-1") and invalid.why and not invalid.scores
    totals = [one.scores["score total"] for one in validity.submissions if one.scores]
    assert totals == sorted(totals, reverse=True) and len(totals) == archive.SYSTEMS + 1
    assert "invalid" in "\n".join(lines(ask(io500)))
    included = corpus(open_data(io500, (ALSO_INCOMPLETE,), ranks=False), ResponseQuery())
    assert included.runs == archive.SYSTEMS + 2 and included.parts.validity.count_excluded(included.runs) == 0
    assert ask(io500).parts.validity.count_excluded(included.runs - 1) == 1


def test_what_mlperf_does_not_accept_is_not_accepted(mlperf):
    validity = ask(mlperf, VALIDITY).parts.validity
    assert validity.counts[RunState.NOT_ACCEPTED] == 1 and validity.counts["valid"] == 3 * archive.MLPERF_SYSTEMS - 1
    (refused,) = [one for one in validity.submissions if one.state == "not accepted"]
    assert refused.settings == ("vendor1", "box03") and len(refused.why) == 1


def test_incomplete_runs_and_reasons_without_their_places(tmp_path):
    runs = corpus_sample.corpus(3, 1)
    reason = "mdtest failed"
    runs[0].missing = [f"line 8: {reason}", f"list.2018.txt: {reason}"]
    validity = ask(corpus_sample.write(tmp_path / "s", runs), VALIDITY).parts.validity
    assert validity.counts["incomplete"] == 1 and validity.reasons == [(reason, 1)]


@pytest.mark.parametrize("archive_name", ["io500", "mlperf"])
def test_every_topic_fits_a_terminal_and_is_json(archive_name, request):
    answer = ask(request.getfixturevalue(archive_name), *TOPICS)
    assert max(map(len, lines(answer))) < 80
    content = json.loads(json.dumps(answer.to_dict()))
    assert {topic.replace("-", "_") for topic in TOPICS} <= content.keys()
    assert content["dependence"]["pairs"] and content["validity"]["submissions"]
    assert answer.sentence.endswith(".")
    assert ask(request.getfixturevalue(archive_name)).to_dict()["dependence"] is None


def test_topics_without_data_say_so(tmp_path):
    store = corpus_sample.write(tmp_path / "s", corpus_sample.corpus(6, 1))
    answer = ask(store, *TOPICS)
    assert not any(answer.parts.ratios.values()) and answer.parts.dependence.tests == 0
    assert {pair.state for pair in answer.parts.dependence.pairs} == {PairState.NOT_TESTED}
    text = list(lines(answer))
    assert sum(line.startswith("~") for line in text) >= 3 and max(map(len, text)) < 80


def test_dependence_is_drawn_as_a_matrix(io500):
    answer = ask(io500, DEPENDENCE)
    drawn = figure(answer).spec["layer"][0]
    n = len(answer.parts.dependence.phases)
    assert len(drawn["data"]["values"]) == n * (n - 1) and drawn["mark"]["type"] == "rect"


def test_an_unknown_topic_is_refused(io500):
    with raises("unknown-option-value", InputError):
        iosonde.corpus(io500, about="weather")
    assert iosonde.corpus(io500, about="all").answer.parts.topics == TOPICS


def test_the_page_has_the_matrix_and_tables_of_what_is_asked(io500, tmp_path):
    page = build_corpus_page(ask(io500, *TOPICS))
    pairs, ratios = page.tables[-2:]
    assert len(pairs.rows) == len(page.corpus.parts.dependence.pairs) and ratios.rows
    assert all(len(table.columns) == len(row) for table in (pairs, ratios) for row in table.rows)
    save_corpus(page, tmp_path / "page.html")
    assert 'id="dependence"' in (tmp_path / "page.html").read_text(encoding="utf-8")
