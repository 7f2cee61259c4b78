"""``iosonde scale``: the keys that others rely on, the text, and wrong input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import stats_sample
from click.testing import CliRunner

from iosonde.cli import scale
from iosonde.core.errors import DataError, InputError

PROCESSES = str(Path(__file__).parents[1] / "golden" / "data" / "write_by_process_count.csv")
ARGS = (PROCESSES, "--on", "processes", "--response", "write_kb_s", "--by", "fs")


def invoke(*args: str) -> str:
    return CliRunner().invoke(scale.command, list(args), catch_exceptions=False, standalone_mode=False).stdout


def csv(tmp_path, text: str) -> str:
    path = tmp_path / "runs.csv"
    path.write_text(text)
    return str(path)


def test_json_has_every_promised_key():
    made = json.loads(invoke(*ARGS, "--where", "fs=NFS", "--at", "20,1000", "--json"))
    assert {"schema", "level", "on", "series", "warnings"} <= set(made)
    series = made["series"][0]
    assert {"response", "unit", "by", "sizes", "change", "regimes", "predictions", "sentences", "warnings"} <= set(
        series
    )
    assert (series["by"], series["unit"], series["change"]) == ({"fs": "NFS"}, "kb/s", None)
    law = series["regimes"][0]["laws"][1]
    assert {"law", "formula", "identifiable", "why", "parameters", "aicc", "delta_aicc", "misfit_p"} == set(law)
    assert set(law["parameters"]) == {"rate_of_one", "contention", "ceiling"}
    assert [p["kind"] for p in series["predictions"]] == ["extrapolated", "scenario"]
    assert {"size", "n", "rate", "rate_low", "rate_high", "per_one"} <= set(series["sizes"][0])


def test_ten_processes_of_one_node_bring_nothing_on_nfs():
    assert "bring next to nothing" in invoke(*ARGS, "--where", "fs=NFS")


def test_a_missing_value_is_left_out_and_said():
    result = CliRunner().invoke(scale.command, [*ARGS, "--where", "fs=AFS"], standalone_mode=False)
    assert "1 of 10 rows lack a value" in result.stderr


def test_text_fits_a_terminal_and_ends_with_a_sentence():
    text = invoke(*ARGS, "--at", "20,10000")
    assert max(map(len, text.splitlines())) < 80 and text.rstrip().endswith(".")


def test_of_a_store_every_rate_is_a_series(tmp_path):
    stats_sample.store(tmp_path / "s")
    made = json.loads(invoke(str(tmp_path / "s"), "--json"))
    assert [series["response"] for series in made["series"]] == [
        "create rate_last_done", "read_1to1_large bandwidth_last_done"
    ]  # fmt: skip
    efficiency = made["series"][0]["sizes"][1]
    assert efficiency["efficiency_low"] < 0.95 < efficiency["efficiency_high"]


@pytest.mark.parametrize(
    ("text", "args", "error", "said"),
    [
        ("nodes,mib_s\n4,10\n4,11\n", ("--response", "mib_s"), DataError, "one value of nodes"),
        ("nodes,mib_s\n1,10\n2,0\n", ("--response", "mib_s"), DataError, "0 is no rate"),
        ("nodes,mib_s\n1.5,10\n2,3\n", ("--response", "mib_s"), DataError, "1.5 is no number of nodes"),
        ("nodes,mib_s\n1,10\n2,3\n", (), InputError, "--response is missing"),
        ("nodes,mib_s\n1,10\n2,3\n", ("--response", "mib_s", "--at", "x"), InputError, "--at x is no list"),
        ("nodes,mib_s\n1,10\n2,3\n", ("--response", "mib_s", "--by", "nodes"), InputError, "named twice"),
        ("ranks,mib_s\n1,10\n2,3\n", ("--response", "mib_s"), DataError, "no column 'nodes'"),
    ],
)
def test_wrong_input_is_one_sentence(tmp_path, text, args, error, said):
    with pytest.raises(error, match=said):
        invoke(csv(tmp_path, text), *args)
