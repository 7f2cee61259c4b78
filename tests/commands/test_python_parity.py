"""Each function says what its command says: the text, the JSON, and a word for every option."""

from __future__ import annotations

import importlib
import inspect
import io
import json
import pkgutil
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from stats_sample import run, store

import corpus_sample
import iosonde
from iosonde.cli.group import cli
from iosonde.commands import find_folder, get_package_name
from iosonde.commands.declaration import COMMANDS as DECLARED
from iosonde.core.message import spell_for_terminal, use_spelling
from iosonde.store import Store
from messages import raises
from systems_sample import write_sample as write_systems
from terminal import COMMANDS, command_of

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "golden" / "data"
PLACES = {
    "CP": DATA / "cp_raw.csv",
    "MATTERS": DATA / "what_matters.csv",
    "IOR": DATA / "two-tools" / "ior.txt",
    "IOZONE": DATA / "two-tools" / "iozone.txt",
    "CLUSTER": ROOT / "examples" / "upgrade.yaml",
    "TOOL": ROOT / "examples" / "columns" / "mytool.csv",
    "MAP": ROOT / "examples" / "columns" / "mytool.yaml",
}
NOTE = "a switch failed"
SAMPLE = {"response": "real_s", "on": "replicas"}
CASES = [
    ("summary CP --response real_s --by replicas", lambda p: iosonde.summary(p["CP"], "real_s", "replicas")),
    (
        "summary STORE --where nodes=1 --clock all --level 0.9",
        lambda p: iosonde.summary(p["STORE"], where="nodes=1", clock="all", level=0.9),
    ),
    ("summary STORE --columns nodes --unit KB/s", lambda p: iosonde.summary(p["STORE"], columns="nodes", unit="KB/s")),
    ("summary CP --response real_s --level 0.5", lambda p: iosonde.summary(p["CP"], "real_s", level=0.5)),
    (
        "check CP --response real_s --by replicas --bound 3",
        lambda p: iosonde.check(p["CP"], "real_s", by="replicas", bound=3),
    ),
    ("check CP --noise --response real_s --by replicas", lambda p: iosonde.noise(p["CP"], "real_s", by="replicas")),
    ("summary PART --incomplete", lambda p: iosonde.summary(p["PART"], incomplete=True)),
    (
        "regress PART --incomplete --response 'create rate_last_done' --on nodes",
        lambda p: iosonde.regress(p["PART"], "create rate_last_done", "nodes", incomplete=True),
    ),
    ("compare PART PART --incomplete", lambda p: iosonde.compare(p["PART"], b=p["PART"], incomplete=True)),
    ("diagnose PART --incomplete", lambda p: iosonde.diagnose(p["PART"], incomplete=True)),
    ("verify STORE", lambda p: iosonde.verify(p["STORE"])),
    (
        "compare CP --response real_s --group replicas 1 2 --margin 5%",
        lambda p: iosonde.compare(p["CP"], "replicas", [1, 2.0], response="real_s", margin=0.05),
    ),
    (
        "compare CP CP --response real_s --by replicas --fail-if slower>50% --strict --markdown",
        lambda p: iosonde.compare(
            p["CP"], b=p["CP"], response="real_s", by="replicas", fail_if="slower>50%", strict=True, markdown=True
        ),
    ),
    (
        "compare --a-summary mean=177.1,sd=14.2,n=8 --b-summary mean=190,sd=12,n=8",
        lambda p: iosonde.compare(
            a_summary={"mean": 177.1, "sd": 14.2, "n": 8}, b_summary={"mean": 190, "sd": 12, "n": 8}
        ),
    ),
    (
        "corpus CORPUS --mine submission=s05-0 --on api,year",
        lambda p: iosonde.corpus(p["CORPUS"], on=["api", "year"], mine="submission=s05-0"),
    ),
    ("rank CP --response real_s --on replicas", lambda p: iosonde.rank(p["CP"], **SAMPLE)),
    (
        "rank MATTERS --response write --on access,processes --block a=access --block b=processes",
        lambda p: iosonde.rank(
            p["MATTERS"], "write", ["access", "processes"], blocks={"a": ["access"], "b": ["processes"]}
        ),
    ),
    (
        "rank --coefficients LINE --levels a=0,1 --levels b=0,1,2",
        lambda p: iosonde.rank(coefficients=p["LINE"], levels={"a": [0, 1], "b": [0, 1, 2]}),
    ),
    (
        "regress CP --response real_s --on replicas --at replicas=9 --new 2 --robust",
        lambda p: iosonde.regress(p["CP"], **SAMPLE, at={"replicas": 9}, new=2, robust=True),
    ),
    (
        "regress CP --response real_s --on replicas --without 5,6",
        lambda p: iosonde.regress(p["CP"], **SAMPLE, without=["5", "6"]),
    ),
    ("regress --sums SUMS", lambda p: iosonde.regress(json.loads(p["SUMS"].read_text()))),
    (
        "anova CP --response real_s --on replicas --type 1 --contrast 'replicas: 1 - 2'",
        lambda p: iosonde.anova(p["CP"], **SAMPLE, kind=1, contrasts="replicas: 1 - 2"),
    ),
    (
        "anova MATTERS --response write --on processes --block access --weighted",
        lambda p: iosonde.anova(p["MATTERS"], "write", "processes", block="access", weighted=True),
    ),
    (
        "scale CP --response 1/real_s --on replicas --at 9",
        lambda p: iosonde.scale(p["CP"], "replicas", response="1/real_s", at=[9]),
    ),
    ("scale --station disk=2ms:4 --at 1,64", lambda p: iosonde.queue("disk=2ms:4", [1, 64])),
    (
        "bound --clients 8 --servers 4 --disks 8 --net 117MB/s --disk 25MB/s --cpu 0.02s/MB --data 3GB",
        lambda p: iosonde.bound(
            clients=8, servers=4, disks=8, net="117MB/s", disk="25MB/s", cpu="0.02s/MB", amount="3GB"
        ),
    ),
    (
        "bound --net 117000000B/s --disk 2.5e7B/s --disks 2 --latency 0.002 --request 65536",
        lambda p: iosonde.bound(net=117e6, disk=2.5e7, disks=2, latency=0.002, request=65536),
    ),
    (
        "bound --net 1GB/s --data 3GB --client-memory 64GiB",
        lambda p: iosonde.bound(net=1e9, amount="3GB", client_memory="64GiB"),
    ),
    ("bound --cluster CLUSTER --clients 2", lambda p: iosonde.bound(cluster=p["CLUSTER"], clients=2)),
    (
        "bound --clients 4 --servers 2 --net 1GB/s --application compute=0.8,write=4096*1024",
        lambda p: iosonde.bound(clients=4, servers=2, net="1GB/s", application={"compute": 0.8, "write": "4096*1024"}),
    ),
    ("bound STORE --net 1GB/s", lambda p: iosonde.bound(p["STORE"], net="1GB/s")),
    (
        "time-model --size 256KiB --copy 10GB/s --network 125MB/s --network-latency 50us --observed 2.5ms --mixture",
        lambda p: iosonde.time_model(
            size="256KiB", copy=10e9, network="125MB/s", network_latency=50e-6, observed="2.5ms", mixture=True
        ),
    ),
    (
        "diagnose STORE --metric create --bandwidth isj --level 0.9 --name fast=cached",
        lambda p: iosonde.diagnose(p["STORE"], metric="create", bandwidth="isj", level=0.9, name={"fast": "cached"}),
    ),
    (
        "explain-difference IOR IOZONE --operation write",
        lambda p: iosonde.explain_difference(p["IOR"], p["IOZONE"], operation="write"),
    ),
    ("upgrade CLUSTER --order money", lambda p: iosonde.upgrade(p["CLUSTER"], order="money")),
    (
        "fit CP --response real_s --on replicas --family linear",
        lambda p: iosonde.fit(p["CP"], **SAMPLE, families="linear"),
    ),
    ("predict MODEL replicas=2", lambda p: iosonde.predict(p["MODEL"], {"replicas": 2})),
    ("predict MODEL --data CP --level 0.9", lambda p: iosonde.predict(p["MODEL"], data=p["CP"], level=0.9)),
    ("predict MODEL --describe", lambda p: iosonde.describe(p["MODEL"])),
    (
        "validate CP --response real_s --on replicas --family linear --leave-out replicas",
        lambda p: iosonde.validate(p["CP"], **SAMPLE, families="linear", leave_out="replicas"),
    ),
    ("validate CP --model MODEL", lambda p: iosonde.held_out(p["MODEL"], p["CP"])),
    (
        "advise MATTERS --response write --choose access,request_KiB --given file_system --depth 2 --current "
        "access=sync,request_KiB=16 --where processes=1",
        lambda p: iosonde.advise(
            p["MATTERS"],
            ["access", "request_KiB"],
            "write",
            given="file_system",
            depth=2,
            current={"access": "sync", "request_KiB": 16.0},
            where=["processes=1"],
        ),
    ),
    (
        "survey plan --population 300000000 --capacity 50PB --rate 5GiB/s --per-file 2ms --level 0.9",
        lambda p: iosonde.survey_plan(300_000_000, "50PB", rate="5GiB/s", per_file=0.002, level=0.9),
    ),
    (
        "watch STORE --least 2% --newest 10 --since 2026-01-01 --response create",
        lambda p: iosonde.watch(p["STORE"], "create", least=0.02, newest=10, since="2026-01-01"),
    ),
    ("parse IOR", lambda p: iosonde.parse(p["IOR"])),
    ("parse IOR IOZONE", lambda p: iosonde.parse([p["IOR"], str(p["IOZONE"])])),
    ("parse TOOL --columns MAP", lambda p: iosonde.parse(p["TOOL"], columns=p["MAP"])),
    ("show STORE --where nodes=1", lambda p: iosonde.show(p["STORE"], where="nodes=1")),
    ("show STORE --slowest 3 --where nodes=1", lambda p: iosonde.slowest(p["STORE"], 3, where="nodes=1")),
    ("show STORE --profile", lambda p: iosonde.profile(p["STORE"])),
    ("show CP --roles replicas=block", lambda p: iosonde.profile(p["CP"], roles={"replicas": "block"})),
    ("show STORE x-1-00", lambda p: iosonde.show_run(p["STORE"], "x-1-00")),
    (
        "plan 'iozone -i 0 -i 1 -s 1m -r 4k -I' --native --target TARGET --seed 7 --as iozone",
        lambda p: iosonde.plan(
            "iozone -i 0 -i 1 -s 1m -r 4k -I", as_tool="iozone", native=True, target=p["TARGET"], seed=7
        ),
    ),
    (
        "plan --target TARGET --seed 7 --nodes 1,2 --ranks-per-node 2 --repetitions 2 --large-size 1MiB",
        lambda p: iosonde.plan(
            target=p["TARGET"], seed=7, nodes=[1, 2], ranks_per_node=2, repetitions=2, large_size="1MiB"
        ),
    ),
]


@pytest.fixture(autouse=True)
def one_spelling():
    """Both say what they say with the words of the terminal; test_spelling.py is about those of Python."""
    with use_spelling(spell_for_terminal):
        yield


@pytest.fixture(scope="module")
def places(tmp_path_factory) -> dict[str, Path]:
    for room in pkgutil.iter_modules(iosonde.__path__):  # before every call: no room takes a function's place
        importlib.import_module(f"iosonde.{room.name}")
    own = tmp_path_factory.mktemp("parity")
    corpus_sample.write(own / "corpus", corpus_sample.corpus())
    store(own / "results")
    rng, part = np.random.default_rng(1), store(own / "part")
    part.append(run(2, 9, rng, missing=["rank 1 on n2: killed"]))
    (own / "target").mkdir()
    (own / "line.csv").write_text("feature,coefficient,std_error\na,3,0.1\nb,1,0.2\n")
    sums = {"n": 44, "sum_x": 157, "sum_x2": 785, "b0": 1.5, "b1": 0.2, "SSR": 9.0, "SSE": 30.0}
    (own / "sums.json").write_text(json.dumps(sums))
    iosonde.fit(PLACES["CP"], **SAMPLE, families="linear", output=own / "model.json")
    made = {
        "STORE": "results",
        "PART": "part",
        "CORPUS": "corpus",
        "TARGET": "target",
        "LINE": "line.csv",
        "SUMS": "sums.json",
        "MODEL": "model.json",
    }
    return {**PLACES, **{name: own / file for name, file in made.items()}}


def shown(words: list[str]) -> str:
    return CliRunner().invoke(cli, words).stdout


@pytest.mark.long
@pytest.mark.parametrize(("line", "made"), CASES, ids=[" ".join(line.split()[:2]) for line, _ in CASES])
def test_the_text_the_data_and_the_frame(line, made, places, capsys, recwarn):
    words = [str(places.get(word, word)) for word in shlex.split(line)]
    answer = made(places)
    assert capsys.readouterr() == ("", "")
    done = CliRunner().invoke(cli, words)
    assert str(answer) + "\n" == done.stdout
    said = [line.removeprefix("warning: ").removeprefix("~ ") for line in done.stderr.splitlines()]
    assert [str(one.message) for one in recwarn] == said
    assert answer.to_dict() == json.loads(shown([*words, "--json"]))
    assert {"schema", "version"} & set(answer.to_dict()), "JSON that others read has a version"  # plan has the latter
    wide = [
        one for one in done.stdout.splitlines() if len(one) >= 80 and not any(str(p) in one for p in places.values())
    ]
    assert "--markdown" in words or not wide
    frame = answer.to_frame()
    assert len(frame) == len(answer.answer.records()) and (len(frame) or words[0] in ("check", "verify", "watch"))
    nested = {name for name in frame for cell in frame[name] if isinstance(cell, (dict, list, tuple))}
    assert not nested, "a cell of a frame is a number, a text or nothing"


def test_every_command_of_an_analysis_was_compared():
    without = {
        "run",
        "report",
        "plot",
        "store",
        "import",
        "probe",
        "monitor",
        "doctor",
        "explain",
        "lab",
        "serve",
    }  # below, or in test_python.py
    assert {line.split()[0] for line, _ in CASES} == set(COMMANDS) - without


def test_operations_in_a_tools_numbers(places):
    words = ["show", str(places["STORE"]), "--as", "fio"]
    answer = iosonde.show_as(places["STORE"], "fio")
    assert str(answer) + "\n" == shown(words) and answer.to_dict() == json.loads(shown([*words, "--json"]))


def test_an_import(places, tmp_path):
    made = iosonde.import_files(places["IOR"], tmp_path / "a", experiment="x")
    words = ["import", str(places["IOR"]), "--experiment", "x", "--store"]
    assert str(made) + "\n" == shown([*words, str(tmp_path / "b")]).replace(f"{tmp_path}/b", f"{tmp_path}/a")
    assert made.to_dict() == json.loads(shown([*words, str(tmp_path / "c"), "--json"]))
    assert made.to_frame()["format"].tolist() == ["ior"]
    with pytest.warns(iosonde.IosondeWarning, match="1 of 2 files were not imported, the first: .*cp_raw.csv"):
        iosonde.import_files([places["IOZONE"], places["CP"]], tmp_path / "a")
    with raises("nothing-imported", iosonde.IosondeError):
        iosonde.import_files(places["CP"], tmp_path / "a")


def test_what_is_printed_can_be_parsed_where_it_is(places):
    of_file, of_memory = iosonde.parse(places["IOR"]), iosonde.parse(io.BytesIO(places["IOR"].read_bytes()))
    assert of_memory.to_frame().drop(columns="file").equals(of_file.to_frame().drop(columns="file"))


def test_an_export(places, tmp_path):
    for form in ("csv", "json", "parquet"):
        there = iosonde.export(places["STORE"], tmp_path / f"a.{form}", where="nodes=1")
        shown(["show", str(places["STORE"]), "--where", "nodes=1", "--export", form, "-o", str(tmp_path / f"b.{form}")])
        assert there.read_bytes() == (tmp_path / f"b.{form}").read_bytes()
    assert len(pd.read_csv(tmp_path / "a.csv")) > 0
    with raises("unknown-file-format", iosonde.IosondeError):
        iosonde.export(places["STORE"], tmp_path / "a.xlsx")


def test_stores_are_looked_after(places, tmp_path):
    mine, theirs = shutil.copytree(places["STORE"], tmp_path / "mine"), tmp_path / "theirs"
    assert iosonde.tag_run(mine, "x-1-00", add=["odd", "first"], remove="odd") == ["first"]
    assert iosonde.show(mine, where="tags=first").to_frame()["id"].tolist() == ["x-1-00"]
    iosonde.note_run(mine, "x-1-00", NOTE)
    assert NOTE in str(iosonde.show_run(mine, "x-1-00"))
    checked = iosonde.check_store(mine)
    assert str(checked) + "\n" == shown(["store", "check", str(mine)])
    assert checked.to_dict() == json.loads(shown(["store", "check", str(mine), "--json"]))
    merged = iosonde.merge_stores(tmp_path / "all", [mine, places["STORE"]])
    assert str(merged) + "\n" == shown(["store", "merge", str(tmp_path / "again"), str(mine), str(places["STORE"])])
    assert merged.to_frame()["runs"].tolist() == [12]
    made = iosonde.redact_store(mine, theirs, also="switch")
    assert made.to_dict() == json.loads(
        shown(["store", "redact", str(mine), str(tmp_path / "c"), "--also", "switch", "--json"])
    )
    assert len(made.to_frame()) == len(made.to_dict()["replaced"]) and "switch" not in str(
        iosonde.show_run(theirs, "x-1-00")
    )
    next((mine / "runs").glob("*/results.parquet")).write_bytes(b"not a table")
    assert len(iosonde.check_store(mine).answer.serious) == 1
    with pytest.warns(iosonde.IosondeWarning) as caught:
        iosonde.merge_stores(tmp_path / "rest", mine)
    assert [one.message.code for one in caught] == ["damage-left-out"]


def test_what_is_old_goes(places, tmp_path):
    mine = shutil.copytree(places["STORE"], tmp_path / "mine")
    words = ["store", "prune", str(mine), "--keep-last", "1", "--older-than", "1h"]
    made = iosonde.prune_store(mine, keep_last=1, older_than="1h")
    assert str(made) + "\n" == shown(words) and made.to_dict() == json.loads(shown([*words, "--json"]))
    assert len(made.to_frame()) == len(made.to_dict()["going"]) + len(made.to_dict()["staying"])


def test_factors_from_paths_are_shown_and_named(tmp_path):
    write_systems(tmp_path / "in")
    store = str(tmp_path / "s")
    iosonde.import_files(tmp_path / "in", store, recursive=True)
    words = ["store", "factors", store]
    shown_factors = iosonde.change_factors(store)
    assert str(shown_factors) + "\n" == shown(words)
    assert shown_factors.to_dict() == json.loads(shown([*words, "--json"]))
    renamed = iosonde.change_factors(store, "dir1=system")
    assert str(renamed) + "\n" == shown(words)
    assert list(renamed.to_frame()["name"]) == ["system"]


def test_pages_of_findings():
    assert iosonde.explain_finding("s104") + "\n" == shown(["explain", "S104"])
    assert iosonde.explain_finding() + "\n" == shown(["explain"])


@pytest.mark.long
@pytest.mark.parametrize(
    ("data", "line", "asked"),
    [
        ("STORE", "", {}),
        ("STORE", "--where nodes=1 --level 0.9", {"where": "nodes=1", "level": 0.9}),
        ("PART", "--incomplete", {"incomplete": True}),
        (
            "STORE",
            "--bound clients=2,net=10GB/s --choose nodes",
            {"bound": {"clients": 2, "net": "10GB/s"}, "choose": "nodes"},
        ),
        ("CP", "--response real_s --on replicas", {"response": "real_s", "on": "replicas"}),
    ],
)
def test_the_page(data, line, asked, places, tmp_path, capsys):
    words = ["report", str(places[data]), "-o", str(tmp_path / "page.html"), *line.split()]
    made = iosonde.write_report(places[data], tmp_path / "page.html", **asked)
    assert capsys.readouterr() == ("", "")
    written = made.path.read_bytes()
    assert str(made) + "\n" == shown(words) and written == (tmp_path / "page.html").read_bytes()
    assert made.to_dict() == json.loads(shown([*words, "--json"]))


def test_a_page_of_a_table_in_memory(places, tmp_path):
    frame = pd.read_csv(places["CP"], comment="#")
    made = iosonde.write_report(frame, tmp_path / "page.html", response="real_s", on="replicas")
    assert made.to_dict()["reproduce"]["commands"] == [], "no command makes it again"
    opened = iosonde.open(places["STORE"], where="nodes=1")
    narrow = iosonde.write_report(opened, tmp_path / "page.html").to_dict()
    assert (
        narrow["bars"] == iosonde.write_report(places["STORE"], tmp_path / "b.html", where="nodes=1").to_dict()["bars"]
    )
    with raises("option-requires-option", iosonde.IosondeError):
        iosonde.write_report(places["STORE"], given="nodes")


@pytest.mark.long
@pytest.mark.parametrize(
    ("data", "line", "asked"),
    [
        ("STORE", "", {}),
        ("STORE", "--kind bars", {"kind": "bars"}),
        ("STORE", "--kind time --metric create", {"kind": "time", "metric": "create"}),
        ("STORE", "--kind percentiles --metric create", {"kind": "percentiles", "metric": "create"}),
        ("STORE", "--x nodes --metric create,read_1to1_large", {"x": "nodes", "metric": ["create", "read_1to1_large"]}),
        (
            "MATTERS",
            "--response write,read --panel access --level 0.9",
            {"response": ["write", "read"], "panel": "access", "level": 0.9},
        ),
        (
            "MATTERS",
            "--kind heatmap --response write --x request_KiB --color processes",
            {"kind": "heatmap", "response": "write", "x": "request_KiB", "color": "processes"},
        ),
        ("STORE", "--kind latency --metric create", {"kind": "latency", "metric": "create"}),
        ("STORE", "--bars", {"bars": True}),
        ("STORE", "--on nodes --response create", {"on": "nodes", "response": "create"}),
        (
            "MATTERS",
            "--on processes,access --response write,read --together",
            {"on": ["processes", "access"], "response": ["write", "read"], "together": True},
        ),
    ],
)
def test_figures_of_data(data, line, asked, places, tmp_path):
    shown(["plot", str(places[data]), "-o", str(tmp_path / "a.svg"), *line.split()])
    assert (
        iosonde.plot(places[data], **asked).save(tmp_path / "b.svg").read_bytes() == (tmp_path / "a.svg").read_bytes()
    )


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"kind": "pie"}, "unknown-option-value"),
        ({"kind": "bars", "metric": "creat"}, "nothing-to-draw"),
        ({"kind": "bars", "bars": True}, "conflicting-options"),
        ({"kind": "bars", "on": "nodes"}, "conflicting-options"),
        ({"together": True}, "missing-option"),
        ({"x": "nodes", "color": "nodes"}, "conflicting-roles"),
        ({"x": "nods"}, "unknown-column"),
        ({"kind": "latency", "x": "nodes"}, "conflicting-options"),
        ({"kind": "heatmap"}, "missing-factors"),
    ],
)
def test_a_figure_that_cannot_be(asked, code, places):
    with raises(code):
        iosonde.plot(places["STORE"], **asked)


def test_what_this_machine_can_do(capsys):
    made = iosonde.doctor()
    assert capsys.readouterr() == ("", "") and made.answer.sentence in str(made)
    assert [one["name"] for one in made.to_dict()["checks"]] == made.to_frame()["name"].tolist()


def test_a_probe_is_kept_and_shown(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "small_node"))
    made = iosonde.probe(tmp_path, nodes=1, store=tmp_path.parent / "probed", repetitions=2, size="1MiB")
    assert capsys.readouterr() == ("", "") and "2 repetitions" in str(made)
    frame = made.to_frame().set_index("quantity")
    assert frame.loc["disk_write", "value"] == made.to_dict()["nodes"][0]["disk_write"]["value"]
    assert len(iosonde.show(tmp_path.parent / "probed").to_frame()) == 2 and not list(tmp_path.iterdir())


def test_a_look_of_a_monitor_is_kept_and_shown(tmp_path):
    (tmp_path / "mount").mkdir()
    made = iosonde.monitor(tmp_path / "mount", looks=1, budget=0.5, store=tmp_path / "looks", space="16MiB")
    assert made.to_dict()["looks"] == 1 and not made.problem
    assert made.to_frame()["operation"].tolist() == ["stat", "open", "read", "write"]
    assert len(iosonde.show(tmp_path / "looks").to_frame()) == 1


def test_what_a_command_printed(tmp_path):
    made = iosonde.run("echo ${n}", set={"n": ["a"]}, repetitions=1, store=tmp_path / "results")
    (run,) = iosonde.show(made.store).to_frame()["id"]
    (output,) = iosonde.printed(made.store, run, ranks=0)
    assert output.text == "a\n" and "rank 0" in output.head


def test_a_run_keeps_the_command_that_makes_it_again(tmp_path):
    words = {
        "set": {"n": [1, 2.0]},
        "repetitions": 1,
        "seed": 7,
        "nodes": [1],
        "trial_timeout": "1min",
        "store": tmp_path / "results",
        "quick": False,
        "max_bytes": 2**20,
    }
    made = iosonde.run("echo ${n}", **words)
    run = iosonde.show(made.store).to_frame()["id"][0]
    command = iosonde.show_run(made.store, run).answer.document["facts"]["command"]
    assert command[:2] == ["iosonde", "run"]
    asked = cli.get_command(None, "run").make_context("run", list(command[2:])).params
    assert (asked["what"], asked["set"], asked["nodes"]) == ("echo ${n}", ("n=1,2",), "1")
    assert (asked["trial_timeout"], asked["max_bytes"], asked["quick"]) == ("1min", "1048576", None)
    page = iosonde.write_report(made.store, tmp_path / "page.html")
    assert any(command[1].startswith("iosonde run") for command in page.page.reproduce.commands)


def test_every_function_is_called_here_or_beside():
    called = "".join(
        (ROOT / "tests" / "commands" / f"{name}.py").read_text() for name in ("test_python", "test_python_parity")
    )
    assert {name for name in iosonde.__all__ if not re.search(rf"iosonde\.{name}\(", called)} == {
        "IosondeError",
        "IosondeWarning",
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_function_with_its_options(name):
    """``lab`` and ``serve`` say nothing that has no function: they show what others say, until they are ended."""
    command_of(name)
    folder = get_package_name(find_folder(name))
    declared = [command for key, command in DECLARED.items() if key.startswith(f"{folder}.")]
    functions = {command.function for command in declared} - {""}
    assert functions == {name for name in iosonde.__all__ if name in functions}
    assert functions or name in ("lab", "serve")
    for command in declared:
        if command.function:
            keywords = set(inspect.signature(getattr(iosonde, command.function)).parameters)
            assert keywords == {option.name for option in command.declarations}


@pytest.mark.long
def test_surveys(tmp_path):
    (tmp_path / "a").write_text("some text")
    (tmp_path / "b").write_bytes(b"SIMPLE  =" + bytes(90_000))
    words = ["--seed", "3", "--level", "0.9", "--json"]
    told = json.loads(shown(["survey", str(tmp_path), "--codecs", "none", *words]))
    made = iosonde.survey_tree(tmp_path, seed=3, level=0.9, codecs=())
    assert made.to_dict()["estimates"] == told["estimates"]
    assert made.to_frame()["name"].tolist() == ["FITS", "text", "FITS", "text"] and "capacity" in str(made)
    place = tmp_path.parent / f"{tmp_path.name}-store"
    made = iosonde.survey_tree(tmp_path, by="directory", store=place, rate=100_000)
    told = json.loads(shown(["survey", str(tmp_path), "--by", "directory", "--store", str(place), "--json"]))
    assert told["strata"] == made.to_dict()["strata"] and len(Store.open(place).run_ids()) == 2
    made = iosonde.survey_tree(tmp_path, seconds="1h", until=0.1)
    told = json.loads(shown(["survey", str(tmp_path), "--for", "1h", "--until", "10%", "--json"]))
    assert told["stopped"] == made.to_dict()["stopped"] == "precision"
    told = json.loads(shown(["survey", "simulate", str(tmp_path), "--repetitions", "5", *words]))
    made = iosonde.survey_simulate(tmp_path, repetitions=5, seed=3, level=0.9)
    shares, others = ([one for one in part["shares"] if one["what"] != "age"] for part in (made.to_dict(), told))
    assert shares == others and len(shares) > 9 and str(made)
