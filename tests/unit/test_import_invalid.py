"""What a tool itself calls invalid or ended early is incomplete, whichever of its files says so."""

from __future__ import annotations

import zipfile

import pytest
from test_import_repeated import CSV, TEXT
from test_ingest_related_files import directory, imported, ior, of, only, result, summary

from iosonde.importers import Text, understand
from iosonde.importers.damage import drop_implausible_rows, note_reported_failure
from iosonde.importers.parsed import Parsed, Row
from iosonde.store import Store

COMPLAINT = "; ERROR INVALID (src/phase_ior.c) Write phase needed 1.3s instead of stonewall 300s.\n"


def mark_score(text):
    """The score of a list, marked as io500 marks it: behind the number."""
    lines = text.rstrip("\n").split("\n")
    return "\n".join([*lines[:-1], f"{lines[-1]} [INVALID]"]) + "\n"


def complain(text):
    """A complaint in the middle of a list."""
    begin, sign, rest = text.partition("[ior-hard-write]" if "[ior-hard-write]" in text else "[RESULT]        ior-hard")
    assert sign
    return begin + COMPLAINT + sign + rest


def mark_phase(text):
    score, phase = "score           = 1.000000", "1.000000 GiB/s : time 300.500 seconds"
    return text.replace(score, f"{score} [INVALID]", 1).replace(phase, f"{phase} [INVALID]", 1)


@pytest.mark.parametrize("mark", [mark_score, complain, mark_phase])
@pytest.mark.parametrize("files", [{"result__txt": result}, {"result_summary__txt": summary}])
def test_an_invalid_list_is_an_incomplete_run_with_its_numbers_and_the_reason(tmp_path, mark, files):
    assert not understand(Text(next(iter(files.values()))().encode(), "x")).runs[0].missing
    directory(tmp_path / "in", **{name: mark(text()) for name, text in files.items()})
    assert imported(tmp_path / "in", tmp_path / "s")["incomplete"] == 1
    run = only(tmp_path / "s")
    assert "invalid" in run.missing[0].lower() and len(run.missing) == 1
    assert of(run, "score", "total") == [pytest.approx(32**0.5, rel=1e-6)]
    assert of(run, "ior_hard_write", "bandwidth_last_done") == [2.0**30]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("mark", [mark_score, complain])
@pytest.mark.parametrize("marked", ["result.txt", "result_summary.txt"])
def test_of_two_lists_of_a_run_the_one_that_says_invalid_counts(tmp_path, marked, mark, packed):
    texts = {"result.txt": result(), "result_summary.txt": summary(), "ior-easy-write.txt": ior()}
    texts[marked] = mark(texts[marked])
    top = tmp_path / "in"
    top.mkdir()
    if packed:
        with zipfile.ZipFile(top / "all.zip", "w") as archive:
            for name, text in texts.items():
                archive.writestr(name, text)
    else:
        for name, text in texts.items():
            (top / name).write_text(text)
    made = imported(top, tmp_path / "s")
    assert (made["runs"], made["incomplete"]) == (1, 1)
    run = only(tmp_path / "s")
    assert len(run.missing) == 1 and "invalid" in run.missing[0].lower()
    assert run.factors["ranks"] == 8  # of result.txt, which is not cut


@pytest.mark.parametrize("above", [False, True])
def test_the_copy_of_a_list_that_says_invalid_counts_wherever_it_stands(tmp_path, above):
    directory(tmp_path / "in" / "results", result__txt=result(), ior_easy_write__txt=ior())
    directory(tmp_path / "in" if above else tmp_path / "in" / "results", result_summary__txt=mark_score(summary()))
    made = imported(tmp_path / "in", tmp_path / "s")
    assert (made["runs"], made["incomplete"]) == (1, 1)
    assert only(tmp_path / "s").missing[0].startswith("result_summary.txt: ")


def test_a_score_of_nothing_is_no_number(tmp_path):
    text = result().replace(f"SCORE           = {32**0.5:.6f}", "SCORE           = 0.000000 [INVALID]")
    (run,) = understand(Text(text.encode(), "result.txt")).runs
    assert run.missing and not any(row.metric == "total" for row in run.rows)


def test_a_complaint_before_the_first_phase_is_of_the_list_that_follows():
    head, rest = summary(2.0).split("\n", 1)
    log = summary() + head + "\n" + COMPLAINT + rest
    first, second = understand(Text(log.encode(), "log")).runs
    assert not first.missing and second.invalid


@pytest.mark.parametrize(
    ("line", "invalid"),
    [
        ("write 12 MiB/s [INVALID]", True),
        ("write 12 MiB/s (failed)", True),
        ("write 12 MiB/s (2 errors)", False),
        ("write 12 MiB/s", False),
    ],
)
def test_a_mark_behind_a_number_counts_whatever_the_tool_and_whoever_reads_it(line, invalid):
    """A reader of numbers drops what follows them; what stands in lines without a number is none of this."""
    rows = [Row("read", "bandwidth", 1.0, "bytes/s", 1), Row("write", "bandwidth", 2.0, "bytes/s", 2)]
    run = drop_implausible_rows(
        Parsed(rows=rows), Text(f"read 11 MiB/s\n{line}\nold attempt [INVALID]\n".encode(), "x")
    )
    assert [note.line for note in run.invalid] == ([2] if invalid else []) and run.missing == run.invalid
    assert run.rows == rows


def test_a_word_of_a_path_is_no_mark():
    text = result().replace("-o /x", "-o /data/ [INVALID] /x")
    assert not understand(Text(text.encode(), "result.txt")).runs[0].missing


def test_what_elbenchos_text_alone_says_of_its_end_counts_for_its_csv(tmp_path):
    quote = "Terminating due to phase time limit."
    said = f"{TEXT.format(3402)}{quote}\n"
    directory(tmp_path / "in", w__csv=CSV, w__out=said)
    made = imported(tmp_path / "in", tmp_path / "s")
    assert (made["runs"], made["incomplete"]) == (1, 1)
    (missing,) = only(tmp_path / "s").missing
    assert missing.startswith("w.out: ") and missing.endswith(quote)


def test_what_the_log_of_a_job_alone_says_of_a_run_counts_for_the_file_of_the_run(tmp_path):
    other = ior(2048.0).replace("09:25:50", "09:35:50")
    quote = "ERROR: data check failed"
    log = ior().replace("Finished", f"{quote}\nFinished") + other
    directory(tmp_path / "in", one__txt=ior(), two__txt=other, job__log=log)
    made = imported(tmp_path / "in", tmp_path / "s")
    assert (made["runs"], made["incomplete"]) == (2, 1)
    store = Store.open(tmp_path / "s")
    missing = [one for name in store.run_ids() for one in store.run(name).missing]
    assert len(missing) == 1 and missing[0].startswith("job.log: ") and missing[0].endswith(quote)


@pytest.mark.parametrize(
    ("unit", "value", "is_possible"),
    [
        ("bytes/s", 2.0**60, True),
        ("bytes/s", 2.0**60 * 1.001, False),
        ("operations/s", 1e15, True),
        ("operations/s", 1.001e15, False),
        ("bytes", 2.0**70, True),
        ("bytes", 2.0**70 * 1.001, False),
        ("s", 3.2e9, True),
        ("s", 3.21e9, False),
        ("s", 0.0, True),
        ("s", -1e-9, False),
        ("W", -1e30, True),
        ("W", float("inf"), False),
        ("", float("nan"), False),
    ],
)
def test_a_value_of_no_machine_is_left_out(unit, value, is_possible):
    row = Row("write", "m", value, unit, 1)
    run = drop_implausible_rows(Parsed(rows=[row]), Text(b"a\nb\n", "x"))
    expected = ([row], []) if is_possible else ([], [(1, "impossible-value")])
    assert (run.rows, [(note.line, note.sentence.code) for note in run.missing]) == expected


def test_each_flagged_line_is_marked_once_with_its_first_number():
    rows = [Row("write", metric, 1.0, "bytes/s", line) for line in (1, 2) for metric in ("first", "second")]
    run = drop_implausible_rows(Parsed(rows=rows), Text(b"x 1 [INVALID]\nx 2 (failed)\n", "x"))
    marks = [(note.line, note.sentence.values["metric"], note.sentence.values["mark"]) for note in run.invalid]
    assert [(line, metric) for line, metric, _ in marks] == [(1, "first"), (2, "first")]
    assert ["INVALID" in marks[0][2], "failed" in marks[1][2]] == [True, True]
    noted = Parsed(rows=rows[:2])
    noted.lacks(1, "known already")
    assert drop_implausible_rows(noted, Text(b"x 1 [INVALID]\n", "x")).invalid == []


@pytest.mark.parametrize(
    ("line", "is_failure"),
    [
        ("write: No space left on device", True),
        ("MPI_ABORT was invoked: Disk quota exceeded", True),
        ("all is well", False),
        ("killed", False),
        ("Killed", True),
    ],
)
def test_a_line_of_a_failure_is_noted(line, is_failure):
    run = Parsed()
    assert note_reported_failure(run, 7, f"  {line} ") is is_failure
    noted = [(note.line, note.sentence.code, note.sentence.values["quote"]) for note in run.missing]
    assert noted == ([(7, "tool-failed", line)] if is_failure else [])
    assert note_reported_failure(None, 7, line) is False


def test_the_same_failure_is_noted_once():
    run = Parsed()
    for at, line in enumerate(("x Killed", "y Killed", "z Bus error"), 1):
        assert note_reported_failure(run, at, line)
    assert [note.line for note in run.missing] == [1, 3]
