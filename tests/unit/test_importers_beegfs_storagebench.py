"""BeeGFS's storagebench: written after its sources; figures of our own, values by hand."""

from __future__ import annotations

from pathlib import Path

from iosonde.importers import Text, Understood, understand
from messages import has_message

SAMPLE = (Path(__file__).parents[1] / "golden" / "fixtures" / "beegfs-storagebench" / "sample-verbose.txt").read_text()
STATUS = SAMPLE[SAMPLE.rindex("Server benchmark status:") :]
KIB = 1024
FAILED = """
Some errors occurred:
stor1 [ID: 1]: I/O operation on disk failed.
For more details look into the storage server log file on the mentioned storage server.

Server benchmark status:
Error:        1
Finished:     1
"""


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(reading: Understood, run: int = 0) -> dict[tuple[str, str, int | None], float]:
    return {(row.operation, row.metric, row.rank): row.value for row in reading.runs[run].rows}


def lacks(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code, **values)


def test_the_status_has_the_sum_and_each_target():
    reading = read_text(STATUS)
    run = reading.runs[0]
    assert (reading.format, len(reading.runs), run.missing, reading.others) == ("beegfs-storagebench", 1, [], {})
    assert run.factors == {"servers": 2, "targets": 3}
    assert run.facts["slowest_target"] == "stor2 [ID: 2]: 201"
    assert run.facts["targets"][0] == "101 stor1 [ID: 1]"
    assert run.contradictions == []
    assert get_values(reading) == {
        ("write", "bandwidth_sum_of_ranks", None): 1536000 * KIB,
        ("write", "bandwidth_rank_min", None): 409600 * KIB,
        ("write", "bandwidth_rank_max", None): 614400 * KIB,
        ("write", "bandwidth_rank_mean", None): 512000 * KIB,
        ("write", "bandwidth_own", 101): 614400 * KIB,
        ("write", "bandwidth_own", 201): 409600 * KIB,
        ("write", "bandwidth_own", 202): 512000 * KIB,
    }


def test_the_command_that_started_it_gives_the_settings():
    reading = read_text(SAMPLE)
    assert len(reading.runs) == 1
    settings = reading.runs[0].factors
    assert (settings["block_size"], settings["file_size"], settings["threads"]) == (512 * KIB, 20 * KIB**3, 8)
    assert not reading.runs[0].missing


def test_servers_that_still_run_make_the_numbers_intermediate():
    reading = read_text(STATUS.replace("Finished:     2", "Running:      1\nFinished:     1"))
    assert lacks(reading, "not-finished", n_servers=1, state="Running")
    assert len(reading.runs[0].rows) == 7


def test_each_status_of_a_watched_benchmark_is_a_run():
    read = STATUS.replace("Write benchmark", "Read benchmark")
    reading = read_text(STATUS.replace("Finished", "Running") + STATUS + read)
    assert [bool(run.missing) for run in reading.runs] == [True, False, False]
    assert ("read", "bandwidth_sum_of_ranks", None) in get_values(reading, 2)


def test_errors_of_servers_are_failures():
    reading = read_text(FAILED)
    assert len(reading.runs) == 1
    assert lacks(reading, "tool-failed")
    assert lacks(reading, "not-finished", n_servers=1, state="Error")


def test_a_status_without_its_aggregate_is_incomplete():
    assert lacks(read_text(STATUS[: STATUS.index("Aggregate")]), "ended-early")
    assert lacks(read_text(STATUS[: STATUS.index("1536000") + 3] + "\n"), "damaged-lines")


def test_a_sum_that_is_none_is_not_believed():
    reading = read_text(STATUS.replace("1536000", "3072000"))
    assert [entry.code for entry in reading.runs[0].contradictions] == ["S135"]
