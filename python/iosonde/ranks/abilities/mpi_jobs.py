"""Check other MPI programs: which MPI they load, and whether its launcher and library match."""

import shutil

from iosonde.core.errors import LaunchError
from iosonde.core.message import Message
from iosonde.ranks.launch import local, mpiexec, program

from .ability import Ability

TOOLS = ("ior", "mdtest", "md-workbench", "io500")
_NEEDED_FOR = "ior, mdtest and the like as one job over all nodes (on: mpi)"


def mpi_programs() -> Ability:
    """Start two tasks of the MPI that each program loads, with the matching launcher."""
    name, there = "mpi programs", [tool for tool in TOOLS if program.path_of(tool)]
    if not there:
        detail = Message("tool-missing", "none on PATH: {tools}", tools=", ".join(TOOLS))
        return Ability(name, False, detail, _NEEDED_FOR, "build one from github.com/hpc/ior")
    sentences, cure = [], ""
    for library in dict.fromkeys(program.library_of(tool) for tool in there):
        who = ", ".join(tool for tool in there if program.library_of(tool) == library)
        try:
            starter = local.Local().job(2, 1, library, ())[0]
            seconds = program.check(local.Local(), 2, library)
            sentences.append(
                f"{who}: {library.version}, started by {starter} in {seconds:.1f} s{_note_other_mpiexec(library)}"
            )
        except LaunchError as error:
            sentences.append(f"{who}: {error.message}")
            cure = error.hint
    return Ability(name, not cure, "; ".join(sentences), _NEEDED_FOR, cure)


def _note_other_mpiexec(library: mpiexec.Library) -> str:
    """Describe the first mpiexec on PATH if it belongs to another MPI, with which every task would run alone."""
    path = shutil.which("mpiexec")
    typed = mpiexec.describe(path) if path else None
    if not typed or not library.flavour or typed.flavour == library.flavour:
        return ""
    return f" (not with {path}, {typed.version}: each task would run alone)"


CHECKS = [mpi_programs]
