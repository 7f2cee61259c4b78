"""Programs that start the ranks of an MPI program: how many."""

from .tool import Style, Vocabulary, count, declare_others

MPIEXEC = Vocabulary(
    "mpiexec", (count("ranks", "n", "np"), *declare_others("f host H hosts hostfile ppn")), Style.NAMES
)
SRUN = Vocabulary(
    "srun", (count("ranks", "n", "ntasks"), count("nodes", "N", "nodes"), count("ranks_per_node", "ntasks-per-node"))
)
APRUN = Vocabulary("aprun", (count("ranks", "n"), count("ranks_per_node", "N")))

_FAMILIES = {"srun": SRUN, "aprun": APRUN, **dict.fromkeys(("mpiexec", "mpirun", "orterun", "prterun"), MPIEXEC)}


def find_launcher_options(name: str) -> Vocabulary | None:
    """Return the options of a launcher, None if they are unknown."""
    return _FAMILIES.get(name)
