"""The words of the launchers, and what their tools say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core import nodelist
from iosonde.core.errors import InputError, LaunchError
from iosonde.ranks import launch
from iosonde.ranks.launch import local, mpiexec, mpirun, slurm
from messages import assert_problem, raises

MPICH = mpiexec.Mpiexec("/opt/mpich/bin/mpiexec", mpiexec.MPICH, "MPICH Hydra 5.0.2")
OPEN_MPI = mpiexec.Mpiexec("/opt/ompi/bin/mpiexec", mpiexec.OPEN_MPI, "mpiexec (Open MPI) 5.0.11")
INTEL = mpiexec.Mpiexec("/opt/intel/bin/mpiexec", mpiexec.INTEL, "Intel(R) MPI Library for Linux* OS")


@pytest.fixture
def as_user(monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(8)))


def test_one_local_rank_needs_no_launcher(monkeypatch):
    monkeypatch.setattr(mpiexec, "find_mpiexec", lambda: pytest.fail("looked for MPI"))
    assert local.Local().command(1, 1, ["program", "x"]) == ["program", "x"]


def test_the_local_launcher_takes_ranks_for_nodes_and_says_so(monkeypatch, as_user):
    monkeypatch.setattr(mpiexec, "find_mpiexec", lambda: MPICH)
    words = local.Local().command(2, 3, ["program"])
    assert words == [MPICH.path, "-launcher", "fork", "-hosts", "localhost", "-n", "6", "program"]
    assert local.Local().note and not mpirun.MpiRun(("n1",)).note


def test_open_mpi_oversubscribes_and_runs_as_root_only_for_root(monkeypatch, as_user):
    words = local.build_prefix(OPEN_MPI, 4)
    assert words[1:] == ["--host", "localhost:4", "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none", "-n", "4"]
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert local.build_prefix(OPEN_MPI, 4)[1] == "--allow-run-as-root"


def test_waiting_ranks_give_way_only_where_cores_are_short(as_user):
    assert mpiexec.list_yield_options(MPICH, 8) == []
    assert "MPIR_CVAR_CH4_PROGRESS_THROTTLE" in mpiexec.list_yield_options(MPICH, 9)
    assert mpiexec.list_yield_options(INTEL, 9) == mpiexec.list_yield_options(OPEN_MPI, 9) == []


@pytest.mark.parametrize("launcher", [MPICH, INTEL])
def test_hydra_over_hosts_puts_neighbours_together(as_user, launcher):
    assert mpirun.build_prefix(launcher, ["n1", "n2"], 4)[1:] == ["-hosts", "n1,n2", "-ppn", "4", "-n", "8"]


def test_open_mpi_over_hosts_passes_what_is_there_of_the_environment_on(as_user, monkeypatch):
    monkeypatch.setenv("MPI4PY_MPIABI", "openmpi")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)  # Open MPI 4 warns of what is not there
    words = mpirun.build_prefix(OPEN_MPI, ["n1", "n2"], 4)
    assert words[words.index("MPI4PY_MPIABI") - 1] == "-x"
    assert "VIRTUAL_ENV" not in words
    assert words[-8:] == ["--host", "n1:4,n2:4", "--map-by", "ppr:4:node:OVERSUBSCRIBE", "--bind-to", "none", "-n", "8"]
    assert words[words.index("IOSONDE_WATCHDOG") - 1] == "-x"


def test_mpirun_takes_the_first_hosts_and_no_more_than_there_are(monkeypatch, as_user):
    monkeypatch.setattr(mpiexec, "find_mpiexec", lambda: MPICH)
    three = mpirun.MpiRun(("n1", "n2", "n3"))
    assert three.max_nodes == 3
    assert "n1,n2" in three.command(2, 1, ["p"])
    with raises("too-few-nodes", LaunchError, nodes=4, n_hosts=3):
        three.command(4, 1, ["p"])


def test_host_files_of_all_dialects():
    text = "n1\nn2:4  # two\nn3 slots=8 max_slots=8\n\n# n4\nn1\n"
    assert mpirun.parse_hosts(text) == ("n1", "n2", "n3")


def test_a_host_file_that_is_absent_or_empty_is_refused(tmp_path):
    with raises("unreadable-file"):
        mpirun.read_hostfile(tmp_path / "no")
    (tmp_path / "empty").write_text("# nobody\n")
    with raises("no-hosts"):
        mpirun.read_hostfile(tmp_path / "empty")


def test_hosts_are_a_file_or_names_with_commas(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert mpirun.read_hosts("n1,n2:4, n1") == ("n1", "n2")
    (tmp_path / "a,b").write_text("n7\n")
    assert mpirun.read_hosts("a,b") == ("n7",)
    with raises("unreadable-file", path="n1") as error:
        mpirun.read_hosts("n1")
    assert "n1,n2" in error.value.hint
    for wrong in ("n1,-oProxyCommand=x", ",", "n1;x,n2"):
        with pytest.raises(InputError):
            mpirun.read_hosts(wrong)


@pytest.mark.parametrize("name", [b"-oProxyCommand=x", b"a,b", b"$(x)", b"\xff", b"n;x"])
def test_what_is_no_host_name_reaches_no_launcher(tmp_path, name):
    (tmp_path / "hosts").write_bytes(b"n1\n" + name + b"\n")
    with raises("invalid-host-name"):
        mpirun.read_hostfile(tmp_path / "hosts")


def test_hosts_that_would_not_be_used_are_refused():
    for name in ("local", "slurm"):
        with raises("conflicting-options"):
            launch.find_launcher(name, hosts=["n1"], env={})


def test_find_goes_by_what_the_environment_says(tmp_path):
    srun = tmp_path / "srun"
    srun.write_text("#!/bin/sh\n")
    srun.chmod(0o755)
    nodefile = tmp_path / "nodes"
    nodefile.write_text("n1\nn1\nn2\n")
    inside = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-2],m3", "PATH": str(tmp_path)}
    assert launch.find_launcher(env={}).name == "local"
    assert (launch.find_launcher(env=inside).name, launch.find_launcher(env=inside).hosts) == (
        "slurm",
        ("n1", "n2", "m3"),
    )
    assert launch.find_launcher("local", env=inside).name == "local"
    assert launch.find_launcher(env={"PBS_NODEFILE": str(nodefile)}).hosts == ("n1", "n2")
    assert launch.find_launcher(hosts=["a", "b"], env=inside).hosts == ("a", "b")


def test_what_cannot_be_found_is_refused_with_a_hint(tmp_path):
    with pytest.raises(InputError) as caught:
        launch.find_launcher("ssh", env={})
    assert_problem(caught.value, "unknown-option-value", name="ssh", launchers=", ".join(launch.NAMES))
    with raises("tool-missing", LaunchError, tool="srun"):
        launch.find_launcher("slurm", env={"PATH": str(tmp_path)})
    with raises("no-hosts"):
        launch.find_launcher("mpirun", env={})


def test_more_nodes_than_the_launcher_has_are_refused():
    with raises("too-few-nodes", nodes=5, max_nodes=2):
        launch.check_nodes(slurm.Slurm("srun", ("n1", "n2")), 5)
    launch.check_nodes(local.Local(), 500)


def test_srun_gets_counts_and_the_pmi_of_the_library(monkeypatch):
    monkeypatch.setattr(mpiexec, "find_mpi_library", lambda: mpiexec.Library(mpiexec.MPICH, "MPICH 5", ()))
    monkeypatch.setattr(slurm, "list_mpi_types", lambda srun: ("none", "pmi2", "pmix"))
    words = slurm.Slurm("/usr/bin/srun", ("n1", "n2", "n3", "n4")).command(3, 2, ["p"])
    assert words[:4] == ["/usr/bin/srun", "--nodes=3", "--nodelist=n1,n2,n3", "--ntasks=6"]
    assert words[4:6] == ["--ntasks-per-node=2", "--mpi=pmi2"]
    assert words[-1] == "p"


@pytest.mark.parametrize(
    ("flavour", "offered", "chosen"),
    [
        (mpiexec.MPICH, ("none", "pmi2", "pmix"), "pmi2"),
        (mpiexec.OPEN_MPI, ("none", "pmi2", "pmix_v4"), "pmix_v4"),
        (mpiexec.INTEL, ("pmix",), "pmix"),
        (mpiexec.MPICH, ("cray_shasta", "none"), "cray_shasta"),
    ],
)
def test_the_pmi_type_fits_the_library(flavour, offered, chosen):
    assert slurm.choose_pmi(flavour, offered) == chosen


def test_an_srun_that_cannot_start_this_library_is_refused():
    with raises("pmi-mismatch", LaunchError, available="none, pmi2", needed="pmix"):
        slurm.choose_pmi(mpiexec.OPEN_MPI, ("none", "pmi2"))


def test_mpi_types_of_old_and_new_slurm():
    old = "srun: MPI types are...\nsrun: none\nsrun: pmi2\nsrun: pmix\n"
    new = "MPI plugin types are...\n\tcray_shasta\n\tnone\n\tpmix\n"
    new += "specific pmix plugin versions available: pmix_v4,pmix_v5\n"
    assert slurm.parse_mpi_types(old) == ("none", "pmi2", "pmix")
    assert slurm.parse_mpi_types(new) == ("cray_shasta", "none", "pmix", "pmix_v4", "pmix_v5")


@pytest.mark.parametrize(
    ("text", "flavour", "line"),
    [
        (
            "HYDRA build details:\n    Version:                                 5.0.2\n    CC: cc\n",
            "mpich",
            "MPICH Hydra 5.0.2",
        ),
        (
            "mpiexec (Open MPI) 5.0.11\n\nReport bugs to https://www.open-mpi.org/community/help/\n",
            "openmpi",
            "mpiexec (Open MPI) 5.0.11",
        ),
        ("mpirun (Open MPI) 4.1.4\n", "openmpi", "mpirun (Open MPI) 4.1.4"),
        (
            "Intel(R) MPI Library for Linux* OS, Version 2021.18 Build 20260101\nCopyright 2003-2026, Intel\n",
            "intel",
            "Intel(R) MPI Library for Linux* OS, Version 2021.18 Build 20260101",
        ),
        ("something else 1.0\n", "", "something else 1.0"),
    ],
)
def test_families_of_mpiexec(text, flavour, line):
    assert (mpiexec.find_flavour(text), mpiexec.find_version_line(text)) == (flavour, line)


@pytest.fixture
def programs(tmp_path):
    def write(place: str, said: str) -> str:
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{said}'\n")
        path.chmod(0o755)
        return str(path)

    mpiexec.find_mpiexec.cache_clear()
    yield write
    mpiexec.find_mpiexec.cache_clear()


def test_the_mpiexec_beside_the_library_comes_first(monkeypatch, tmp_path, programs):
    beside, other = programs("mpich/bin/mpiexec", "HYDRA"), programs("path/mpiexec", "HYDRA")
    monkeypatch.setenv("PATH", f"{tmp_path}/path")
    monkeypatch.setattr(
        mpiexec, "find_mpi_library", lambda: mpiexec.Library("mpich", "MPICH", (f"{tmp_path}/mpich/lib/libmpi.so",))
    )
    assert mpiexec.find_mpiexec().path == beside
    mpiexec.find_mpiexec.cache_clear()
    monkeypatch.setattr(
        mpiexec, "find_mpi_library", lambda: mpiexec.Library("mpich", "MPICH", ("/nowhere/lib/libmpi.so",))
    )
    assert mpiexec.find_mpiexec().path == other


def test_an_mpiexec_of_another_family_is_not_taken(monkeypatch, tmp_path, programs):
    programs("path/mpiexec", "mpiexec (Open MPI) 5.0")
    monkeypatch.setenv("PATH", f"{tmp_path}/path")
    monkeypatch.setattr(mpiexec, "find_mpi_library", lambda: mpiexec.Library("mpich", "MPICH 5", ()))
    with raises("mpi-mismatch", LaunchError, version="MPICH 5"):
        mpiexec.find_mpiexec()
    mpiexec.find_mpiexec.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    with raises("tool-missing", LaunchError) as caught:
        mpiexec.find_mpiexec()
    assert caught.value.hint == mpiexec.INSTALL


@pytest.mark.parametrize("kind", [mpirun.MpiRun, lambda hosts: slurm.Slurm("srun", hosts)])
def test_a_series_uses_the_first_nodes(kind):
    launcher = kind(("n1", "n2", "10.0.0.3"))
    assert launcher.addresses(3) == ("n1", "n2", "10.0.0.3")
    assert launcher.addresses(1) == ("n1",)
    assert local.Local().addresses(2) == ("localhost", "localhost")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n1", "n1"),
        ("n[1-3]", "n1 n2 n3"),
        ("n[1-2,07],gpu2", "n1 n2 n07 gpu2"),
        ("n[08-11]", "n08 n09 n10 n11"),
        ("r[1-2]n[01-02]", "r1n01 r1n02 r2n01 r2n02"),
        ("a.b-c_d[0]", "a.b-c_d0"),
        ("n1,n[1-2]", "n1 n2"),
    ],
)
def test_slurm_node_lists(text, names):
    assert nodelist.expand_node_list(text) == tuple(names.split())


@given(st.sampled_from(["n", "rack1-", "a.b"]), st.sets(st.integers(0, 300), min_size=1), st.integers(1, 4))
def test_a_node_list_of_single_numbers_and_of_ranges_names_the_same_nodes(prefix, numbers, width):
    written = [f"{number:0{width}d}" for number in sorted(numbers)]
    ranges = [f"{number}-{number}" for number in written]
    expected = tuple(prefix + number for number in written)
    assert nodelist.expand_node_list(f"{prefix}[{','.join(written)}]") == expected
    assert nodelist.expand_node_list(f"{prefix}[{','.join(ranges)}]") == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        ",",
        "n[",
        "n[]",
        "n[1-]",
        "n[3-1]",
        "n[a]",
        "n 1",
        "n1,,n2",
        "-x",
        "n[1-9999999]",
        "$(x)",
        "a[0-999]b[0-999]",
        "n[1-2]]",
        "n\x1b",
    ],
)
def test_what_is_no_node_list_is_refused(text):
    with raises("invalid-node-list"):
        nodelist.expand_node_list(text)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("n[0-65532]", "n0", "n65532"),
        ("a[0-12]b[0-70]c[0-70]", "a0b0c0", "a12b70c70"),  # 13 * 71 * 71
        ("n[10,0-65531]", "n10", "n65531"),  # 10 is there twice
    ],
)
def test_a_node_list_has_at_most_as_many_nodes_as_slurm(text, first, last):
    names = nodelist.expand_node_list(text)
    assert len(names) == 65_533 - text.count(",") and (names[0], names[-1]) == (first, last)


@pytest.mark.parametrize(
    "text", ["n[0-65533]", "n[1-65534]", "a[0-1]b[0-32766]", "[0-1]b[0-32766]", "n[1,0-65532]", "n[3-2]", "n[1-2,x]"]
)
def test_a_node_list_with_more_nodes_or_a_wrong_range_is_refused_as_a_whole(text):
    with raises("invalid-node-list", InputError, node_list=text):
        nodelist.expand_node_list(text)


def test_a_long_wrong_node_list_is_quoted_in_part():
    for text, excerpt in (("," * 60, "," * 60), ("," * 61, "," * 57 + "...")):
        with raises("invalid-node-list", InputError, node_list=excerpt):
            nodelist.expand_node_list(text)


@given(st.text(alphabet="n1-3,[]0 ;", max_size=30))
def test_any_text_is_a_list_of_plain_names_or_refused(text):
    try:
        names = nodelist.expand_node_list(text)
    except InputError:
        return
    assert names
    assert all(mpirun.HOST_NAME.fullmatch(name) for name in names)


@pytest.mark.parametrize(
    ("end", "answer"),
    [
        ({"version": "MPICH 5", "paths": ["/a", "/b"]}, mpiexec.Library("mpich", "MPICH 5", ("/a", "/b"))),
        ({"error": LaunchError("no-mpi", "there is none", "x").to_json()}, "no-mpi"),
        ("no json", "mpi-probe-failed"),
        (OSError(), "mpi-probe-failed"),
        (subprocess.TimeoutExpired("x", 1), "mpi-probe-failed"),
    ],
)
def test_the_library_is_asked_in_a_process_of_its_own(monkeypatch, end, answer):
    calls = []

    def run(words, limit_s, environment):
        calls.append((words[:2], limit_s, environment["PYTHONPATH"].split(":")))
        if isinstance(end, Exception):
            raise end
        return SimpleNamespace(stdout=end if isinstance(end, str) else json.dumps(end))

    monkeypatch.setattr(mpiexec, "run_program", run)
    monkeypatch.setenv("PYTHONPATH", "/more")
    find = mpiexec.find_mpi_library.__wrapped__
    if isinstance(answer, str):
        with raises(answer, LaunchError) as caught:
            find()
        assert caught.value.hint == mpiexec.INSTALL
    else:
        assert find() == answer
    source = str(Path(launch.__path__[0]).parents[2])
    assert calls == [([sys.executable, "-c"], 30, [source, "/more"])]


@pytest.mark.parametrize(
    ("flavour", "launchers", "chosen"),
    [
        ("mpich", {"/a": "openmpi", "/b": "mpich", "/c": "mpich"}, "/b"),
        ("", {"/a": "openmpi", "/b": "mpich"}, "/a"),
        ("intel", {"/a": "openmpi", "/b": "mpich"}, "/a is v/a; /b is v/b"),
        ("mpich", {}, None),
    ],
)
def test_the_first_mpiexec_of_the_family_is_taken(monkeypatch, flavour, launchers, chosen):
    monkeypatch.setattr(mpiexec, "_list_candidates", lambda library, path: ["/unknown", *launchers])
    monkeypatch.setattr(
        mpiexec,
        "identify_mpiexec",
        lambda path: mpiexec.Mpiexec(path, launchers[path], f"v{path}") if path in launchers else None,
    )
    library = mpiexec.Library(flavour, "its version", ())
    match = mpiexec._match_mpiexec.__wrapped__
    if chosen in launchers:
        assert match(library, "who", "path").path == chosen
    elif chosen:
        with raises("mpi-mismatch", LaunchError, version="its version", loader="who", candidates=chosen):
            match(library, "who", "path")
    else:
        with raises("tool-missing", LaunchError, version="its version"):
            match(library, "who", "path")


@pytest.mark.parametrize(
    ("end", "identified"),
    [("HYDRA build details:\n    Version:   4.1\n", ("mpich", "MPICH Hydra 4.1")), ("none\n", None), (OSError(), None)],
)
def test_an_mpiexec_is_identified_by_its_version(monkeypatch, end, identified):
    def run(words, limit_s):
        assert (words, limit_s) == (["/m", "--version"], 30)
        if isinstance(end, Exception):
            raise end
        return SimpleNamespace(stdout=end)

    monkeypatch.setattr(mpiexec, "run_program", run)
    assert mpiexec.identify_mpiexec("/m") == (mpiexec.Mpiexec("/m", *identified) if identified else None)


@pytest.mark.parametrize(("ranks", "short"), [(1, False), (4, False), (5, True)])
def test_waiting_ranks_yield_where_there_are_more_than_cores(monkeypatch, ranks, short):
    monkeypatch.setattr(mpiexec.os, "sched_getaffinity", lambda pid: set(range(4)))
    mpich, ompi, intel = (mpiexec.Mpiexec("/m", flavour, "") for flavour in ("mpich", "openmpi", "intel"))
    throttle = "MPIR_CVAR_CH4_PROGRESS_THROTTLE"
    words = ["-genv", throttle, "1", "-genv", f"{throttle}_NO_PROGRESS_COUNT", "100"]
    assert mpiexec.list_yield_options(mpich, ranks) == (words if short else [])
    assert mpiexec.list_user_yield_options(ompi, ranks) == (["--mca", "mpi_yield_when_idle", "1"] if short else [])
    for launcher in (ompi, intel):
        assert mpiexec.list_yield_options(launcher, ranks) == []
    for launcher in (mpich, intel):
        assert mpiexec.list_user_yield_options(launcher, ranks) == []


@pytest.mark.parametrize(
    ("text", "flavour"),
    [
        ("Open MPI", "openmpi"),
        ("mpirun (OpenRTE) 4", "openmpi"),
        ("prte (PRRTE) 3", "openmpi"),
        ("prterun 3", "openmpi"),
        ("HYDRA", "mpich"),
        ("MPICH", "mpich"),
        ("MVAPICH2", "mpich"),
        ("Intel MPI, Hydra", "intel"),
        ("", ""),
    ],
)
def test_each_name_of_a_family(text, flavour):
    assert mpiexec.find_flavour(text) == flavour


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("HYDRA\n  Version: 5.0\n  CC: x\nVersion: 6\n", "MPICH Hydra 5.0"),
        ("HYDRA\n CC: x\n", "MPICH Hydra"),
        ("\n a 1 \nb\n", "a 1"),
        ("", ""),
    ],
)
def test_the_line_with_the_version(text, line):
    assert mpiexec.find_version_line(text) == line


def test_candidates_beside_the_library_come_before_those_on_path(tmp_path, monkeypatch):
    for name in ("lib/libmpi.so", "bin/mpirun", "bin/mpiexec.openmpi", "p/mpiexec", "p/mpiexec.mpich", "q/mpiexec"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o755)
    (tmp_path / "r").symlink_to(tmp_path / "p")
    library = mpiexec.Library("x", "x", (str(tmp_path / "lib/libmpi.so"),))
    path = ":".join(str(tmp_path / name) for name in "pqr")
    expected = [str(tmp_path / name) for name in ("bin/mpirun", "p/mpiexec", "q/mpiexec", "p/mpiexec.mpich")]
    assert mpiexec._list_candidates(library, path) == expected
