"""``run 'COMMAND' --native`` from end to end: one rank, a real directory, the numbers by the tool's own definition."""

import json

import pytest
from click.testing import CliRunner

from iosonde.core.errors import InputError
from terminal import command_of

explain_difference = command_of("explain-difference")
run = command_of("run")
show = command_of("show")


def iosonde(command, *words):
    result = CliRunner().invoke(command, list(map(str, words)), catch_exceptions=True)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    place = tmp_path_factory.mktemp("native")
    (place / "target").mkdir()
    command = f"ior -w -r -e -F -t 4k -b 64k -k -o {place}/target/file"
    result = iosonde(run, command, "--native", "--repetitions", 2, "--store", place / "store", "--json")
    assert "note: -k is ignored" in result.stderr
    assert not list((place / "target").iterdir())
    return place / "store"


def test_a_native_command_is_stored_and_shown_by_its_tools_definition(store):
    shown = json.loads(iosonde(show, store, "--as", "ior", "--json").stdout)
    (setting,) = shown["settings"]
    assert [(phase["phase"], phase["iteration"]) for phase in setting["phases"]] == [
        ("write", 0),
        ("read", 0),
        ("write", 1),
        ("read", 1),
    ]
    row = setting["phases"][0]["rows"][0]
    assert (row["block_size"], row["transfer_size"], row["tasks"]) == (65536, 4096, 1)
    assert row["bandwidth"] == pytest.approx(65536 / row["total_time"])


def test_one_recorded_run_is_split_between_two_definitions(store):
    (name,) = {path.name for path in (store / "runs").iterdir() if path.name.endswith("-0000")}
    words = ("--store", store, f"{name}@ior", f"{name}@iozone", "--operation", "write", "--json")
    (found,) = json.loads(iosonde(explain_difference, *words).stdout)["differences"]
    product = 1.0
    for part in found["parts"]:
        product *= part["factor"]
    assert product == pytest.approx(found["ratio"]) and found["ratio"] > 1
    assert [part["names"] for part in found["parts"]][:3] == [["open"], ["fsync"], ["close"]]
    assert found["settings_that_differ"] == {} and found["in_the_rest"] == []


def test_iozones_flags_are_in_its_definition(tmp_path):
    (tmp_path / "target").mkdir()
    words = ("--native", "--target", tmp_path / "target", "--repetitions", 1, "--store", tmp_path / "store")
    iosonde(run, "iozone -i 0 -+n -s 64k -r 4k -e -c", *words)
    (setting,) = json.loads(iosonde(show, tmp_path / "store", "--as", "iozone", "--json").stdout)["settings"]
    (row,) = setting["phases"][0]["rows"]
    (wide,) = json.loads(iosonde(show, tmp_path / "store", "--as", "ior", "--json").stdout)["settings"]
    ior = wide["phases"][0]["rows"][0]
    # With -e and -c only the open is outside; without, also what comes after the writes.
    assert ior["access_time"] < 65536 / row["children"] <= ior["total_time"] - ior["open_time"] + 1e-9


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ior -g", "--native"), "-g: phases have no barrier"),
        (("--native",), "needs the command line of another tool"),
        (("fio job", "--native"), "cannot be run natively"),
        (("ior -w", "--native", "--on", "all"), "needs the command line of another tool"),
    ],
)
def test_what_cannot_be_run_natively_is_refused_before_anything_starts(tmp_path, words, said):
    with pytest.raises(InputError) as caught:
        iosonde(run, *words, "--target", tmp_path, "--store", tmp_path / "store")
    assert said in caught.value.message
    assert not (tmp_path / "store").exists()
