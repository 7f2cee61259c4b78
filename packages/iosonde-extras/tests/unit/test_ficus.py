"""Result lines of the Ficus project."""

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
