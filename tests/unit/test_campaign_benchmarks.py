"""User-level benchmarks, their steps played by a shell: they do what they say, and a tool that does not is seen."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from iosonde.campaign import benchmarks
from iosonde.core.errors import InputError
from messages import raises

LOCAL = [name for name in benchmarks.NAMES if name != "rcp"]


def play(document, place, rank=0, tools=None, **levels):
    """Run all steps of one rank; the (name, exit code, output) of those that failed."""
    levels = {name: values[0] for name, values in document["factors"].items()} | {"files": 5} | levels
    path = f"{tools}:{os.environ['PATH']}" if tools else os.environ["PATH"]
    environment = os.environ | {
        "IOSONDE_TARGET": str(place),
        "IOSONDE_RANK": str(rank),
        "PATH": path,
        "IOSONDE_PYTHON": sys.executable,
    }
    failed = []
    for stage in ("set_up", "steps", "tear_down"):
        for step in document[stage]:
            if step["on"] == "single" and rank:
                continue
            shadowed = environment if stage == "steps" else environment | {"PATH": os.environ["PATH"]}
            command = step["command"]
            for level, value in levels.items():
                command = command.replace(f"${{{level}}}", str(value))
            done = subprocess.run(["sh", "-c", command], env=shadowed, capture_output=True, text=True)
            if done.returncode:
                failed.append((step["name"], done.returncode, done.stdout + done.stderr))
    return failed


@pytest.fixture
def place(tmp_path):
    """A trial's directory with a name that a shell could trip over."""
    made = tmp_path / "iosonde-x" / "trial $1 'a'"
    made.mkdir(parents=True)
    return made


@pytest.mark.parametrize("name", LOCAL)
def test_every_benchmark_does_what_it_says(name, place):
    assert play(benchmarks.find_benchmark(f"user:{name}"), place) == []


@pytest.mark.parametrize("name", ["user:all", "interference:all"])
def test_a_benchmark_is_the_same_wherever_iosonde_is_installed(name):
    """So that the same command goes on with a campaign after iosonde was installed anew."""
    assert sys.prefix not in repr(benchmarks.find_benchmark(name))


# What a tool does instead of its work → the step that must see it.
CHEATS = {
    "cp": ("cp", "mkdir copy", "check"),
    "find": ("find", "true", "find"),
    "findgrep": ("grep", "true", "findgrep"),
    "grep": ("grep", "true", "grep"),
    "ls": ("ls", "true", "ls"),
    "rm": ("rm", "true", "rm"),
}


@pytest.mark.parametrize("name", CHEATS)
def test_a_benchmark_that_failed_quickly_is_not_fast(name, place, tmp_path):
    tool, does, seen_by = CHEATS[name]
    cheat(tmp_path, tool, does)
    assert [step for step, *_ in play(benchmarks.find_benchmark(f"user:{name}"), place, tools=tmp_path / "bin")] == [
        seen_by
    ]


@pytest.mark.parametrize(
    ("tool", "does", "seen_by"),
    [
        ("xargs", "true", []),  # cp makes the directories then: nothing is missing in the end
        ("cp", "true", ["mab_scan", "mab_read", "mab_compile", "check"]),
        ("cat", "echo 1", ["mab_scan", "mab_read"]),
        ("cc", "printf '#!/bin/sh\\necho 0\\n' >program; chmod +x program", ["check"]),
    ],
)
def test_phases_of_mab_that_cheat(tool, does, seen_by, place, tmp_path):
    cheat(tmp_path, tool, does)
    failed = [step for step, *_ in play(benchmarks.find_benchmark("user:mab"), place, tools=tmp_path / "bin")]
    assert list(dict.fromkeys(failed)) == seen_by


def cheat(tmp_path, tool, does):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / tool).write_text(f"#!/bin/sh\n{does}\n")
    (tmp_path / "bin" / tool).chmod(0o755)


def test_rcp_takes_the_tree_away_and_removes_it_there(place, tmp_path):
    """With an ssh and an scp that know one host: this one."""
    cheat(tmp_path, "ssh", 'shift 3; exec sh -c "$*"')
    (tmp_path / "bin" / "scp").write_text(
        '#!/bin/sh\nshift; exec cp -R "${1#there:}" "${2#there:}"\n',
    )
    (tmp_path / "bin" / "scp").chmod(0o755)
    document = benchmarks.find_benchmark("user:rcp")
    for stage in ("set_up", "tear_down", "steps"):
        for step in document[stage]:
            step["command"] = f"PATH={tmp_path}/bin:$PATH; {step['command']}"
    (tmp_path / "bin" / "rsync").write_text("")  # not executable: as if there were none
    assert play(document, place, remote="there") == []
    away = (place / "rank-0" / "away").read_text().strip()
    assert away.startswith("/tmp/iosonde-rcp-")
    assert not os.path.exists(away)


@pytest.mark.parametrize(("rank", "level", "fetches"), [(0, "off", True), (1, "on", False), (1, "all", True)])
def test_who_takes_a_tree_to_the_other_node(rank, level, fetches, place, tmp_path):
    """The victim, and a load that does all that it does; who took none removes none."""
    cheat(tmp_path, "ssh", f'shift 3; echo "$*" >>{tmp_path}/asked; exec sh -c "$*"')
    (tmp_path / "bin" / "scp").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "scp").chmod(0o755)
    document = benchmarks.find_benchmark("interference:rcp")
    steps = {one["name"]: one for one in document["set_up"] + document["tear_down"]}
    there, gone = steps["take_away"], steps["remove_there"]
    (place / f"rank-{rank}").mkdir()
    document |= {"set_up": [there], "steps": [gone], "tear_down": []}
    for step in (there, gone):
        step["command"] = f"PATH={tmp_path}/bin:$PATH; {step['command']}"
    assert play(document, place, rank=rank, load=level) == []
    assert (tmp_path / "asked").exists() == fetches


@pytest.mark.long
@pytest.mark.parametrize("level", ["off", "on", "all"])
def test_interference_loads_the_others_and_measures_the_first(level, place):
    document = benchmarks.find_benchmark("interference:find")
    assert play(document, place, rank=1, load=level) == []
    assert (place / "rank-1" / "load-ended.json").exists() == (level != "off")
    assert play(document, place, rank=0, load=level) == []
    assert not (place / "rank-0" / "load-ended.json").exists()


def test_the_victim_works_elsewhere_and_nothing_of_it_stays(place, tmp_path):
    disk = tmp_path / "local disk"
    disk.mkdir()
    (disk / "precious").write_text("x")
    document = benchmarks.find_benchmark("interference:cp")
    last, document["tear_down"] = document["tear_down"], []
    assert play(document, place, victim_where=disk, load="all") == []
    assert (disk / "iosonde-victim-iosonde-x" / "rank-0" / "copy").is_dir()
    assert not list(place.iterdir())
    document |= {"set_up": [], "steps": [], "tear_down": last}
    assert play(document, place, victim_where=disk, load="all") == []
    assert [path.name for path in disk.iterdir()] == ["precious"]


def test_others_stay_on_the_target_where_the_victim_works_elsewhere(place, tmp_path):
    assert play(benchmarks.find_benchmark("interference:ls"), place, rank=1, victim_where=tmp_path, load="all") == []
    assert (place / "rank-1" / "load-ended.json").exists()


@pytest.mark.parametrize("name", ["user:dd", "interference:", "user:", "cp"])
def test_a_benchmark_that_nobody_knows(name):
    with pytest.raises(InputError) as refused:
        benchmarks.find_benchmark(name)
    assert "findgrep" in refused.value.hint


def test_words_that_are_no_benchmarks():
    assert not benchmarks.is_benchmark("iozone -a")
    assert benchmarks.is_benchmark("user:whatever")


def shape(document) -> dict:
    """The steps of each stage: names with where they run; marked if they begin where the victim works."""
    return {
        stage: [(step["name"], step["on"], step["command"].startswith(benchmarks.GO_THERE)) for step in document[stage]]
        for stage in ("set_up", "tear_down")
    }


def test_a_benchmark_of_users_makes_a_tree_and_checks_it():
    made = benchmarks.find_benchmark("user:ls")
    expected = "user:ls"
    assert (made["name"], made["factors"]) == (expected, {"files": [100], "cache": ["warm"]})
    assert shape(made) == {
        "set_up": [("tree", "all", False), ("cache", "all", False)],
        "tear_down": [("check", "all", False)] * len(benchmarks.BENCHMARKS["ls"][1]),
    }
    assert {step["on"] for step in made["steps"]} == {"all"}


@pytest.mark.parametrize(("which", "fetches"), [("ls", False), ("rcp", True), ("all", True)])
def test_an_interference_loads_all_but_its_victim(which, fetches):
    made = benchmarks.find_benchmark(f"interference:{which}")
    remote = {"remote": ["localhost"]} if fetches else {}
    where = {"load": ["off", "on"], "load_where": ["target"], "victim_where": [benchmarks.ON_TARGET]}
    assert made["factors"] == {"files": [100], "cache": ["warm"]} | remote | where
    names = benchmarks.NAMES if which == "all" else (which,)
    checks = sum(len(benchmarks.BENCHMARKS[name][1]) for name in names)
    assert shape(made) == {
        "set_up": [
            ("victim", "single", False),
            ("tree", "all", True),
            *[("take_away", "all", True)] * fetches,
            ("load", "all", False),
            ("cache", "single", True),
        ],
        "tear_down": [
            ("load_end", "all", False),
            *[("check", "single", True)] * checks,
            *[("remove_there", "all", True)] * fetches,
            ("victim_end", "single", False),
        ],
    }
    start, stop = made["set_up"][-2]["command"], made["tear_down"][0]["command"]
    assert start.endswith(' --victims 1 --where "${load_where}"' + ' --remote "${remote}"' * fetches)
    assert " load_program" not in start and "load_program start --place" in start
    assert stop.endswith(" --victims 1") and "load_program stop --place" in stop
    assert (made["set_up"][0]["command"].split()[3], made["tear_down"][-1]["command"].split()[3]) == ("make", "remove")
    assert {step["on"] for step in made["steps"]} == {"single"}
    assert all(step["command"].startswith(benchmarks.GO_THERE) for step in made["steps"])


def test_a_file_replaces_keys_of_its_benchmark_and_adds_factors():
    base = benchmarks.find_benchmark("user:ls")
    made = benchmarks.merge_benchmark({"benchmark": "user:ls", "name": "own", "factors": {"files": [7], "x": [1]}})
    assert made == base | {"name": "own", "factors": {"files": [7], "cache": ["warm"], "x": [1]}}
    expected = "user:ls"
    assert benchmarks.merge_benchmark({"benchmark": expected, "factors": None}) == base
    assert benchmarks.merge_benchmark({"name": "x"}) == {"name": "x"}


@pytest.mark.parametrize("key", ["steps", "set_up", "tear_down"])
def test_a_file_with_a_benchmark_has_no_steps_of_its_own(key):
    with raises("conflicting-keys", key="benchmark", other_key=key):
        benchmarks.merge_benchmark({"benchmark": "user:ls", key: []})
