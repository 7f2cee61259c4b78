"""IOR 2.10 to 4.x."""

from .tool import ValueKind, Vocabulary, count, declare_others, flag, path, size, word

IOR = Vocabulary(
    "ior",
    (
        size("transfer_size", "t"),
        size("block_size", "b"),
        count("segments", "s"),
        word("api", "a"),
        count("iterations", "i"),
        count("ranks", "N"),
        count("stonewall_seconds", "D"),
        count("task_offset", "Q"),
        flag("file_per_process", "F"),
        flag("random", "z"),
        flag("direct", "B", "posix.odirect"),
        path("o"),
        *declare_others("A d f G j J l/dataPacketType M O T U X random-offset-seed mpiio.hintsFileName"),
        *declare_others("randomPrefill", ValueKind.SIZE),
        *declare_others(
            "c/collective C e E g h/help H I k K m n p P q r R S u v V w W x y Y Z warningAsErrors dryRun"
            " posix.rangelocks mpiio.showHints mpiio.preallocate mpiio.useStridedDatatype mpiio.useFileView"
            " mmap.madv_dont_need mmap.madv_pattern",
            ValueKind.FLAG,
        ),
    ),
)
