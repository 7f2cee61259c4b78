"""The HTML page: self-contained, small, escaped, honest about what is missing."""

import base64
import csv
import hashlib
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from iosonde.commands.bound.figure import waterfall_figure
from iosonde.commands.plot.content import Bars, Cell
from iosonde.commands.plot.figure_bars import choose_scale
from iosonde.commands.report.section import build_page_document, render
from iosonde.commands.report.section_top import build_top_tables
from iosonde.core.types import Estimate
from iosonde.core.words import format_count, pluralize
from iosonde.page.tables import DataTable
from page_sample import HOSTILE, MiB, bare_page, bound_page, model_page, partial_page, sample_page

PAGES = {"whole": sample_page, "bare": bare_page, "partial": partial_page, "models": model_page, "bound": bound_page}


class Reader(HTMLParser):
    """Elements with their attributes, the text outside scripts and styles, and what each button gives: its name → the
    text or the rows of the table before it."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.text, self.scripts, self._raw = [], [], [], None
        self.taken, self._before, self._reading, self._bare = {}, None, False, False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._watch(tag, dict(attrs))
        self._raw = tag if tag in ("script", "style") else None
        if tag == "script":
            self.scripts.append([dict(attrs), ""])

    def _watch(self, tag, attributes):
        if tag in ("table", "pre"):
            self._before = [] if tag == "table" else [[""]]
        elif tag == "tr":
            self._before.append([])
        elif tag in ("td", "th"):
            self._before[-1].append(attributes.get("data-value", ""))
            self._bare = "data-n" in attributes
        elif "data-name" in attributes:
            self.taken[attributes["data-name"]] = self._before
        text = tag in ("td", "th") and not {"data-value", "data-n"} & {*attributes}
        self._reading = tag == "pre" or self._reading or text

    def handle_endtag(self, tag):
        self._raw, self._bare = None, False
        self._reading = self._reading and tag not in ("td", "th", "pre")

    def handle_data(self, data):
        if self._bare:
            self._before[-1][-1] += data
        if self._reading:
            self._before[-1][-1] += data
        if self._raw == "script":
            self.scripts[-1][1] += data
        elif self._raw is None:
            self.text.append(data)

    def of_class(self, name):
        """The attributes of each element of this class."""
        return [attributes for _, attributes in self.elements if name in attributes.get("class", "").split()]

    def figures(self):
        """Place → specification."""
        parts = next(json.loads(text) for a, text in self.scripts if a.get("id") == "parts")

        def whole(one):
            return parts[one["$part"]] if "$part" in one else one

        return {a["data-figure"]: json.loads(text, object_hook=whole) for a, text in self.scripts if "data-figure" in a}

    def of(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def pages():
    return {name: render(make()) for name, make in PAGES.items()}


@pytest.mark.parametrize("name", PAGES)
def test_the_page_names_no_address_and_loads_nothing(pages, name):
    html = pages[name]
    addresses = re.findall(r"(?:https?:)?//[\w.-]+\.[a-z]{2,}[\w./-]*", re.sub(r"/\*.*?\*/", "", html, flags=re.DOTALL))
    assert {a for a in addresses if a.startswith("http")} <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/2000/xmlns/",
        "http://www.w3.org/1999/xhtml",
        "http://www.w3.org/1999/xlink",
    }
    reader = Reader(html)
    assert not reader.of("link") and not reader.of("iframe") and not reader.of("base") and not reader.of("object")
    assert all("src" not in attributes for tag, attributes in reader.elements)
    assert all(a["href"].startswith("#") for a in reader.of("a"))


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_at_most_1_5_mb(pages, name):
    assert len(pages[name].encode()) < 1_500_000


def test_a_page_of_many_nodes_and_ranks_is_at_most_2_mb():
    assert len(render(sample_page((1, 2, 4, 8, 16, 32), 256)).encode()) < 2_000_000


@pytest.mark.parametrize("name", PAGES)
def test_only_our_scripts_may_run(pages, name):
    reader = Reader(pages[name])
    policy = next(m["content"] for m in reader.of("meta") if m.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in rules["script-src"]
    running = [text for attributes, text in reader.scripts if "type" not in attributes]
    hashes = {f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in running}
    assert hashes == set(rules["script-src"].split())
    assert not any(key.startswith("on") for _, attributes in reader.elements for key in attributes)


def test_text_from_data_is_shown_and_never_run(pages):
    reader = Reader(pages["whole"])
    assert not reader.of("img")
    assert "\x1b" not in pages["whole"]
    assert HOSTILE.replace("\x1b", "\\x1b") in "".join(reader.text)


def test_every_figure_has_its_place_and_its_data(pages):
    reader = Reader(pages["whole"])
    figures = reader.figures()
    places = [attributes["id"] for _, attributes in reader.elements if attributes.get("class") == "plot"]
    assert places == list(figures) and all(figure["layer"] for figure in figures.values())
    assert all(attributes["aria-label"] for _, attributes in reader.elements if attributes.get("role") == "img")
    assert len(reader.of("figure")) == len(places)
    assert pages["whole"].count("<summary>Data</summary>") == len(places) + 1, "and the table of cells"


def test_a_regression_is_shown_with_its_four_plots_tables_and_points(pages):
    reader = Reader(pages["models"])
    assert sorted(reader.figures()) == [f"model-{m}-{k}" for m in (1, 2) for k in (1, 2, 3, 4)]
    text = "".join(reader.text)
    for said in ("80.0 %", "adjusted", "< 0.0001", "harmonic"):
        assert said in text
    links = {name: rows[0][0] for name, rows in reader.taken.items()}
    assert len(links["write-points.csv"].splitlines()) == 1 + 18
    columns = links["write-coefficients.csv"].splitlines()[0].split(",")
    assert [column.partition(" ")[0] for column in columns[:3]] == ["term", "estimate", "low"]
    assert "residual,15," in links["write-variation.csv"]
    assert len(links["t-cells.csv"].splitlines()) == 1 + 3
    assert not {"bars", "latency"} & {attributes.get("id") for _, attributes in reader.elements}


def test_names_in_a_model_are_neither_markup_nor_mathematics(pages):
    reader = Reader(pages["models"])
    assert not reader.of("img") and "\x1b" not in pages["models"]
    title = reader.figures()["model-2-1"]["layer"][0]["encoding"]["x"]["axis"]["title"]
    assert title.startswith(HOSTILE[:40])


def test_the_bound_and_the_advice_are_shown_with_their_data(pages):
    reader = Reader(pages["bound"])
    text = "".join(reader.text)
    for said in ("40 %", "-33.3 %", "disks", "fabric"):
        assert said in text
    series = [row["series"] for row in reader.figures()["losses-1"]["layer"][0]["data"]["values"]]
    assert series[1:] == ["lost", "won", "lost", "delivered"] and series[0] not in series[1:]
    assert {"bound", "advice"} <= {attributes.get("id") for _, attributes in reader.elements}
    assert any(e.get("title", "").startswith("above") for _, e in reader.elements)
    assert not reader.of("img") and HOSTILE.replace("\x1b", "\\x1b") in text
    links = {name: rows[0][0] for name, rows in reader.taken.items()}
    assert len(links["bound.csv"].splitlines()) == 1 + 2
    (losses,) = (text for name, text in links.items() if name.endswith("-losses.csv"))
    (roofline,) = (text for name, text in links.items() if name.endswith("-roofline.csv"))
    assert losses.splitlines()[-1].startswith("delivered,0.3,")
    assert roofline.splitlines()[1].startswith("1,117000000,")


def test_the_bars_of_a_waterfall_stand_where_the_one_before_ended():
    rows = waterfall_figure(bound_page().bound.items[0].losses[0]).spec["layer"][0]["data"]["values"]
    at = 0.0
    for row, value in zip(rows[:-1], (200, 50, -100, 150), strict=True):
        assert (row["x"], row["end"]) == pytest.approx((at, at + value))
        at += value
    assert (rows[-1]["x"], rows[-1]["end"]) == pytest.approx((0, 300))


def test_parts_that_a_page_has_not_are_not_in_its_navigation(pages):
    links = [a["href"] for a in Reader(pages["models"]).of("a") if a.get("href", "").startswith("#")]
    assert "#models" in links and "#cells" in links and "#latency" not in links and "#machine" not in links
    assert {link[1:] for link in links} <= {e.get("id") for _, e in Reader(pages["models"]).elements}


def test_the_csv_of_a_figure_is_its_data(pages):
    page = sample_page()
    names, *lines = Reader(pages["whole"]).taken["write_large-bandwidth_last_done.csv"]
    rows = [dict(zip(names, line, strict=True)) for line in lines]
    assert [int(row["nodes"]) for row in rows] == [1, 2]
    assert float(rows[0]["mean (bytes/s)"]) == pytest.approx(page.bars.items[0].cells[0].estimate.value, rel=1e-8)


def test_the_first_screen_comes_first(pages):
    text = "".join(Reader(pages["whole"]).text)
    first = text[: text.index("Throughput by number of nodes")]
    for heading in ("What was measured", "What it says", "How sure", "What looks wrong", "How fast"):
        assert heading in first
    assert sample_page().answers.headline in first


def test_an_interval_in_the_headline_stays_on_one_line_and_text_stays_text():
    page = sample_page()
    page = replace(page, answers=replace(page.answers, headline="<b>1.25 (0.72–1.77) to 3</b>"))
    html = render(page)
    assert '<h1>&lt;b&gt;<span class="unbroken">1.25 (0.72–1.77)</span> to 3&lt;/b&gt;</h1>' in html


@pytest.mark.parametrize("text", ["</script >", "</script/", "<!--<script", "]]>", "&lt;"])
def test_nothing_in_the_data_of_a_figure_ends_its_script(text):
    page = sample_page()
    bars = replace(page.bars.items[0], unit=text)
    html = render(replace(page, bars=replace(page.bars, items=(bars,))))
    scripts = re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', html, re.DOTALL)
    assert scripts and not [one for one in scripts if set(one) & set("<>&")]
    assert any(text in json.dumps(json.loads(one), ensure_ascii=False) for one in scripts)


def test_what_is_missing_is_said(pages):
    bare = Reader(pages["bare"])
    assert len(bare.of_class("missing")) == 3 and not bare.figures()
    reader = Reader(pages["partial"])
    partial = "".join(reader.text)
    assert re.search(r"\b6 trials", partial) and re.search(r"\b1 of 10,000 ", partial)
    assert len([one for one in reader.of_class("missing") if "unscripted" not in one["class"]]) == 2
    assert "nan" not in partial.lower().split()


def test_the_json_of_a_page_can_be_read_by_anybody():
    data = json.loads(json.dumps(build_page_document(sample_page()), allow_nan=False))
    assert data["iosonde_report"] == 1
    assert data["bars"]["items"][0]["cells"][0]["estimate"].keys() == {"value", "low", "high", "level", "n", "warnings"}


def test_not_a_number_is_no_json():
    bars = Bars("x", "rate", "X", "operations/s", (Cell(1, Estimate(float("nan"), None, None, 0.95, 1)),))
    import dataclasses

    from iosonde.page.tables import Section

    page = dataclasses.replace(bare_page(), bars=Section((bars,)))
    assert build_page_document(page)["bars"]["items"][0]["cells"][0]["estimate"]["value"] is None


def test_text_that_a_spreadsheet_would_run_is_quoted():
    table = DataTable("t", ("host", "x"), (("=cmd()", -1.5), ("@a", None), ("fine", 2)))
    assert list(csv.reader(io.StringIO(table.to_csv())))[1:] == [["'=cmd()", "-1.5"], ["'@a", ""], ["fine", "2"]]
    table = DataTable("t", ("=1+1", "x"), (("-2", "+3.5e-7"), ("-2+3", -0.5)))
    rows = [["'=1+1", "x"], ["-2", "+3.5e-7"], ["'-2+3", "-0.5"]]
    assert list(csv.reader(io.StringIO(table.to_csv()))) == rows, "names, too; a negative number stays a number"


def test_the_first_table_has_a_column_for_each_node_count():
    bandwidth, rate = build_top_tables(sample_page((1, 2, 4, 8)))
    assert bandwidth.title == "Bandwidth" != rate.title
    assert bandwidth.columns == ("1 node", "2 nodes", "4 nodes", "8 nodes")
    row = bandwidth.rows[0]
    assert [mark.place for mark in row.marks] == [0, 1, 2, 3]
    assert [mark.x for mark in row.marks] == sorted(mark.x for mark in row.marks)
    assert row.scaling is not None and row.scaling.value.startswith("81")


def test_one_unit_for_a_row_without_a_leading_zero():
    def bars(*values):
        return Bars(
            "x", "m", "X", "bytes/s", tuple(Cell(i, Estimate(v, None, None, 0.95, 1)) for i, v in enumerate(values))
        )

    assert choose_scale(bars(600 * MiB, 1200 * MiB)) == (MiB, "MiB/s")
    assert choose_scale(bars(5 * MiB, 9000 * MiB)) == (1024 * MiB, "GiB/s")
    assert choose_scale(bars()) == (1.0, "B/s")


def test_nouns():
    assert format_count(1, "node") == "1 node"
    assert format_count(10_000, "rank") == "10,000 ranks"
    assert pluralize("rank per node").split() == ["ranks", "per", "node"]
