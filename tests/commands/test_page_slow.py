"""The page's section on slow operations: the last trial's, where it has several classes, in a figure and a table."""

from __future__ import annotations

import dataclasses
import json
import re

import diagnose_sample as sample
import numpy as np

from iosonde.commands.diagnose import trials as diagnose_trials
from iosonde.commands.diagnose.for_page import build_part
from iosonde.commands.report.html import render_page_html
from iosonde.commands.report.parts import build_sections
from iosonde.commands.report.section import build_page_document, build_page_specs, render
from iosonde.data.source import open_data
from page_sample import sample_page


def store(path, *rules, n: int = 2000, **changes):
    sample.store(path, [sample.rows(n, 2, rule, np.random.default_rng(1)) for rule in rules], **changes)
    return open_data(path)


def every_8th(rank, number, offset):
    return number % 8 == 0


def test_the_last_trial_is_drawn_with_its_classes(tmp_path):
    made = build_part(store(tmp_path / "s", lambda r, i, o: i < 0, every_8th), 0.95)
    assert [(one.trials, one.n, len(one.classes)) for one in made.groups] == [(1, 4000, 2)]
    page = dataclasses.replace(sample_page(), parts={"slow": made})
    text = render_page_html(page)
    assert 'id="slow"' in text and 'href="#slow"' in text and re.search(r"S401: [^<]*\b8\b", text)
    assert len(json.dumps(build_page_specs(page, build_sections(page.parts))["slow-1"])) < 1_000_000
    assert build_page_document(page)["slow"]["classes"][1]["label"] == "slow"


def test_where_there_is_nothing_to_say_there_is_no_section(tmp_path, monkeypatch):
    assert build_part(store(tmp_path / "one", lambda r, i, o: i < 0), 0.95) is None
    assert build_part(store(tmp_path / "few", every_8th, n=10), 0.95) is None
    several = store(tmp_path / "large", every_8th)
    monkeypatch.setattr(diagnose_trials, "IN_MEMORY", 100)
    assert build_part(several, 0.95) is None
    text = render(sample_page())
    assert 'id="slow"' not in text and "slow" not in build_page_document(sample_page())
