"""How long an application should take, of a table whose settings differ; what cannot be asked says why."""

from __future__ import annotations

import itertools

import pytest

from iosonde.commands.bound import application as bound_application
from iosonde.commands.bound.application import predict_times
from iosonde.commands.bound.bounded_cells import BoundCell
from iosonde.commands.bound.inputs import SystemDescription, read_inputs
from iosonde.core.errors import InputError
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from messages import raises

TIMES = "nodes,steps,time (s)\n1,10,2.0\n1,10,2.2\n1,10,2.1\n2,10,3.2\n2,10,3.0\n2,10,3.1\n"
WORDS = {"compute": "steps * 0.1", "write": "nodes * steps * 1e6"}


@pytest.fixture
def source(tmp_path):
    (tmp_path / "times.csv").write_text(TIMES)
    return open_data(str(tmp_path / "times.csv"))


def _inputs(source):
    return read_inputs(SystemDescription({"network": "10MB/s", "clients": "nodes"}), source.table, 0.95)


def test_each_setting_has_its_own_prediction_beside_what_was_measured(source):
    made = predict_times(source, _inputs(source), ResponseQuery(response=("time",), on=("nodes",)), WORDS)
    assert [one.by for one in made.rows] == [{"nodes": 1}, {"nodes": 2}]
    assert [one.predicted.value for one in made.rows] == [2.0, 3.0]  # one server's link, and a second of computing
    assert [one.measured.n for one in made.rows] == [3, 3]
    assert made.rows[0].ratio.value == pytest.approx(1.05) and made.rows[0].ratio.low < 1.05 < made.rows[0].ratio.high
    assert made.records()[1]["nodes"] == 2 and made.content()["rows"][0]["parts"] == {"compute": 1.0, "write": 1.0}
    assert "1.03 to 1.05" in made.sentence and made.sentence.count("2") == 2


def test_without_data_only_what_is_predicted_is_said(source):
    alone = read_inputs(SystemDescription({"network": "10MB/s"}), None, 0.95)
    made = predict_times(None, alone, ResponseQuery(), {"compute": "1", "write": "1e6 * 10"})
    assert made.rows[0].predicted.value == 2.0 and made.rows[0].measured.n == 0


@pytest.mark.parametrize(
    ("words", "name"), [({"computes": "1"}, "computes"), ({"write": "node"}, "node"), ({"write": "nodes +"}, "nodes +")]
)
def test_what_cannot_be_said_of_an_application(source, words, name):
    with pytest.raises(InputError) as refused:
        predict_times(source, _inputs(source), ResponseQuery(response=("time",), on=("nodes",)), words)
    assert name in refused.value.values.values()


def test_a_factor_that_varies_within_a_setting_is_refused(source):
    inputs = read_inputs(SystemDescription({"network": "10MB/s", "clients": "2"}), source.table, 0.95)
    with raises("varies-within-cell"):
        predict_times(source, inputs, ResponseQuery(response=("time",), on=("steps",)), {"write": "nodes * 1e6"})


class _TwoLabs:
    """Labs of which each trial had another one, as where a disk without a limit is measured at each bring-up."""

    warnings = ()

    def __init__(self, truths):
        self.truths = truths

    def apart(self, response, found):
        return [
            BoundCell(cell.by | {"lab_disk": str(i)}, cell.rows[i : i + 1])
            for cell in found
            for i in range(len(cell.rows))
        ]

    def truth(self, runs):
        return next(self.truths)


@pytest.mark.parametrize(("disks", "rows"), [([50e6, 80e6], 2), ([5e6, 50e6], 6)])
def test_labs_that_differ_in_what_does_not_limit_are_one_setting(source, monkeypatch, disks, rows):
    truths = itertools.cycle([{"disk_write": disk, "disks": 1} for disk in (*disks, disks[1])])
    monkeypatch.setattr(bound_application.LabTruths, "from_source", lambda source: _TwoLabs(truths))
    made = predict_times(source, _inputs(source), ResponseQuery(response=("time",), on=("nodes",)), WORDS)
    assert len(made.rows) == rows and sum(one.measured.n for one in made.rows) == 6
