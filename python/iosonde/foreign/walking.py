"""Iterate over the regular files of a tree: follow no link, enter no other file system, report skipped paths."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

# Called with a path that is not read or entered, and the reason.
OnSkip = Callable[[Path, str], object]


def walk_files(top: Path, on_skip: OnSkip, leave_out: Callable[[Path], bool] = lambda _: False) -> Iterator[Path]:
    """Yield the regular files below ``top``, sorted by name within each directory.

    ``leave_out`` returns True for a directory that is silently skipped. Symbolic links, FIFOs, sockets and devices are
    not files, and are skipped without a report.
    """
    try:
        device = os.stat(top).st_dev
    except OSError as error:
        on_skip(top, error.strerror or str(error))
        return
    pending = [top]
    while pending:
        directory = pending.pop()
        try:
            with os.scandir(directory) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            on_skip(directory, error.strerror or str(error))
            continue
        subdirectories = []
        for entry in entries:
            path = Path(entry.path)
            try:
                if entry.is_dir(follow_symlinks=False):
                    if leave_out(path):
                        continue
                    if entry.stat(follow_symlinks=False).st_dev != device:
                        on_skip(path, "another file system, not entered")
                    else:
                        subdirectories.append(path)
                elif entry.is_file(follow_symlinks=False):
                    yield path
            except OSError as error:
                on_skip(path, error.strerror or str(error))
        pending += reversed(subdirectories)
