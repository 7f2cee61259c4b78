"""IOR 2.10 to 4.x. Importers read from the command line what its output does not print."""

from collections.abc import Mapping, Sequence

from iosonde.core.types import FactorValue

from .tool import Style, ValueKind, Vocabulary, count, declare_others, flag, path, size, word

IOR = Vocabulary(
    "ior",
    (
        size("transfer_size", "t"),
        size("block_size", "b"),
        count("segments", "s"),
        word("api", "a"),
        count("iterations", "i"),
        count("ranks", "N"),
        count("stonewall_seconds", "D", is_read=True, default=0),
        count("task_offset", "Q"),
        flag("file_per_process", "F"),
        flag("random", "z"),
        flag("direct", "B", "posix.odirect", is_read=True),
        flag("fsync", "e", is_read=True),
        flag("fsync_per_write", "Y", is_read=True),
        flag("barriers", "g", is_read=True),
        flag("existing_file", "E", is_read=True, default=None),  # what is only read exists
        flag("file_per_iteration", "m", is_read=True),
        flag("unique_directories", "u", is_read=True),
        flag("preallocate", "p", "mpiio.preallocate", is_read=True),
        flag("shared_pointer", "P", is_read=True),
        flag("strided_datatype", "S", "mpiio.useStridedDatatype", is_read=True),
        flag("file_view", "V", "mpiio.useFileView", is_read=True),
        flag("check_write", "W", is_read=True),
        flag("check_read", "R", is_read=True),
        flag("range_locks", "posix.rangelocks", is_read=True),
        flag("madvise_dont_need", "mmap.madv_dont_need", is_read=True),
        flag("madvise_pattern", "mmap.madv_pattern", is_read=True),
        size("alignment", "J", is_read=True),
        size("prefill_size", "randomPrefill", is_read=True),
        size("stripe_size", "posix.lustre.stripesize", is_read=True),
        count("stripe_count", "posix.lustre.stripecount", is_read=True),
        count("limit_minutes", "T", is_read=True, default=0),
        count("delay_seconds", "d", is_read=True, default=0),
        word("memory_per_node", "M", is_read=True),
        word("data_pattern", "l", "dataPacketType", is_read=True),
        path("o"),
        *declare_others("A f G j O U X random-offset-seed mpiio.hintsFileName"),
        *declare_others(
            "c/collective C h/help H I k K n q r v w x y Z warningAsErrors dryRun mpiio.showHints", ValueKind.FLAG
        ),
    ),
    option_files=("f",),
)
# Directives of ``-O``, in lower case. The output prints what those without a setting change, or they change no number.
_DIRECTIVES = Vocabulary(
    "ior -O",
    (
        count("stonewall_seconds", "deadlineforstonewalling", is_read=True),
        flag("wear_out", "stonewallingwearout", is_read=True),
        count("wear_out_transfers", "stonewallingwearoutiterations", is_read=True),
        count("minimum_seconds", "mintimeduration", is_read=True, default=0),
        flag("direct", "useo_direct", is_read=True),
        flag("fsync", "fsync", is_read=True),
        flag("fsync_per_write", "fsyncperwrite", is_read=True),
        flag("barriers", "intratestbarriers", is_read=True),
        flag("existing_file", "useexistingtestfile", is_read=True),
        flag("file_per_iteration", "multifile", is_read=True),
        flag("unique_directories", "uniquedir", is_read=True),
        flag("preallocate", "preallocate", is_read=True),
        flag("shared_pointer", "usesharedfilepointer", is_read=True),
        flag("strided_datatype", "usestrideddatatype", is_read=True),
        flag("file_view", "usefileview", is_read=True),
        flag("check_write", "checkwrite", is_read=True),
        flag("check_read", "checkread", is_read=True),
        size("alignment", "setalignment", is_read=True),
        size("stripe_size", "lustrestripesize", is_read=True),
        count("stripe_count", "lustrestripecount", is_read=True),
        count("limit_minutes", "maxtimeduration", is_read=True),
        count("delay_seconds", "intertestdelay", is_read=True),
        word("memory_per_node", "memorypernode", is_read=True),
        *declare_others(
            "api testnum debug platform testfile hintsfilename outlierthreshold nodes numtasks repetitions readfile"
            " writefile fileperproc reordertasksconstant reordertasksrandom reordertasksrandomseed taskpernodeoffset"
            " keepfile keepfilewitherror quitonerror segmentcount blocksize transfersize singlexferattempt verbose"
            " settimestampsignature collective storefileoffset showhints showhelp randomoffset summaryfile"
            " summaryformat saverankperformancedetailscsv saveperopdatacsv warningaserrors stonewallingstatusfile"
        ),
    ),
    Style.OPERANDS,
)
IOR_DEFAULTS: Mapping[str, FactorValue] = {**_DIRECTIVES.defaults, **IOR.defaults}
"""The settings of a command line that has neither an option nor a directive for them."""


def read_ior_settings(words: Sequence[str]) -> Mapping[str, FactorValue]:
    """Return the settings in the words of IOR's command line that its output does not print. An unknown option of an
    API (``--dfs.oclass=SX``) or unknown directive (``-O debug=x``) has its own name, with ``_`` for a dot."""
    options = list(IOR.split(words))
    texts = [option.value or "" for option in options if option.name == "-O"]
    directives = [text.strip() for several in texts for text in several.split(",")]
    pairs = [(name.strip().lower(), value.strip()) for name, _, value in (text.partition("=") for text in directives)]
    own = [
        (option.name.lstrip("-"), option.value) for option in options if option.option is None and "." in option.name
    ]
    own += [(name, value) for name, value in pairs if name and name not in _DIRECTIVES.by_name]
    is_off = {name for name, value in pairs if value == "0" and name in _DIRECTIVES.by_name}
    known = [f"{name}={value}" for name, value in pairs if name not in is_off]
    settings = IOR.read_settings(words) | _DIRECTIVES.read_settings(known)
    letters = {option.name for option in options}
    if "-r" in letters and "-w" not in letters:
        settings.pop("existing_file", None)  # what is only read exists
    return settings | {name.replace(".", "_"): value[:200] if value else True for name, value in own}
