"""The launcher that belongs to a user's program: which library it loads, whose mpiexec, and its words."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from iosonde.core.errors import LaunchError
from iosonde.ranks.abilities import mpi as doctor
from iosonde.ranks.launch import local, mpiexec, mpirun, program, slurm

sys.path.insert(0, str(Path(__file__).parents[1]))
import fake_mpi
from messages import assert_problem, raises

OPEN_MPI = mpiexec.Library(mpiexec.OPEN_MPI, "Open MPI (libmpi.so.40)", ())
MPICH = mpiexec.Library(mpiexec.MPICH, "MPICH (libmpi.so.12)", ())


@pytest.fixture
def bin_(tmp_path, monkeypatch):
    """A directory that is PATH but for the system's shell and tools."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sed", "env", "sh"):
        (folder / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    return folder


def test_of_two_mpiexecs_that_of_the_library_is_taken_also_behind_the_other(bin_, tmp_path, monkeypatch):
    fake_mpi.launcher(bin_, fake_mpi.MPICH)
    right = fake_mpi.launcher(tmp_path / "other", fake_mpi.OPEN_MPI)
    monkeypatch.setenv("PATH", f"{bin_}:{right.parent}")
    assert mpiexec.find_mpiexec_of_library(OPEN_MPI, "ior").path == str(right)
    assert mpiexec.find_mpiexec_of_library(MPICH, "ior").path == str(bin_ / "mpiexec")
    assert mpiexec.find_mpiexec_of_library(program.find_library_of_program("ior"), "ior").path == str(
        bin_ / "mpiexec"
    )  # unknown: the first


def test_a_launcher_that_is_not_there_is_said_with_those_that_are(bin_):
    with raises("tool-missing", LaunchError):
        mpiexec.find_mpiexec_of_library(OPEN_MPI, "ior")
    fake_mpi.launcher(bin_, fake_mpi.MPICH, name="mpirun")
    with raises("mpi-mismatch", LaunchError, loader="ior"):
        mpiexec.find_mpiexec_of_library(OPEN_MPI, "ior")


def test_the_words_of_a_local_job(bin_, monkeypatch):
    path = str(fake_mpi.launcher(bin_))
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1})
    assert local.Local().job(1, 1, OPEN_MPI, ("A",)) == []
    two = local.Local().job(2, 1, OPEN_MPI, ("A",))
    assert two == [path, "--host", "localhost:2", "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none", "-n", "2"]
    assert local.Local().job(2, 2, OPEN_MPI, ())[-3:] == ["--mca", "mpi_yield_when_idle", "1"]


def test_the_words_of_a_job_over_hosts_pass_its_variables_on(bin_):
    path = str(fake_mpi.launcher(bin_))
    words = mpirun.MpiRun(("n1", "n2", "n3")).job(2, 4, OPEN_MPI, ("A", "B"))
    assert words[0] == path and "n1:4,n2:4" in words and "ppr:4:node:OVERSUBSCRIBE" in words
    assert words[words.index("A") - 1] == words[words.index("B") - 1] == "-x"
    fake_mpi.launcher(bin_, fake_mpi.MPICH, name="mpiexec.hydra")
    hydra = mpirun.MpiRun(("n1", "n2", "n3")).job(2, 1, MPICH, ("A",))
    assert hydra[-6:] == ["-hosts", "n1,n2", "-ppn", "1", "-n", "2"] and "A" not in hydra


def test_the_words_of_a_job_under_slurm_share_the_cpus_of_our_step(bin_):
    srun = fake_mpi.script(
        bin_ / "srun",
        '#!/bin/sh\ncase "$1" in --mpi=list) printf "none\\npmix\\n";; --help) echo "  --overlap";; esac\n',
    )
    words = slurm.Slurm(str(srun), ("n1", "n2")).job(2, 2, OPEN_MPI, ())
    assert {"--nodelist=n1,n2", "--ntasks=4", "--ntasks-per-node=2", "--mpi=pmix", "--overlap"} <= set(words)
    unknown = slurm.Slurm(str(srun), ("n1", "n2")).job(1, 2, program.find_library_of_program("nobody"), ())
    assert not [word for word in unknown if word.startswith("--mpi")]
    older = fake_mpi.script(bin_ / "older", "#!/bin/sh\necho none\n")
    assert slurm.get_overlap_option(str(older)) == []


def test_the_library_of_a_program_is_what_its_loader_says(bin_, tmp_path):
    library = tmp_path / "libmpi.so.40"
    library.write_bytes(b"\x7fELF ... ompi_mpi_comm_world ...")
    fake_mpi.script(bin_ / "ldd", f'#!/bin/sh\necho "	libmpi.so.40 => {library} (0x00007f)"\n')
    tool = tmp_path / "tool"
    tool.write_bytes(b"\x7fELF")
    tool.chmod(0o755)
    found = program.find_library_of_program(str(tool))
    assert found == mpiexec.Library(mpiexec.OPEN_MPI, "Open MPI (libmpi.so.40)", (str(library),))


@pytest.mark.parametrize(
    ("content", "flavour"),
    [
        (b"\x7fELF xx MPIR_CVAR_X", mpiexec.MPICH),
        (b"\x7fELF Intel(R) MPI MPIR_CVAR_X", mpiexec.INTEL),
        (b"\x7fELF nothing", ""),
        (b"#!/bin/sh\n# MPICH\n", ""),
        (b"", ""),
    ],
)
def test_the_library_of_a_static_program_is_in_it(bin_, tmp_path, content, flavour):
    tool = tmp_path / "tool"
    tool.write_bytes(content)
    tool.chmod(0o755)
    assert program.find_library_of_program(str(tool)).flavour == flavour


def test_a_program_that_is_not_there_has_no_known_library(bin_):
    library = program.find_library_of_program("nobody")
    assert (library.flavour, library.paths) == ("", ()) and "nobody" in library.version


def test_a_launcher_that_fails_is_found_out_before_anything_is_measured(bin_):
    unknown = program.find_library_of_program("ior")
    fake_mpi.script(
        bin_ / "mpiexec", f'#!/bin/sh\n[ "$1" = --version ] && echo "{fake_mpi.OPEN_MPI}" && exit\nexit 7\n'
    )
    with raises("launch-failed", LaunchError):
        program.check_launch(local.Local(), 2, unknown)
    fake_mpi.launcher(bin_)
    program.check_launch(local.Local(), 2, unknown)


def test_an_unknown_library_is_tried_with_a_program_that_no_launcher_takes_for_two(bin_):
    unknown = program.find_library_of_program("ior")
    fake_mpi.script(
        bin_ / "mpiexec",
        f'#!/bin/sh\n[ "$1" = --version ] && echo "{fake_mpi.OPEN_MPI}" && exit\n'
        'for word; do [ "$word" = : ] && exit 7; done\nexit 0\n',
    )
    program.check_launch(local.Local(), 2, unknown)


def test_doctor_says_which_launcher_starts_which_tool(bin_):
    assert not doctor.mpi_programs().ok
    assert_problem(doctor.mpi_programs().detail, "tool-missing", tools=", ".join(doctor.MPI_TOOLS))
    fake_mpi.ior(bin_)
    fake_mpi.launcher(bin_)
    found = doctor.mpi_programs()
    assert found.ok and f"{bin_}/mpiexec" in found.detail and "ior" in found.detail
