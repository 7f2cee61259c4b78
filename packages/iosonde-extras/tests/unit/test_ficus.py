"""Result lines of the Ficus project."""

import pytest

from importer_reading import describe_run
from iosonde.importers import understand
from iosonde.importers.text import Text


def of(text, name="x"):
    return understand(Text(text.encode(), name))


def test_ficus_line_g27():
    found = of(".../RESULTS/950531.211023/benchtimes:ficus mab 2 162.9 real 83.2 user 40.9 sys\n")
    run = found.runs[0]
    assert found.format == "ficus" and run.started_at == "1995-05-31T21:10:23"
    assert run.factors == {"fs": "ficus", "benchmark": "mab", "replicas": 2}
    assert run.facts == {"date": "1995-05-31", "time": "21:10:23"}
    assert {row.metric: row.value for row in run.rows} == {"real": 162.9, "user": 83.2, "sys": 40.9}


def test_ficus_a_file_benchtimes_read_whole_its_directory_says_when():
    text = "ficus mab 2 162.9 real 83.2 user 40.9 sys\nufs cp 0 170.9 real 3.2 user 40.9 sys\nrm: no such file\n"
    found = of(text, "K/RESULTS/950531.211023/benchtimes")
    assert found.format == "ficus" and [run.started_at for run in found.runs] == ["1995-05-31T21:10:23"] * 2
    assert [run.factors["fs"] for run in found.runs] == ["ficus", "ufs"]
    assert [note.line for note in found.runs[1].warnings] == [3]
    alone = of(text, "benchtimes").runs[0]
    assert alone.started_at == "" and alone.warnings[0].sentence.code == "unknown-time"


@pytest.mark.parametrize(
    ("text", "name", "reading"),
    [
        (
            "K/950531.211023/benchtimes:ficus mab 2 162.9 real 83.2 user 40.9 sys\n\nrm: no such file",
            "x",
            [
                'run ficus ["", "1995-05-31T21:10:23", 0.0]',
                '  factors {"fs": "ficus", "benchmark": "mab", "replicas": 2}',
                '  facts {"date": "1995-05-31", "time": "21:10:23"}',
                "  1 mab real 162.9 s",
                "  1 mab user 83.2 s",
                "  1 mab sys 40.9 s",
                "  warnings line 3: unreadable-lines {}",
            ],
        ),
        (
            "ufs cp 0 3.0 real 2.5 user 0.6 sys",
            "RESULTS/690229.000000/benchtimes",
            [
                'run ficus ["", "", 0.0]',
                '  factors {"fs": "ufs", "benchmark": "cp", "replicas": 0}',
                "  1 cp real 3 s",
                "  1 cp user 2.5 s",
                "  1 cp sys 0.6 s",
                '  warnings line 1: invalid-time {"date": "690229", "time": "000000"}',
                "  warnings line 1: damaged-lines {}",
            ],
        ),
        (
            "ufs cp 0 3.1 real 2.5 user 0.6 sys",
            "RESULTS/700101.000000/benchtimes",
            [
                'run ficus ["", "1970-01-01T00:00:00", 0.0]',
                '  factors {"fs": "ufs", "benchmark": "cp", "replicas": 0}',
                '  facts {"date": "1970-01-01", "time": "00:00:00"}',
                "  1 cp real 3.1 s",
                "  1 cp user 2.5 s",
                "  1 cp sys 0.6 s",
            ],
        ),
        (
            "ufs cp 0 3.1.4 real 2.5 user 0.6 sys",
            "RESULTS/691231.235959/benchtimes",
            [
                'run ficus ["", "2069-12-31T23:59:59", 0.0]',
                '  factors {"fs": "ufs", "benchmark": "cp", "replicas": 0}',
                '  facts {"date": "2069-12-31", "time": "23:59:59"}',
                "  missing line 1: invalid-number {}",
            ],
        ),
    ],
)
def test_a_line_of_ficus_is_read_as_a_whole(text, name, reading):
    [run] = of(text, name).runs
    assert list(describe_run(run)) == reading
