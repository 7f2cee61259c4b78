"""Outputs as they are in logs, mails and documents: the numbers are those of the output without what is around it."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from functools import cache
from itertools import zip_longest
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iosonde.core.errors import DataError
from iosonde.importers import Text, Understood, registry, understand
from iosonde.importers.labels import find_labels
from messages import assert_problem, raises
from terminal import command_of

FIXTURES = Path(__file__).parents[1] / "golden" / "fixtures"
# Sheets and compressed files are binary.
NAMES = sorted(
    str(path.relative_to(FIXTURES))
    for path in FIXTURES.glob("*/*")
    if path.suffix not in (".xls", ".gz") and path.stat().st_size < 20_000
)
ONE_OF_EACH = {name.split("/")[0] + Path(name).suffix: name for name in NAMES}
import_command, parse_command = command_of("import"), command_of("parse")

Wrap = Callable[[str], str]


def each(label: Callable[[int], str]) -> Wrap:
    """Put a label before every line, which depends on its number."""
    return lambda text: "".join(label(at) + line for at, line in enumerate(text.splitlines(True)))


def clock(at: int) -> str:
    return f"08:{at // 60 % 60:02d}:{at % 60:02d}"


def ansible(text: str) -> str:
    return f"ok: [n1] => {json.dumps({'rc': 0, 'stdout': text, 'stdout_lines': text.splitlines()})}\n"


def ansible_lines(text: str) -> str:
    return 'ok: [n1] => {\n    "r.stdout_lines": ' + json.dumps(text.splitlines(), indent=8) + "\n}\n"


def docker(text: str) -> str:
    lines = text.splitlines(True)
    return "".join(
        json.dumps({"log": line, "stream": "stdout", "time": "2024-02-05T08:43:00Z"}) + "\n" for line in lines
    )


def logfmt(text: str) -> str:
    lines = enumerate(text.splitlines())
    return "".join(f"time=2024-02-05T{clock(at)}Z level=info msg={json.dumps(line)}\n" for at, line in lines)


def cloudwatch(text: str) -> str:
    events = [{"timestamp": 1707122580000 + at, "message": line} for at, line in enumerate(text.splitlines())]
    return json.dumps({"events": events}, indent=4) + "\n"


def notebook(text: str) -> str:
    output = {"name": "stdout", "output_type": "stream", "text": text.splitlines(True)}
    return json.dumps({"cells": [{"cell_type": "code", "outputs": [output], "source": ["!./x"]}]}, indent=1) + "\n"


LABELS: dict[str, Callable[[int], str]] = {
    "pdsh": lambda at: "node01: ",
    "journald": lambda at: f"Feb  5 {clock(at)} n7 bench[4242]: ",
    "ts": lambda at: f"Feb 05 {clock(at)} ",
    "ts -s": lambda at: f"{clock(at)} ",
    "Jenkins": lambda at: f"{clock(at)}  ",
    "Jenkins [time]": lambda at: f"[2024-02-05T{clock(at)}.123Z] ",
    "docker compose": lambda at: "fio-1  | ",
    "kubectl --prefix": lambda at: "[pod/bench-7d9f/fio] ",
    "stern": lambda at: "bench-7d9f fio ",
    "GitLab": lambda at: f"2024-02-05T{clock(at)}.567893Z 00O ",
    "gh run view": lambda at: f"build\tRun the bench\t2024-02-05T{clock(at)}.5678930Z ",
    "Open MPI 5": lambda at: "[prterun-n7-123@1,0]<stdout>: ",
    "mpirun --tag-output": lambda at: "[1,0]<stdout>: ",
    "mpiexec -prepend-rank": lambda at: "[0] ",
    "srun -l": lambda at: " 0: ",
    "logger": lambda at: f"2024-02-05 {clock(at)},{100 + at % 900} {'WARNING' if at % 9 == 8 else 'INFO'} x: ",
    "logger with dashes": lambda at: f"2024-02-05 {clock(at)},{100 + at % 900} - bench.run - INFO - ",
    "avocado": lambda at: f"2024-02-05 {clock(at)},{100 + at % 900} process          L0416 DEBUG| [stdout] ",
    "beaker": lambda at: f":: [ {clock(at)} ] :: [   LOG    ] :: ",
    "mail": lambda at: "> ",
    "mail twice": lambda at: ">> ",
    "mail twice with blanks": lambda at: "> > ",
    "mail of pdsh": lambda at: "> node01: ",
    "cat -n": lambda at: f"{at + 1:6d}\t",
    "grep": lambda at: "res/out.txt:",
    "grep -n": lambda at: f"{at + 1}:",
    "grep -n of files": lambda at: f"out.txt:{at + 1}:",
    "comment": lambda at: "# ",
    "diff": lambda at: "+",
    "Terraform": lambda at: "null_resource.bench (remote-exec): ",
    "glog": lambda at: f"I0205 {clock(at)}.123456    4242 run.cc:77] ",
    "loguru": lambda at: f"2024-02-05 {clock(at)}.123 | INFO     | bench.run:go:42 - ",
    "German date": lambda at: f"05.02.2024 {clock(at)} ",
    "American date": lambda at: f"02/05/2024 {clock(at)} AM ",
    "indentation": lambda at: "    ",
    "tab": lambda at: "\t",
}
DOCUMENTS: dict[str, Wrap] = {
    "ansible": ansible,
    "ansible's lines": ansible_lines,
    "docker logs": docker,
    "logfmt": logfmt,
    "CloudWatch": cloudwatch,
    "notebook": notebook,
    "Jira": lambda text: f"Hello,\n{{code:bash}}\n{text}{{code}}\nwhy?\n",
    "BBCode": lambda text: f"Hello,\n[code]\n{text}[/code]\nwhy?\n",
    "CDATA": lambda text: f"<testcase><system-out><![CDATA[\n{text}]]></system-out></testcase>\n",
    "JUnit": lambda text: f"<testcase><system-out>{html.escape(text)}</system-out></testcase>\n",
    "pre": lambda text: f"<html><body><pre>{html.escape(text)}</pre></body></html>\n",
    "br": lambda text: "<p>" + html.escape(text).replace("\n", "<br>\n") + "</p>\n",
    "br without lines": lambda text: "<p>" + html.escape(text).replace("\n", "<br/>") + "</p>\n",
    "fence": lambda text: f"Hello,\n\n```\n{text}```\n\nwhy?\n",
    "blanks at the ends": lambda text: text.replace("\n", "   \n"),
    "colours": lambda text: "".join(f"\x1b[1;32m{line}\x1b[0m\n" for line in text.splitlines()),
}
# The samples inside the table are read with the label, too, and words may be the tool's own.
READ_IN_PART = {
    (wrap, "elbencho/sample-live-in-table.txt") for wrap in ("glog", "loguru", "German date", "American date")
}
WRAPS: dict[str, Wrap] = {**{name: each(label) for name, label in LABELS.items()}, **DOCUMENTS}


def load(name: str) -> str:
    """The text of a fixture, with its last line's end: a document does not keep that it is missing."""
    text = (FIXTURES / name).read_text(encoding="utf-8")
    return text if text.endswith("\n") else f"{text}\n"


def of(text: str, name: str = "x.txt") -> Understood:
    return understand(Text(text.encode(), name))


def numbers(reading: Understood) -> list[tuple[object, ...]]:
    """Every number of a reading, without its line."""
    return [
        (row.operation, row.metric, row.value, row.unit, row.rank, row.iteration, str(row.factors))
        for run in reading.runs
        for row in run.rows
    ]


@cache
def plain_numbers(name: str) -> list[tuple[object, ...]]:
    """Every number of a fixture without anything around it."""
    return numbers(of(load(name), name))


@pytest.mark.parametrize("wrap", WRAPS)
def test_what_is_around_an_output_changes_no_number(wrap):
    for name in ONE_OF_EACH.values():
        if (wrap, name) not in READ_IN_PART:
            assert numbers(of(WRAPS[wrap](load(name)), name)) == plain_numbers(name), name


def test_what_was_tried_is_not_read_again(monkeypatch):
    texts = list[Text]()
    read = registry._understand_bare
    monkeypatch.setattr(registry, "_understand_bare", lambda text, *rest: (texts.append(text), read(text, *rest))[1])
    for name in ONE_OF_EACH.values():
        of(load(name), name)
    assert len(texts) == len(set(texts)) > len(ONE_OF_EACH)


def test_the_first_column_of_a_log_is_no_label():
    text = "".join(f"{at}, {7919 * at % 90_000 + 100_000}, 0, 4096, {at * 4096}\n" for at in range(60))
    reading = of(text, "x_lat.1.log")
    assert not [note for note in reading.notes if note.sentence.code == "labels-left-out"]
    wrapped = each(lambda at: f"{at + 1}: ")(text)
    assert numbers(of(wrapped, "x_lat.1.log")) == numbers(reading)


def test_the_columns_of_a_table_with_a_damaged_header_are_no_label():
    lines = load("elbencho/gen-eb3110-randread-3iter.csv").splitlines(True)
    damaged = "".join([lines[0][:60] + "\n", *lines[1:]])
    assert not [note for note in of(damaged, "x.csv").notes if note.sentence.code == "labels-left-out"]


def test_bare_numbers_are_searched_for_no_words(monkeypatch):
    """A log of 100 MB without the name of a tool's log takes a third of the time so."""
    line = "1, 250000, 0, 4096\n"
    text, sizes = Text((line * 250_000).encode(), "x"), set[int]()
    claims = registry.importers()["ior"].claims
    monkeypatch.setattr(
        registry.importers()["ior"], "claims", lambda part: sizes.add(len(part.content)) or claims(part)
    )
    assert understand(text).format == "fio-log"
    assert max(sizes) < len(text.content) / 2


HOSTS = st.from_regex(r"[a-z]{1,6}-?[0-9]{1,3}", fullmatch=True)
STAMPS = st.sampled_from(["", "2024-02-05T{}Z ", "2024-02-05 {},123 ", "[{}] ", "Feb 05 {} ", "{}  "])
SOURCES = st.sampled_from(
    ["{}: ", "[{}] ", "{} | ", "{} bench[77]: ", "bench.{}: ", "pod-{} fio ", "[1,0][{}]<stdout>: ", ""]
)
LEVELS = st.sampled_from(["", "INFO ", "[INFO] ", "DEBUG| "])
QUOTES = st.sampled_from(["", "> ", ">> "])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    name=st.sampled_from(sorted(ONE_OF_EACH.values())),
    host=HOSTS,
    stamp=STAMPS,
    source=SOURCES,
    level=LEVELS,
    quote=QUOTES,
)
def test_any_composition_of_labels_changes_no_number(name, host, stamp, source, level, quote):
    wrapped = each(lambda at: quote + stamp.format(clock(at)) + level + source.format(host))(load(name))
    assert numbers(of(wrapped, name)) == plain_numbers(name)


@pytest.mark.parametrize("inner", ["pdsh", "logger", "br", "ansible"])
@pytest.mark.parametrize("outer", ["mail", "gh run view", "docker logs", "fence"])
def test_labels_in_documents_in_labels_change_no_number(inner, outer):
    text = load("ior/gen-ior400-fpp-3reps.txt")
    assert numbers(of(WRAPS[outer](WRAPS[inner](text)))) == numbers(of(text))


@pytest.mark.parametrize(
    "labels", [("n1: ", "n2: "), ("cn-a: ", "cn-b: "), ("[pod/a/fio] ", "[pod/b/fio] "), ("0: ", "1: ")]
)
def test_nodes_whose_lines_are_mixed_are_told_apart(labels):
    first, second = load("ior/gen-ior400-fpp-3reps.txt"), load("mdtest/gen-mdtest400-3iter.txt")
    pairs = zip_longest(first.splitlines(True), second.splitlines(True))
    mixed = "".join(
        label + line for pair in pairs for label, line in zip(labels, pair, strict=True) if line is not None
    )
    reading = of(mixed)
    assert numbers(reading) == numbers(of(first)) + numbers(of(second))
    assert [run.tool for run in reading.runs] == ["ior", "mdtest"]
    assert [run.facts["label"] for run in reading.runs] == [label.strip(" :[]") for label in labels]


def test_documents_of_json_whose_lines_are_mixed_are_told_apart():
    text = load("fio/gen-fio333-json-seqwrite-2jobs.json")
    mixed = "".join(f"n{node}: {line}" for line in text.splitlines(True) for node in (1, 2))
    reading = of(mixed)
    assert numbers(reading) == 2 * numbers(of(text))
    assert [run.facts["label"] for run in reading.runs] == ["n1", "n2"]


def test_a_number_has_the_line_of_the_file():
    text = load("ior/gen-ior400-fpp-3reps.txt")
    lines = [row.line for run in of(text).runs for row in run.rows]
    assert [row.line for run in of("Hello,\n\n" + each(LABELS["pdsh"])(text)).runs for row in run.rows] == [
        line + 2 for line in lines
    ]
    inside = of("Hello\n" + ansible(text))
    assert {row.line for run in inside.runs for row in run.rows} == {2} and inside.claim.line == 2
    fenced = of(f"Hello,\n```\n{text}```\n")
    assert [row.line for run in fenced.runs for row in run.rows] == [line + 2 for line in lines]


def test_what_was_removed_is_noted():
    text = load("ior/gen-ior400-fpp-3reps.txt")
    (note,) = of(each(LABELS["pdsh"])(text)).notes
    assert (note.sentence.code, note.sentence.values) == ("labels-left-out", {"label": "node01:"})
    (note,) = of(ansible(text)).notes
    assert (note.sentence.code, note.sentence.values) == ("wrapping-removed", {"wrapping": "strings of JSON"})
    assert not of(text).notes


def test_a_part_of_a_mail_is_quoted():
    text = load("ior/gen-ior400-fpp-3reps.txt")
    mail = "Hi all,\nwe see this:\n" + each(LABELS["mail"])(text) + "Any idea?\n" + "So many words.\n" * 30
    assert numbers(of(mail)) == numbers(of(text))


def test_a_label_of_errors_stays():
    """Without it the error would not be known as one."""
    error = "fio: terminating on signal 2\n" * 4
    text = (FIXTURES / "fio" / "gen-fio333-json-interrupted.txt").read_text(encoding="utf-8")
    plain, more = of(text), of(error + text)
    assert plain.runs[0].missing and more.runs[0].missing and not more.notes


@pytest.mark.parametrize("before", [">", "$ fio --output-format=json j.fio ", "result = ", "\t"])
def test_json_may_begin_within_a_line(before):
    text = load("fio/gen-fio333-json-seqwrite-2jobs.json")
    assert numbers(of(before + text)) == numbers(of(text))


def test_a_break_of_html_is_no_part_of_a_setting():
    text = load("ior/gen-ior400-fpp-3reps.txt").replace("\n", "<br>\n")
    (run,) = of(text).runs
    assert run.factors["api"] == "POSIX"


def test_the_milliseconds_of_a_logger_are_no_decimal_commas():
    text = each(LABELS["logger"])(load("ior/gen-ior400-fpp-3reps.txt"))
    assert [note.sentence.code for note in of(text).notes] == ["labels-left-out"]


@pytest.mark.parametrize(
    ("text", "examples"),
    [
        ("a\nb\nc\n", []),
        ("n1: a\nn1: b\nn2: c\nn2: d\n", ["n1:"]),
        ("[1,0]<stdout>: a\n", ["[1,0]", "[1,0]<stdout>:"]),
        ("> a\n> b\n> c\n", [">", "> a"]),
    ],
)
def test_candidates_are_heads_that_many_lines_have(text, examples):
    found = [label.example for label in find_labels(text)]
    assert found[: len(examples[:1])] == examples[:1]


def test_a_recognised_tool_without_a_result_is_an_error(tmp_path):
    path = tmp_path / "ior.txt"
    path.write_text("x\nsome words: MPI Coordinated Test of Parallel I/O, in a sentence\n", encoding="utf-8")
    done = CliRunner().invoke(parse_command, [str(path)], standalone_mode=False)
    assert_problem(done.exception, "no-result", path=path, format="ior", line=2)
    assert done.exception.exit_code == 2
    done = CliRunner().invoke(import_command, [str(path), "--store", str(tmp_path / "store")], standalone_mode=False)
    assert_problem(done.exception, "nothing-imported")
    assert done.exception.message.values["reason"].code == "no-result"


def test_an_unknown_text_names_the_nearest_tool():
    with raises("unknown-format", DataError, path="x.txt", nearest="elbencho", line=2):
        of("hello\nwe used elbencho for this\n")
