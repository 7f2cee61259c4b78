"""elbencho --livecsv stdout: samples stand between the head of the result table and its rows."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.importers import Text, Understood, understand
from messages import has_message

MIB = 2.0**20
HEAD = """OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
=========== ================    ==========   =========
"""
LIVE = (
    "Label,Phase,RuntimeMS,Rank,MixType,Done%,DoneBytes,MiB/s,IOPS,Entries,Entries/s,"
    "Lat Ent us,Lat IO us,Active,CPU,Service,\n"
)


def write_sample(phase: str, ms: int, speed: int, dated: bool) -> str:
    date = "2026-11-20T11:58:08.821-0600," if dated else ""
    return f"{date},{phase},{ms},Total,,35,{ms * 1000},{speed},{2 * speed},0,0,0,10549,64,5,,\n"


def write_rows(phase: str, first: int, last: int) -> str:
    return (
        f"{phase:<11} Elapsed time     : {3001:>9}ms {3105:>9}ms\n"
        f"            IOPS             : {2 * first:>11} {2 * last:>11}\n"
        f"            Throughput MiB/s : {first:>11} {last:>11}\n"
        f"            Total MiB        : {3 * first:>11} {3 * last:>11}\n---\n"
    )


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(reading: Understood, metric: str, run: int = 0) -> list[float]:
    return [row.value for row in reading.runs[run].rows if row.metric == metric]


def write_log(phase: str, dated: bool, speeds: list[int], first: int, last: int) -> str:
    samples = "".join(write_sample(phase, 1000 * place + 1, speed, dated) for place, speed in enumerate(speeds))
    return f"{HEAD}{'ISO Date,' if dated else ''}{LIVE}{samples}{write_rows(phase, first, last)}"


def test_the_table_is_read_besides_the_samples():
    reading = read_text(write_log("READ", True, [30000, 30100], 30600, 30500))
    assert (reading.format, len(reading.runs), reading.runs[0].missing) == ("elbencho", 1, [])
    assert get_values(reading, "bandwidth_last_done") == [30500 * MIB]
    assert get_values(reading, "bandwidth_first_done") == [30600 * MIB]
    assert get_values(reading, "access_rate_last_done") == [61000]
    assert get_values(reading, "bandwidth_sample") == [30000 * MIB, 30100 * MIB]
    assert not has_message((note.sentence for note in reading.warnings), "samples-only")


def test_samples_alone_still_say_so():
    reading = read_text(LIVE + write_sample("READ", 1001, 500, False))
    assert has_message((note.sentence for note in reading.warnings), "samples-only")


def test_a_table_cut_after_its_samples_is_incomplete():
    log = write_log("READ", True, [30000], 30600, 30500)
    reading = read_text(log[: log.index("READ        Elapsed")])
    assert reading.runs[0].missing
    assert get_values(reading, "bandwidth_sample") == [30000 * MIB]


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=5),
    st.integers(1, 10**6),
    st.integers(1, 10**6),
    st.booleans(),
    st.integers(1, 3),
)
@settings(max_examples=40, deadline=None)
def test_every_table_keeps_its_numbers_and_samples(speeds, first, last, dated, n_runs):
    log = "".join(write_log("WRITE", dated, speeds, first + place, last + place) for place in range(n_runs))
    reading = read_text(log)
    assert len(reading.runs) == n_runs
    for place in range(n_runs):
        assert get_values(reading, "bandwidth_last_done", place) == [(last + place) * MIB]
        assert get_values(reading, "bandwidth_first_done", place) == [(first + place) * MIB]
        assert get_values(reading, "bandwidth_sample", place) == [speed * MIB for speed in speeds]
