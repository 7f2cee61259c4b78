"""A plan as IOzone's commands: the same work in its words, and back; and what IOzone cannot be asked for."""

import shlex

import pytest

from iosonde.campaign.plan import plan_campaign
from iosonde.campaign.request import Request
from iosonde.core.workload import FileNames, Files, Phase, Step
from iosonde.measure.workloads.phase_plan import PhasePlan
from iosonde.measure.workloads.translation import translate
from iosonde_extras.as_iozone import as_iozone, translate_settings
from iosonde_extras.iozone import Settings
from iosonde_extras.iozone_plan import IozonePlan, iozone_plan
from messages import codes, raises

PHASE = (
    "- {{name: {name}, files: 'r${{RANK}}', "
    "steps: [{first}, {{kind: {kind}, transfer_size: {record}, size: 1MiB{how}}}{flush}, close]{more}}}"
)


def phase(name, kind="write", first=None, record="4KiB", how="", flush="", more="", files=None):
    first = first or ("create" if name == "write" else "open")
    line = PHASE.format(name=name, kind=kind, first=first, record=record, how=how, flush=flush, more=more)
    return line.replace("'r${RANK}'", files) if files else line


WRITE, READ = phase("write"), phase("read", "read")
RANDOM = [phase("rr", "read", how=", offsets: shuffled"), phase("rw", how=", offsets: shuffled")]


@pytest.fixture
def cells(tmp_path):
    def of(*phases, keys=""):
        file = tmp_path / "e.yaml"
        (tmp_path / "t").mkdir(exist_ok=True)
        body = "\n".join(f"      {one}" for one in phases)
        file.write_text(f"target: {tmp_path}/t\n{keys}\nsteps:\n  - workload: phases\n    phases:\n{body}\n")
        return iozone_plan(plan_campaign(Request(file=str(file)))).cells

    return of


def test_the_four_tests_of_the_thesis(cells):
    keys = "nodes: [1, 2]\nfactors: {record: [2KiB, 1MiB]}"
    four = [
        phase("write", record="'${record}'"),
        phase("read", "read", record="'${record}'"),
        *(one.replace("4KiB", "'${record}'") for one in RANDOM),
    ]
    found = cells(*four, keys=keys)
    assert [one.setting["nodes"] for one in found] == [1, 1, 2, 2]
    assert [one.setting["record"] for one in found] == [2048, 2**20] * 2
    assert " ".join(found[0].words) == "iozone -t 1 -F ${TARGET}/iozone-0 -r 2k -s 1024k -i 0 -i 1 -i 2 -+n -c"
    assert found[3].words[:5] == ("iozone", "-+m", "${IOZONE_CLIENTS}", "-t", "2")
    assert found[3].words[5:7] == ("-r", "1024k")


@pytest.mark.parametrize(
    ("phases", "options"),
    [
        ([phase("write", more=", open_flags: [direct]")], "-i 0 -+n -c -I"),
        ([phase("write", more=", open_flags: [sync]")], "-i 0 -+n -c -o"),
        ([phase("write", flush=", fsync")], "-i 0 -+n -c -e"),
        ([WRITE, phase("rewrite"), READ, phase("reread", "read")], "-i 0 -i 1 -c"),
        ([WRITE, phase("back", "read", how=", offsets: reverse")], "-i 0 -i 3 -+n -c"),
        ([WRITE, phase("over", how=", offsets: off0")], "-i 0 -i 4 -+n -c"),
        ([WRITE, phase("stride", "read", how=", offsets: {stride: {hole: 64KiB}}")], "-i 0 -i 5 -+n -c -j 17"),
    ],
)
def test_each_test_by_its_number(cells, phases, options):
    (cell,) = cells(*phases)
    assert cell.why == () and " ".join(cell.words).partition("1024k ")[2] == options


@pytest.mark.parametrize(
    ("phases", "why"),
    [
        ([WRITE, phase("read", "read", record="8KiB")], "2 sizes of operations"),
        ([WRITE, phase("read", "read", more=", open_flags: [direct]")], "2 sets of flags"),
        ([phase("write", flush=", fsync"), phase("rw")], "2 choices whether fsync"),
        ([READ], "nothing writes the file"),
        ([phase("write", record="4KB")], "whole KiB"),
        ([phase("write", more=", time_limit: 1s")], "without a limit"),
        ([phase("write", files="{template: 'r${RANK}-', count: 4}")], "one file a process"),
        ([phase("write", how=", time: 1ms")], "no test of write"),
        ([WRITE, phase("near", "read", how=", offsets: {rnd_near: {distance: 64KiB}}")], "no test of read at"),
    ],
)
def test_what_iozone_cannot_be_asked_for_is_said(cells, phases, why):
    (cell,) = cells(*phases)
    assert cell.words == () and any(why in one for one in cell.why), cell.why


def test_ranks_that_share_a_file_are_no_iozone(cells):
    shared = WRITE.replace("r${RANK}", "all")
    one, two = cells(shared, keys="nodes: [1, 2]")
    assert one.words and not one.why and not two.words and len(two.why) == 1


def test_what_differs_is_said(cells):
    (cell,) = cells(WRITE, phase("rr", "read", how=", offsets: rnd"), READ)
    said = " ".join(cell.differs)
    for part in ("in the order of their numbers", "reads and writes at random", "access some twice", "-U MOUNTPOINT"):
        assert part in said


@pytest.mark.parametrize(
    ("tests", "more", "said"),
    [
        (("write", "random_read"), {}, ["-i 2 reads and writes at random", "the order of IOzone's random tests"]),
        (("random_read",), {}, ["IOzone times -i 0", "-i 2 reads and writes at random", "random tests is its own"]),
        (("write", "random_read", "random_write"), {}, ["the order of IOzone's random tests is its own"]),
        (("write", "rewrite", "read"), {}, ["runs -i 1 twice, too"]),
        (("read", "write"), {}, ["in the order of their numbers"]),
        (("write", "read"), {"cache": "cold"}, ["-U MOUNTPOINT"]),
        (("write", "rewrite", "read", "reread"), {}, []),
    ],
)
def test_what_differs_from_the_native_workload_of_iozone_is_said(tests, more, said):
    made = translate_settings(Settings(tests=tests, **more))
    assert made.words[4:6] == ("-i", "0"), "it writes the file"
    assert len(made.differs) == len(said) and all(map(str.__contains__, made.differs, said)), made.differs


@pytest.mark.parametrize("options", ["-i 0 -i 1 -+n -c -e -I -o", "-i 0 -i 2 -+d", "-i 0 -i 3 -i 5 -j 7"])
def test_the_way_back_is_the_way_there(options):
    words = shlex.split(f"-r 4k -s 1024k {options}")
    made = translate_settings(translate(shlex.join(["iozone", *words])).settings)
    assert sorted(made.words) == sorted(words)
    assert translate(shlex.join(["iozone", *made.words])).settings == translate(shlex.join(["iozone", *words])).settings


def test_commands_are_no_native_steps(tmp_path):
    with raises("option-not-applicable"):
        iozone_plan(plan_campaign(Request(what="true", target=(str(tmp_path),))))


CLOSE = (Step("close"),)
RECORDS = Step("write", 4096, size=65536, offsets="seq")


def plan(name="write", steps=(RECORDS,), first="create", last=CLOSE, files=None, **more):
    of_plan = {key: more.pop(key) for key in ("timed", "backend", "warm", "reads") if key in more}
    files = files or Files("f", 1)
    return PhasePlan(name, Phase(name, files, (Step(first), *steps, *last), **more), "bandwidth", **of_plan)


def read_plan(name="read", offsets="seq", **more):
    return plan(name, (Step("read", 4096, size=65536, offsets=offsets),), "open", **more)


def as_one(*plans):
    return as_iozone(plans, plans)


@pytest.mark.parametrize(
    ("plans", "words", "differs"),
    [
        ([plan()], "-r 4k -s 64k -i 0 -+n -c", ["own-random-order"]),
        (
            [plan(open_flags=("sync", "direct"), last=(Step("fsync"), Step("close")))],
            "-r 4k -s 64k -i 0 -+n -c -e -I -o",
            ["own-random-order"],
        ),
        ([plan(), read_plan(), read_plan("again")], "-r 4k -s 64k -i 0 -i 1 -c", ["test-done-twice"]),
        ([plan(), plan("again"), read_plan()], "-r 4k -s 64k -i 0 -i 1 -c", ["test-done-twice"]),
        ([read_plan("reverse", "reverse"), plan()], "-r 4k -s 64k -i 0 -i 3 -+n -c", ["fixed-order"]),
        ([plan(), read_plan("rr", "shuffled")], "-r 4k -s 64k -i 0 -i 2 -+n -c", ["reads-and-writes"]),
        (
            [plan(), read_plan("rr", "rnd"), plan("rw", (Step("write", 4096, size=65536, offsets="rnd"),))],
            "-r 4k -s 64k -i 0 -i 2 -+n -c",
            ["every-record-once"],
        ),
        (
            [plan(), read_plan("stride", {"stride": {"hole": 8192}})],
            "-r 4k -s 64k -i 0 -i 5 -+n -c -j 3",
            [],
        ),
        ([plan(timed=False), read_plan()], "-r 4k -s 64k -i 0 -i 1 -+n -c", ["every-test-timed"]),
        ([plan(), read_plan(reads=(Files("f", 1),))], "-r 4k -s 64k -i 0 -i 1 -+n -c", ["warm-reads"]),
        ([plan(), read_plan(reads=(Files("f", 1),), warm=True)], "-r 4k -s 64k -i 0 -i 1 -+n -c", []),
    ],
)
def test_phases_become_options_and_what_differs(plans, words, differs):
    converted = as_one(*plans)
    assert (" ".join(converted.words), converted.why) == (words, ())
    assert [code for code in codes(converted.differs) if code != "own-random-order"] == [
        code for code in differs if code != "own-random-order"
    ]
    assert codes(converted.differs)[-1] == "own-random-order"


@pytest.mark.parametrize(
    ("plans", "why"),
    [
        ([], ["no-phases"]),
        ([plan(files=Files("f", 2))], ["several-files"]),
        ([plan(files=FileNames(("f",)))], ["several-files"]),
        ([plan(time_limit_ns=1)], ["limited-phase"]),
        ([plan(max_operations=1)], ["limited-phase"]),
        ([plan(passes=2)], ["limited-phase"]),
        ([plan(order="shuffled")], ["paced-or-queued"]),
        ([plan(backend={"name": "fake"})], ["paced-or-queued"]),
        ([plan(steps=())], ["no-such-test"]),
        ([plan(steps=(RECORDS, RECORDS))], ["no-such-test"]),
        ([plan(steps=(RECORDS, Step("stat")))], ["no-such-test"]),
        ([plan(steps=(Step("write", 4096, size=65536, base=4096),))], ["no-such-test"]),
        ([plan(steps=(Step("write", 4096, size=65536, ns=5),))], ["no-such-test"]),
        ([plan(steps=(Step("write", 4096, size=65536, offsets="reverse"),))], ["no-such-test"]),
        ([plan(last=())], ["no-close"]),
        ([plan(open_flags=("append",))], ["unsupported-flag"]),
        ([plan(steps=(Step("write", 4096, size=10_000),))], ["not-a-multiple"]),
        ([plan(steps=(Step("write", 4096, size=66_560, offsets="seq"),))], ["not-a-multiple"]),
        ([plan(steps=(Step("write", 1000, size=1_024_000, offsets="seq"),))], ["not-a-multiple"]),
        ([read_plan()], ["no-write"]),
        ([plan(), plan("w", (Step("write", 8192, size=65536),))], ["several-values"]),
        ([plan(), plan("w", (Step("write", 4096, size=32768),))], ["several-values"]),
        ([plan(), read_plan(open_flags=("direct",))], ["several-values"]),
        ([plan(), plan("w", last=(Step("fsync"), Step("close")))], ["several-values"]),
    ],
)
def test_phases_that_iozone_cannot_do_have_one_reason_each(plans, why):
    converted = as_one(*plans)
    assert (converted.words, converted.differs, codes(converted.why)) == ((), (), why)


def test_a_rank_with_its_own_file_is_a_process_of_iozone_and_two_with_one_are_not():
    first, same, other = plan(), plan(), plan(files=Files("f", 1, first=1))
    assert codes(as_iozone([first], [same]).why) == ["shared-file"]
    assert as_iozone([first], [other]).words


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "-r 4k -s 512k -i 0 -i 1"),
        ({"tests": ("write",)}, "-r 4k -s 512k -i 0 -+n"),
        ({"tests": ("stride_read", "record_rewrite"), "stride": 3}, "-r 4k -s 512k -i 0 -i 4 -i 5 -j 3 -+n"),
        (
            {"inside": ("close", "fsync"), "direct": True, "synchronous": True, "verify": True},
            "-r 4k -s 512k -i 0 -i 1 -c -e -I -o -+d",
        ),
        ({"record_size": 512, "file_size": 1024}, ""),
    ],
)
def test_settings_of_iozone_become_its_options(settings, words):
    converted = translate_settings(Settings(**settings))
    assert " ".join(converted.words) == words and codes(converted.why) == ([] if words else ["not-a-multiple"])


def test_plans_are_rows_and_json(cells):
    one = {"nodes": 1, "ranks_per_node": 1}
    good, bad = cells(WRITE), cells(READ)
    assert IozonePlan((*good, *bad), {}).records() == [
        {**one, "command": "iozone -t 1 -F ${TARGET}/iozone-0 -r 4k -s 1024k -i 0 -+n -c", "why": None},
        {**one, "command": None, "why": "nothing writes the file: IOzone's test 0 comes first"},
    ]
    document = IozonePlan(bad, {}).to_dict()
    assert (document["version"], document["tool"]) == (1, "iozone")
    [setting] = document["settings"]
    assert (setting["setting"], setting["words"], codes(setting["why"]), setting["differs"]) == (
        one,
        [],
        ["no-write"],
        [],
    )
