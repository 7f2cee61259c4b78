"""Program for the steps of user-level benchmarks on every node: ``python -m iosonde.measure.tree_program …``.

``make DIR --seed S --files N`` writes DIR/tree and its known properties (``source_tree``). ``cache LEVEL DIR`` brings
the caches into the factor's state or fails: a cold trial that was warm must not become a result.
"""

import argparse
from pathlib import Path

from iosonde.core.errors import InputError, SystemFaultError
from iosonde.core.units import format_size
from iosonde.foreign.walking import walk_files

from . import error_sentence
from .rank import cache
from .source_tree import SourceTree

COLD, COLD_DATA, WARM = "cold", "cold-data", "warm"
_DROP = Path("/proc/sys/vm/drop_caches")


def _refuse_file(path: Path, why: str) -> None:
    raise SystemFaultError("io-error", "{path}: {reason}", "check the target", path=path, reason=why)


def set_cache(level: str, place: Path, drop: Path = _DROP) -> None:
    """Bring this node's cache of the files below ``place`` into the state ``level``.

    ``warm``: all names and bytes were read just before. ``cold-data``: written out, and no byte in the page cache
    (verified; a network client with its own cache may still have them). ``cold``: names and inodes dropped too, which
    only root can do. Raises InputError for another level, SystemFaultError if the state cannot be reached.
    """
    names = [path.relative_to(place).as_posix() for path in sorted(walk_files(place, _refuse_file))]
    if level == WARM:
        for name in names:
            (place / name).read_bytes()
        return
    if level not in (COLD, COLD_DATA):
        raise InputError(
            "unknown-cache-level",
            "unknown cache level '{level}'",
            "use {cold}, {cold_data} or {warm}",
            level=level,
            cold=COLD,
            cold_data=COLD_DATA,
            warm=WARM,
        )
    cache.write_out(place)
    cache_state = cache.check_after_drop(place, names, cache.drop_files(place, names))
    unseen = cache_state["state"] == cache.COLD_REQUESTED and not cache.can_cache_elsewhere(place)
    if unseen or cache_state["state"] == cache.WARM:
        raise SystemFaultError(
            "cache-not-dropped",
            "cannot make {path} cold: {cached_bytes} of it stay in memory",
            "take {spell.set:cache={warm}}",
            path=place,
            cached_bytes=format_size(int(cache_state["resident_bytes"])),
            warm=WARM,
        )
    if level == COLD:
        try:
            drop.write_text("2\n")  # names and inodes of all file systems; their pages were dropped above
        except OSError as error:
            raise SystemFaultError(
                "cache-not-dropped",
                "cannot drop names and inodes from the cache: {reason}",
                "run as root, or use {spell.set:cache={cold_data}}",
                reason=error.strerror,
                cold_data=COLD_DATA,
            ) from error


def main(words: list[str] | None = None) -> None:
    """Run the program. Raises IosondeError."""
    parser = argparse.ArgumentParser(prog="tree_program")
    commands = parser.add_subparsers(dest="what", required=True)
    make = commands.add_parser("make")
    make.add_argument("place", type=Path)
    make.add_argument("--seed", type=int, default=1)
    make.add_argument("--files", type=int, default=100)
    state = commands.add_parser("cache")
    state.add_argument("level")
    state.add_argument("place", type=Path)
    options = parser.parse_args(words)
    if options.what == "make":
        SourceTree(options.seed, options.files).write(options.place)
    else:
        set_cache(options.level, options.place)


if __name__ == "__main__":
    error_sentence.for_errors()
    main()
