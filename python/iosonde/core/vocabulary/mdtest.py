"""mdtest 1.9 to 4.x. Its output prints none of its settings, so importers read the command line."""

from .tool import ValueKind, Vocabulary, count, declare_others, flag, path, size, word

MDTEST = Vocabulary(
    "mdtest",
    (
        size("write_bytes", "w", is_read=True, default=0),
        size("read_bytes", "e", is_read=True, default=0),
        count("items_per_rank", "n", is_read=True),
        count("items_per_directory", "I", is_read=True),
        count("depth", "z", is_read=True, default=0),
        count("branching_factor", "b", is_read=True, default=1),
        count("stride", "N", is_read=True, default=0),
        count("stonewall_seconds", "W", is_read=True, default=0),
        flag("unique_directories", "u", is_read=True),
        flag("leaf_only", "L", is_read=True),
        flag("files_only", "F", is_read=True),
        flag("directories_only", "D", is_read=True),
        flag("sync_file", "y", is_read=True),
        flag("shared_file", "S", is_read=True),
        flag("direct", "posix.odirect", is_read=True),
        flag("range_locks", "posix.rangelocks", is_read=True),
        flag("sync_phases", "Y", is_read=True),
        flag("random_stat", "R", is_read=True),
        flag("mknod", "k", is_read=True),
        count("iterations", "i"),
        word("", "a"),
        path("d"),
        *declare_others(
            "B f G l p s V x random-seed dataPacketType run-cmd-before-phase run-cmd-after-phase"
            " saveRankPerformanceDetails savePerOpDataCSV"
        ),
        *declare_others(
            "c C E h/help P print-all-procs r t T U v X verify-read verify-write Z"
            " showRankStatistics allocateBufferOnGPU warningAsErrors",
            ValueKind.FLAG,
        ),
    ),
)
