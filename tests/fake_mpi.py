"""A fake ior and fake launchers, as scripts in a directory for PATH: what an MPI does, without one.

The launcher of the right family starts one ior that knows its number of tasks; the stranger starts so many, each of
which believes to be alone.
"""

from __future__ import annotations

from pathlib import Path

OUTPUT = Path(__file__).parent / "golden" / "fixtures" / "ior" / "gen-ior410-readonly.txt"
_IOR = """#!/bin/sh
sed "s/^tasks  .*/tasks               : ${{FAKE_TASKS:-1}}/" {output}
"""
_FITTING = """#!/bin/sh
[ "$1" = --version ] && {{ echo "{version}"; exit 0; }}
echo "$@" >> {log}
env > {log}.env
while [ "$1" != -n ]; do shift; done
FAKE_TASKS=$2; shift 2
[ "$1" = --mca ] && shift 3
export FAKE_TASKS
exec "$@"
"""
_STRANGER = """#!/bin/sh
[ "$1" = --version ] && {{ echo "{version}"; exit 0; }}
while [ "$1" != -n ]; do shift; done
n=$2; shift 2
[ "$1" = --mca ] && shift 3
while [ $n -gt 0 ]; do "$@"; n=$((n - 1)); done
"""
_BROKEN = """#!/bin/sh
[ "$1" = --version ] && echo "{version}" && exit
exit 7
"""
OPEN_MPI, MPICH = "mpiexec (OpenRTE) 4.1.4", "HYDRA build details:"


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def ior(folder: Path) -> Path:
    """Prints the output of an ior, with the tasks that its launcher told it, else 1."""
    return script(folder / "ior", _IOR.format(output=OUTPUT))


def broken(folder: Path) -> Path:
    """A launcher that starts nothing."""
    return script(folder / "mpiexec", _BROKEN.format(version=OPEN_MPI))


def launcher(folder: Path, version: str = OPEN_MPI, stranger: bool = False, name: str = "mpiexec") -> Path:
    """Writes its words to ``folder/log``, and its environment to ``folder/log.env``."""
    return script(folder / name, (_STRANGER if stranger else _FITTING).format(version=version, log=folder / "log"))
