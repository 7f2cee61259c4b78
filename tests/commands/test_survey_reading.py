"""How fast drawn files were read: kinds and states apart, never one number; what was partly in memory in none."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

pytest.importorskip("iosonde.engine._native")
from iosonde.commands.survey.answer import SurveyQuery, survey  # noqa: E402
from iosonde.commands.survey.reading import estimate_read_speeds  # noqa: E402
from iosonde.engine._native import read_timed  # noqa: E402
from iosonde.survey.contents import Contents, Piece  # noqa: E402

MIB = 2**20


def file(kind: str, *pieces: tuple[float, bool | None], size: int = MIB) -> Contents:
    """Pieces of a size: (seconds, in memory)."""
    return Contents(kind, tuple(Piece(size, 0, 0, b"", 0.0, {}, {}, {}, s, cached) for s, cached in pieces))


def test_rates_are_geometric_means_over_files_by_kind_and_state():
    found = estimate_read_speeds(
        [
            file("text", (1.0, False)),
            file("text", (0.25, False)),
            file("text", (0.01, True)),
            file("tar", (1.0, None)),
            file("text", (1.0, True), (1.0, False)),
            Contents("text"),
            Contents(None, why="denied"),
        ],
        0.95,
    )
    said = {(one.kind, one.state): (one.rate.value / MIB, one.rate.n, one.read_bytes / MIB) for one in found}
    assert said == {
        ("text", "cold"): (pytest.approx(2.0), 2, 2),
        ("text", "cached"): (pytest.approx(100), 1, 1),
        ("tar", "unknown"): (pytest.approx(1.0), 1, 1),
    }
    cold = next(one.rate for one in found if one.state == "cold")
    logs = np.log([1.0, 4.0])
    half = 12.706204736 * logs.std(ddof=1) / np.sqrt(2)
    assert cold.low / MIB == pytest.approx(np.exp(logs.mean() - half))
    assert next(one.rate for one in found if one.state == "cached").low is None, "one file has no interval"


def test_pieces_of_one_file_are_one_rate():
    (one,) = estimate_read_speeds([file("text", (1.0, True), (3.0, True))], 0.95)
    assert one.rate.value == pytest.approx(MIB / 2) and one.read_bytes == 2 * MIB


def test_a_timed_read_gives_the_bytes(tmp_path):
    (tmp_path / "a").write_bytes(bytes(range(200)))
    handle = os.open(tmp_path / "a", os.O_RDONLY)
    try:
        data, ns, cached = read_timed(handle, 100, 500)
        assert data == bytes(range(100, 200)) and ns > 0 and cached in (True, None)
        assert read_timed(handle, 500, 10)[0] == b""
        with pytest.raises(OSError):
            read_timed(-1, 0, 1)
    finally:
        os.close(handle)


def test_a_survey_has_them_and_without_codecs_none(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("some text " * 2000)
    (one,) = survey(SurveyQuery(str(tmp_path))).reading
    assert (one.kind, one.rate.n, one.read_bytes) == ("text", 3, 60_000) and one.rate.value > 0
    told = json.loads(json.dumps(one.to_json()))
    assert told["rate"]["value"] == one.rate.value and told["at_once"] == 8
    assert survey(SurveyQuery(str(tmp_path), codecs=())).reading == ()
