"""Phoronix Test Suite's composite.xml: as its documents are built; figures of our own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import UnknownFormatError
from iosonde.importers import Text, Understood, understand
from messages import has_message

SYSTEM = """  <System>
    <Identifier>{name}</Identifier>
    <Hardware>Disk: 1000GB Example</Hardware>
    <Software>OS: Example 1.0, File-System: xfs</Software>
    <TimeStamp>2026-11-20 12:00:00</TimeStamp>
    <TestClientVersion>10.8.6</TestClientVersion>
  </System>
"""


def write_entry(system: str, value: str, raw: str = "") -> str:
    raw = f"<RawString>{raw}</RawString>" if raw else ""
    return f"<Entry>\n<Identifier>{system}</Identifier>\n<Value>{value}</Value>\n{raw}<JSON></JSON>\n</Entry>\n"


def write_result(scale: str, entries: str, test: str = "pts/fio-2.1.0", description: str = "Type: Random Read") -> str:
    return (
        f"<Result>\n<Identifier>{test}</Identifier>\n<Title>Flexible IO Tester</Title>\n<AppVersion>3.35</AppVersion>\n"
        f"<Description>{description}</Description>\n<Scale>{scale}</Scale>\n<Proportion>HIB</Proportion>\n"
        f"<DisplayFormat>BAR_GRAPH</DisplayFormat>\n<Data>\n{entries}</Data>\n</Result>\n"
    )


def write_document(results: str, systems: tuple[str, ...] = ("nvme",)) -> str:
    described = "".join(SYSTEM.format(name=name) for name in systems)
    generated = "<Generated><TestClient>Phoronix Test Suite v10.8.4</TestClient></Generated>\n"
    return f'<?xml version="1.0"?>\n<PhoronixTestSuite>\n{generated}{described}{results}</PhoronixTestSuite>\n'


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "composite.xml"))


def get_values(reading: Understood, metric: str, run: int = 0) -> list[float]:
    return [row.value for row in reading.runs[run].rows if row.metric == metric]


def lacks(reading: Understood, code: str) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code)


def test_executions_of_a_test_are_iterations_with_its_settings():
    description = "Type: Random Read - Engine: IO_uring - Block Size: 4KB"
    reading = read_text(
        write_document(write_result("IOPS", write_entry("nvme", "1200", "1190:1210"), description=description))
    )
    run = reading.runs[0]
    assert (reading.format, len(reading.runs), run.missing, reading.others) == ("phoronix", 1, [], {})
    assert (run.version, run.started_at, run.factors) == ("10.8.6", "2026-11-20T12:00:00", {"system": "nvme"})
    assert get_values(reading, "rate") == [1190, 1210] and get_values(reading, "rate_mean") == [1200]
    assert run.rows[0].operation == "fio"
    assert run.rows[0].factors == {
        "test": "pts/fio-2.1.0",
        "type": "Random Read",
        "engine": "IO_uring",
        "block_size": "4KB",
    }
    text = write_document("").splitlines()
    assert text[1] == "<PhoronixTestSuite>"
    assert all(row.line > 9 for row in run.rows)


@pytest.mark.parametrize(
    ("scale", "metric", "factor"),
    [
        ("MB/s", "bandwidth", 1e6),
        ("MiB/s", "bandwidth", 2.0**20),
        ("GB/s", "bandwidth", 1e9),
        ("Bytes/sec", "bandwidth", 1.0),
        ("Seconds", "time", 1.0),
        ("ms", "latency", 1e-3),
        ("Score", "result", 1.0),
        ("Mb/s", "result", 1.0),
    ],
)
def test_scales_are_base_units(scale, metric, factor):
    reading = read_text(write_document(write_result(scale, write_entry("nvme", "250"))))
    assert get_values(reading, metric) == [pytest.approx(250 * factor)]
    is_assumed = has_message((note.sentence for note in reading.warnings), "assumed-unit")
    assert is_assumed == (scale in ("MB/s", "GB/s"))


def test_each_system_is_a_run():
    entries = write_entry("nvme", "10") + write_entry("nfs &amp; tcp", "20")
    reading = read_text(write_document(write_result("MB/s", entries), ("nvme", "nfs &amp; tcp")))
    assert [run.factors["system"] for run in reading.runs] == ["nvme", "nfs & tcp"]
    assert [get_values(reading, "bandwidth", run) for run in range(2)] == [[1e7], [2e7]]


def test_what_has_no_number_or_is_cut_is_incomplete():
    assert lacks(read_text(write_document(write_result("MB/s", write_entry("nvme", "")))), "no-results")
    text = write_document(
        write_result("MB/s", write_entry("nvme", "10")) + write_result("IOPS", write_entry("nvme", "5"))
    )
    cut = read_text(text[: text.rindex("<Scale>")])
    assert lacks(cut, "damaged-lines") and get_values(cut, "bandwidth") == [1e7]
    graph = read_text(write_document(write_result("MB/s", write_entry("nvme", "1,2,3") + write_entry("x", "4"))))
    assert has_message((note.sentence for note in graph.warnings), "samples-left-out")
    broken = read_text(write_document(write_result("IOPS", write_entry("nvme", "5", "4:x"))))
    assert lacks(broken, "invalid-number") and get_values(broken, "rate") == [5]


def test_the_definition_of_a_test_is_not_claimed():
    with pytest.raises(UnknownFormatError):
        read_text("<PhoronixTestSuite>\n<TestInformation><Title>x</Title></TestInformation>\n</PhoronixTestSuite>\n")


@given(st.lists(st.lists(st.integers(1, 10**9), min_size=1, max_size=5), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_every_execution_keeps_its_number(tests):
    results = "".join(
        write_result(
            "IOPS", write_entry("nvme", str(numbers[0]), ":".join(map(str, numbers))), test=f"pts/t{place}-1.0"
        )
        for place, numbers in enumerate(tests)
    )
    reading = read_text(write_document(results))
    for place, numbers in enumerate(tests):
        rows = [row for row in reading.runs[0].rows if row.operation == f"t{place}" and row.metric == "rate"]
        assert [(row.iteration, row.value) for row in rows] == list(enumerate(numbers))
