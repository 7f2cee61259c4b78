"""`iosonde report` on tables, and the regressions on a store's page: the numbers are those of `regress` and `anova`."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from stats_sample import run as sample_run

from iosonde.commands.report.answer import report as page_of
from iosonde.commands.report.findings import select_top_findings
from iosonde.commands.report.query import ReportQuery
from iosonde.core.errors import IosondeError
from iosonde.core.types import Finding, Observation, Severity
from iosonde.data.source import open_data
from iosonde.page.tables import Section
from iosonde.stats import checks
from iosonde.stats.regression.anova import compute_anova
from iosonde.stats.regression.regress import regress
from iosonde.store import Store
from terminal import command_of

report = command_of("report")


def run(*words):
    """(exit code, stdout, message)."""
    result = CliRunner().invoke(report, [str(word) for word in words])
    if isinstance(result.exception, IosondeError):
        return result.exception.exit_code, result.stdout, result.exception.message
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def table(tmp_path):
    """Two servers, four sizes, five repeats: a file that people make, with a unit, a comment and a BOM."""
    rng = np.random.default_rng(5)
    lines = ["\ufeff# made on a Friday", "Server Type;stripe;trial;Write Rate [MB/s]"]
    for i in range(40):
        server, stripe = ("old", "new")[i % 2], (1, 2, 4, 8)[i // 2 % 4]
        rate = 100 + 50 * (server == "new") + 20 * stripe + 5 * rng.standard_normal()
        lines.append(f"{server};{stripe};{i};{rate:.3f}")
    (tmp_path / "runs.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "runs.csv"


def shown(*words):
    code, out, message = run(*words, "--json")
    assert code == 0, message
    return json.loads(out)


def test_the_page_of_a_table_has_the_numbers_of_the_commands(table):
    page = shown(table)
    assert [one["title"] for one in page["summary"]] == ["Write Rate [MB/s]"]
    assert page["summary"][0]["unit"] == "MB/s" and page["summary"][0]["by"] == ["Server Type", "stripe"]
    (model,) = page["models"]["items"]
    made = regress(open_data(str(table)).table, "Write Rate [MB/s]", ["Server Type", "stripe"], 0.95)
    for term, c in zip(model["terms"], made.fit.coefficients(), strict=True):
        e = term["estimate"]
        assert (e["value"], e["low"], e["high"], term["p"]) == pytest.approx((c.estimate, c.low, c.high, c.p))
    of = compute_anova(
        open_data(str(table)).table, "Write Rate [MB/s]", ["Server Type", "stripe", "Server Type:stripe"], 0.95
    )
    assert [part["share"] for part in model["anova"][:3]] == pytest.approx([s.share for s in of.sources])
    assert sum(part["share"] for part in model["anova"]) == pytest.approx(1)
    assert len(model["plots"]["x"]) == 40 and len(model["plots"]["ordered_residuals"]) == 40
    assert re.search(r"\bF\b.*\d", dict(model["facts"])["straightness"])


def test_on_response_and_by_are_obeyed(table):
    page = shown(table, "--response", "Write Rate", "--on", "log2(stripe)", "--level", "0.9")
    (model,) = page["models"]["items"]
    assert model["on"] == ["log2(stripe)"] and page["level"] == 0.9
    assert page["summary"][0]["by"] == ["stripe"]
    assert "S110" in {finding["code"] for finding in page["findings"]}, "Server Type varies unseen in these cells"
    assert model["plots"]["x_name"] == "stripe" and model["plots"]["low"] is not None
    by = shown(table, "--response", "Write Rate", "--on", "stripe", "--by", "Server Type")
    assert by["summary"][0]["by"] == ["Server Type"]


@pytest.mark.long
def test_a_parquet_gives_the_same_page(table, tmp_path):
    pd.read_csv(table, sep=";", comment="#", encoding="utf-8-sig").to_parquet(tmp_path / "runs.parquet")
    one, other = shown(table), shown(tmp_path / "runs.parquet")
    assert one["summary"] == other["summary"]
    assert one["models"]["items"][0]["terms"] == other["models"]["items"][0]["terms"]


def test_what_speaks_against_the_model_is_at_the_top(tmp_path):
    x = np.tile([1, 2, 3, 4, 5], 6)
    noise = np.random.default_rng(1).normal(0, 0.1, 30)
    pd.DataFrame({"x": x, "y": x**2 + noise}).to_csv(tmp_path / "bent.csv", index=False)
    page = shown(tmp_path / "bent.csv", "--response", "y", "--on", "x")
    assert "S301" in {finding["code"] for finding in page["findings"]}
    assert "S301" in {finding["code"] for finding in page["models"]["items"][0]["findings"]}
    pd.DataFrame({"x": x, "y": x + noise}).to_csv(tmp_path / "straight.csv", index=False)
    straight = shown(tmp_path / "straight.csv", "--response", "y", "--on", "x")
    assert not straight["findings"] and page["answers"]["wrong"] != straight["answers"]["wrong"]


def test_what_is_said_of_one_response_is_not_said_of_another_that_has_the_same_code():
    def of(title, sentence):
        return SimpleNamespace(title=title, findings=[Finding("S307", Severity.WARNING, sentence)])

    told = select_top_findings(
        Section(
            (
                of("write", "nothing (F=1.96, p=0.12)"),
                of("read", "only 24 %"),
                of("copy", "nothing (F=0.585, p=5e-05)"),
            )
        )
    )
    write, read = (one.sentence for one in told)
    assert write.startswith("write: nothing (F=1.96, p=0.12); ") and " 1 " in write and read == "read: only 24 %"


def test_rows_without_repeats_are_cells_as_in_a_summary(tmp_path):
    """The page averaged them over the sizes."""
    rng = np.random.default_rng(2)
    size = rng.uniform(1, 100, 30)
    frame = pd.DataFrame({"fs": ["a", "b"] * 15, "size_KiB": size, "time (s)": 3 + size / 7 + rng.normal(0, 1, 30)})
    frame.to_csv(tmp_path / "free.csv", index=False)
    page = shown(tmp_path / "free.csv", "--response", "time (s)")
    assert page["summary"][0]["by"] == ["fs", "size_KiB"]
    (model,) = page["models"]["items"]
    assert model["on"] == ["fs", "size_KiB"] and model["anova"] == [] and "levels" in model["anova_note"]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("fs,y\na,1.5\na,1.7\na,1.9\na,2.2\n", "no setting varies"),
        ("fs,y\na,1.5\na,1.7\nb,1.9\nb,2.2\nb,2.8\nb,2.1\n", "at two levels"),
        ("n,m,y\n1,1,1.5\n2,1,1.7\n4,2,1.9\n8,2,2.2\n", "too few for a regression"),
        ("n,y\n" + "".join(f"{n},5\n" for n in (1, 2, 4, 8) * 3), "the same"),
    ],
)
def test_why_there_is_no_regression_is_said(tmp_path, rows, says):
    (tmp_path / "t.csv").write_text(rows)
    models = shown(tmp_path / "t.csv", "--response", "y")["models"]
    assert models["items"] == []
    assert says in models["missing"][0]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--response", "Rate"], "unknown column 'Rate'"),
        (["--on", "strip"], "unknown column 'strip'"),
        (["--response", "Write Rate", "--on", "Write Rate [MB/s]"], "both the response and a predictor"),
        (["--where", "stripe=3"], "no row fulfils"),
        (["--level", "1"], "not between 0 and 1"),
    ],
)
def test_wrong_input_is_one_sentence_and_leaves_nothing(table, tmp_path, words, says):
    code, _, message = run(table, "-o", tmp_path / "page.html", *words)
    assert code == 2 and says in message
    assert not (tmp_path / "page.html").exists()


@pytest.fixture(scope="module")
def scaled(tmp_path_factory):
    """A store of 1, 2, 3 nodes whose writes grow by 100 MiB/s a node."""
    path = tmp_path_factory.mktemp("models") / "store"
    store, rng = Store.create(path), np.random.default_rng(1)
    for repetition in range(4):
        for nodes in (1, 2, 3):
            value = 2**20 * (50 + 100 * nodes + rng.standard_normal())
            row = Observation("write_large", "bandwidth_last_done", value, "bytes/s", None, repetition, 10, "close")
            store.append(
                sample_run(
                    nodes, repetition, rng, id=f"r{nodes}{repetition}", observations=[row], operations=None, phases=[]
                )
            )
    return path


def test_a_stores_page_explains_each_metric_by_what_varies(scaled):
    page = page_of(ReportQuery(str(scaled), again=("iosonde",)))
    (model,) = page.models.items
    assert (model.title.split(",")[0], model.on, model.unit) == ("Write", ("nodes",), "bytes/s")
    slope = model.terms[1].estimate
    assert slope.low < 100 * 2**20 < slope.high and slope.value == pytest.approx(100 * 2**20, rel=0.02)
    assert f"adds {slope.value / 2**20:.3g} MiB/s to Write" in model.sentence
    assert [part.name for part in model.anova] == ["nodes", "residual"] and model.anova[0].share > 0.99
    assert [len(one.rows) for one in page.summary] == [3]


def test_a_stores_page_takes_terms_and_refuses_wrong_ones(scaled, tmp_path):
    assert shown(scaled, "--on", "log2(nodes)")["models"]["items"][0]["on"] == ["log2(nodes)"]
    assert run(scaled, "--on", "node_count", "-o", tmp_path / "a.html")[0] == 2
    assert run(scaled, "--by", "node_count", "-o", tmp_path / "a.html")[0] == 2
    assert shown(scaled, "--by", "nodes")["summary"][0]["by"] == ["nodes"]
    assert list(tmp_path.iterdir()) == []


def test_a_stores_rows_are_a_table_where_a_response_is_named(scaled):
    page = shown(scaled, "--response", "value", "--on", "nodes")
    assert page["models"]["items"][0]["n"] == 12 and page["bars"]["items"] == []


def test_a_headline_over_many_factors_names_no_levels():
    from iosonde.commands.report.of_table import _format_mean_range
    from iosonde.core.table import build_table
    from iosonde.stats.overview import overview
    from iosonde.stats.overview.cells import TrialCell

    def made(*names, **constants):
        cells = [
            TrialCell({**constants, **dict.fromkeys(names, n)}, "y", "bytes/s", np.array([n * 1e6, n * 1.1e6]), "")
            for n in (1, 2)
        ]
        subject = checks.Subject(cells, 0.95, table=build_table({"y": [1.0]}))
        return overview._build_overview(subject, [*constants, *names], [])

    assert "over 2 settings" in _format_mean_range(made("a", "b", "n"), "y", "f.csv")
    assert "at a=1, n=1" in _format_mean_range(made("a", "n", b=5), "y", "f.csv")


def test_a_page_of_counts_that_are_the_same_in_every_repetition(tmp_path):
    """A line that goes through all of them leaves no error, and its coefficients have no t and no p."""
    (tmp_path / "t.csv").write_text("nodes,sent (bytes)\n" + "1,824\n2,1648\n4,3296\n" * 3)
    code, _, message = run(tmp_path / "t.csv", "--response", "sent", "--on", "nodes", "-o", tmp_path / "p.html")
    assert code == 0, message
    said = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert '<td class="n">~</td>' in said


@pytest.mark.parametrize(("rest", "is_claimed"), [(4.0, False), (1.0, True)])
def test_the_page_claims_no_effect_that_turns_when_the_rest_is_held(tmp_path, rest, is_claimed):
    """B was mostly run at the size that is ``rest`` times as fast, and is 0.8 times as fast at each."""
    noise, lines = np.random.default_rng(1), ["fs,size,speed"]
    for fs, size, n in (("A", 4, 20), ("A", 1024, 4), ("B", 4, 4), ("B", 1024, 20)):
        speed = 100 * (rest if size > 4 else 1) * (0.8 if fs == "B" else 1)
        lines += [f"{fs},{size},{speed * noise.normal(1, 0.03):.2f}" for _ in range(n)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    content = shown(tmp_path / "t.csv", "--response", "speed", "--on", "fs")
    (model,), (influence,) = content["models"]["items"], content["influences"]["items"]
    said = [model["sentence"], model["anova_note"], influence["ranking"]["sentence"]]
    claims = ("significant effects: ", "belongs to ", "fs first")
    assert [claim in one for claim, one in zip(claims, said, strict=True)] == [is_claimed] * 3
    assert all("varies-besides" in verdict["doubts"] for verdict in content["verdicts"])
