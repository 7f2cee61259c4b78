"""What figures say alike stands in the page once, and is put back as it was."""

import json

from iosonde.commands.report.section import build_page_specs
from iosonde.page.carried import REFERENCE, share_parts
from iosonde.page.environment import _format_cell
from page_sample import model_page, sample_page

AXIS = {"title": "nodes", "labelAngle": 0, "ticks": False, "values": [1, 2, 4]}
LONG = "a tooltip that is said of the same trial in two figures"


def figure(*rows, title="nodes"):
    encoding = {"x": {"field": "x", "type": "nominal", "axis": {**AXIS, "title": title}}}
    return {"width": 300, "layer": [{"data": {"values": list(rows)}, "mark": {"type": "bar"}, "encoding": encoding}]}


def put_back(parts, specs):
    return {
        place: json.loads(json.dumps(spec), object_hook=lambda one: parts[one[REFERENCE]] if REFERENCE in one else one)
        for place, spec in specs.items()
    }


def test_what_is_said_once_stays_where_it_is():
    specs = {"a": figure({"x": "1"}), "b": figure({"x": "1"}, title="ranks")}
    assert share_parts(specs) == ([], specs)


def test_what_is_said_again_stands_there_once_and_rows_stay():
    specs = {"a": figure({"x": "1", "tip": LONG}), "b": figure({"x": "1", "tip": LONG}, {"x": "2", "tip": "short"})}
    parts, shared = share_parts(specs)
    assert sorted(parts, key=str) == sorted([specs["a"]["layer"][0]["encoding"], LONG], key=str)
    rows = shared["b"]["layer"][0]["data"]["values"]
    assert rows[1] == {"x": "2", "tip": "short"} and rows[0]["x"] == "1" and list(rows[0]["tip"]) == [REFERENCE]
    assert put_back(parts, shared) == specs


def test_the_figures_of_a_page_are_the_same_and_smaller():
    for page in (sample_page(), model_page()):
        specs = build_page_specs(page)
        parts, shared = share_parts(specs)
        assert put_back(parts, shared) == json.loads(json.dumps(specs))
        assert len(json.dumps([parts, shared])) < 0.8 * len(json.dumps(specs))


def test_evidence_of_several_parts_is_no_code():
    said = _format_cell([{"phase": "read", "index": 1.25, "low": None}, {"phase": "write", "index": 2.0}])
    parts = [part.split(", ") for part in said.split("; ")]
    assert [[word.split() for word in part] for part in parts] == [
        [["phase", "read"], ["index", "1.25"], ["low"]],
        [["phase", "write"], ["index", "2"]],
    ]
