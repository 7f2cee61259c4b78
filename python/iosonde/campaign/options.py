"""The options of a measurement, by what they are about. One that was not given is None: the file or a default says it
then."""

from dataclasses import KW_ONLY, dataclass

from iosonde.core.option_kinds import Counts, Duration, Integer, Size
from iosonde.core.options import Choice, Flag, NameList, Names, Text

from .option_kinds import HostNames, LevelsByFactor, Precision, Targets

_CountList = tuple[int, ...]


@dataclass
class SubjectOptions:
    """What is measured, and where."""

    what: Text[str | None] = Text(
        "[SPEC|'COMMAND']", "An experiment file, a command for the shell, or a benchmark's name.", is_argument=True
    )
    _: KW_ONLY
    file: Text[str | None] = Text("FILE", "An experiment file, whatever its name ends in.")
    native: Flag[bool] = Flag("Do what COMMAND (of ior, mdtest or iozone) would do with our own engine.")
    on: Choice[str | None] = Choice(
        ("single", "all", "each", "mpi"),
        "Where COMMAND runs.",
        default_text="all; ior, mdtest, md-workbench and io500: mpi",
    )
    parse: Text[str | None] = Text("auto|none|TOOL", "What reads COMMAND's output.", default_text="auto")
    set: LevelsByFactor[NameList] = LevelsByFactor(
        "FACTOR=A,B,…", "Levels of a factor. Repeatable.", (), is_repeatable=True
    )
    target: Targets[NameList] = Targets(
        "[NAME=]DIR",
        "Directory to measure (must exist); several are levels of the factor target. Repeatable.",
        (),
        is_repeatable=True,
    )
    fake: Text[str | None] = Text(
        "MACHINE", "path-study: a scripted machine (read-ahead, lock, …) instead of the target."
    )


@dataclass(kw_only=True)
class DesignOptions:
    """How much is measured: nodes, ranks, repetitions."""

    nodes: Counts[_CountList | None] = Counts("1,2,4", "Series of node counts.", default_text="1")
    ranks_per_node: Counts[_CountList | None] = Counts("K", "Ranks on each node.", default_text="1")
    repetitions: Integer[int | None] = Integer(
        "N",
        "Trials of each cell; with `find` at most so many blocks, with `against` at most so many pairs.",
        least=1,
        default_text="6; of pairs 100",
    )
    until: Precision[str | None] = Precision(
        "'ci<5%'", "Add repetitions until the interval of every mean is this narrow (Stein's two stages)."
    )


@dataclass(kw_only=True)
class PairOptions:
    """The comparison with another command."""

    against: Text[str | None] = Text(
        "'COMMAND'|FACTOR",
        "Compare with this command, or the two levels of a factor, as target: pairs in random order, until the verdict "
        "is clear.",
    )
    a_name: Text[str | None] = Text("NAME", "What COMMAND is called.", default_text="itself if short, else A")
    b_name: Text[str | None] = Text("NAME", "The same for that of `against`.")
    margin: Text[str | None] = Text("5%", "Of `against`: differences below it do not matter.", default_text="5%")
    metric: Text[str | None] = Text(
        "NAME,…",
        "Of `against` and `find`: the number that decides; with others, what `fail_if` judges.",
        default_text="bandwidth, else a rate, else the time; all",
    )
    fail_if: Names[NameList] = Names(
        "COND",
        "Of `against`: end when it is decided whether B, that of `against`, is so, as 'slower>5%', 'read: slower>3%' "
        "or 'p99>5ms'; exit 1 if so, 125 if a side cannot be measured. Repeatable.",
        (),
        is_repeatable=True,
    )


@dataclass(kw_only=True)
class FindOptions:
    """The search for the best setting."""

    find: Choice[str | None] = Choice(
        ("best",), "Race the settings: those that are shown to be worse leave, until the best one is found."
    )
    within: Text[str | None] = Text("5%", "Of `find`: the result is so near the best mean.", default_text="5%")
    sure: Text[str | None] = Text("95%", "Of `find`: with this confidence.", default_text="95%")


@dataclass(kw_only=True)
class ExtentOptions:
    """How long it may take, and how large it is."""

    budget: Duration[float | None] = Duration("30min", "Start no trial that would end later.")
    quick: Flag[bool] = Flag("A look: 2 repetitions, small sizes; what a file says of it.")
    full: Flag[bool] = Flag("As large as a file says: what it was made after.")


@dataclass(kw_only=True)
class LauncherOptions:
    """How ranks are started, and on which hosts."""

    launcher: Text[str | None] = Text("NAME", "local, mpirun or slurm.", default_text="what fits")
    hosts: HostNames[str | None] = HostNames("FILE|NAMES", "One host per line, or n1,n2; for mpirun.")


@dataclass(kw_only=True)
class ExperimentOptions:
    """Where the nodes come from, where the runs are kept, and what the experiment is called."""

    reserve: Text[str | None] = Text(
        "CMD", "A script that is called with the number of nodes and prints them; or 'salloc …', 'sbatch …'."
    )
    store: Text[str | None] = Text("DIR", "Where the runs are kept, not on the target.", default_text="iosonde-store")
    spool: Text[str | None] = Text("DIR", "Where ranks leave results meanwhile.", default_text="temporary")
    name: Text[str | None] = Text("TEXT", "A name for this experiment.")
    subject_commit: Text[str | None] = Text(
        "TEXT|auto", "The version of the file system under test, for watch; auto: of the Git repository here."
    )
    seed: Integer[int | None] = Integer("S", "Of the order and the data.", least=0, default_text="drawn")


@dataclass(kw_only=True)
class EnvelopeOptions:
    """Sizes and ways of the envelope."""

    small_files: Integer[int | None] = Integer("N", "Envelope: small files per rank.", least=1, default_text="1000")
    small_size: Size[int | None] = Size("SIZE", "Envelope: of a small file.", default_text="4KiB")
    large_files: Integer[int | None] = Integer("N", "Envelope: large files per rank.", least=1, default_text="1")
    large_size: Size[int | None] = Size("SIZE", "Envelope: of a large file.", default_text="64MiB")
    transfer_size: Size[int | None] = Size("SIZE", "Envelope: of one operation.", default_text="1MiB")
    direct: Flag[bool | None] = Flag("Envelope: large files with O_DIRECT.", None, default_text="no")
    verify: Flag[bool | None] = Flag("Envelope: stamp every block, check it on reading.", None, default_text="no")
    shared_writes: Flag[bool | None] = Flag("Envelope: also write one file from all ranks.", None, default_text="yes")


@dataclass(kw_only=True)
class CacheOptions:
    """What is done with caches."""

    cache: Choice[str | None] = Choice(("cold", "warm"), "Client cache before reads.", default_text="cold")
    before_reads: Text[str | None] = Text(
        "CMD", "Shell command, once per node before each read phase (remount, drop server caches)."
    )
    between_trials: Choice[str | None] = Choice(
        ("none", "drop"), "What is done with the nodes' caches between trials.", default_text="none"
    )


@dataclass(kw_only=True)
class LimitOptions:
    """What ends a trial or a campaign, and what is refused."""

    max_bytes: Size[int | None] = Size("SIZE", "Refuse a trial that needs more space.")
    max_files: Integer[int | None] = Integer("N", "Refuse a trial that needs more files.", least=1)
    max_seconds: Duration[float | None] = Duration("TIME", "Refuse a longer campaign.")
    max_operations: Integer[int | None] = Integer(
        "N",
        "Operations recorded one by one in a run; beyond it counts, histogram and a sample.",
        least=1,
        default_text="10 million",
    )
    trial_timeout: Duration[float | None] = Duration("TIME", "End a trial after this time.")
    idle_timeout: Duration[float | None] = Duration(
        "TIME", "End a trial in which no rank gets on for so long.", default_text="5min"
    )
    pace: Text[str | None] = Text(
        "10min|50%", "Breaks: at most one trial in this time, or trials in at most this share of the time."
    )
    incomplete: Flag[bool | None] = Flag(
        "Go on after incomplete trials, as short runs that a benchmark calls invalid, and show them, marked.",
        None,
        default_text="3 in a row end it; left out",
    )
    abort_if: Text[str | None] = Text(
        "CMD", "Shell command, before each trial; exit code 0 ends the campaign. What was measured is kept."
    )


@dataclass(kw_only=True)
class TurnOptions:
    """What to do while another iosonde measures on this machine."""

    wait: Duration[float | None] = Duration(
        "TIME", "Where another iosonde measures on this machine: wait for it so long, do not refuse at once."
    )
    alongside: Flag[bool] = Flag("Measure though another iosonde measures on this machine.")
