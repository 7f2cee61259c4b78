"""``python -m glass_sample DIR``: a Git repository of a small file system (tests/glass), to try the gate with.

``main`` passes everything through; the branch ``tidy`` only changes words, ``settle`` waits 10 ms in each write.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from ci_sample import git

HERE = Path(__file__).parent
WRITE = "        return struct.pack("
SETTLED = "        time.sleep(0.01)  # the disk may need a moment\n"


def make(directory: Path) -> None:
    """The repository with its three branches, ``main`` checked out."""
    directory.mkdir()
    git(directory, "init", "--quiet", "--initial-branch", "main")
    for file in (*sorted((HERE / "glass").glob("*.[ps][yh]")), HERE / "faults" / "fuse_wire.py"):
        shutil.copy(file, directory)
    git(directory, "add", ".")
    git(directory, "commit", "--quiet", "-m", "A file system that shows another directory")
    program = directory / "glass.py"
    text = program.read_text()
    slower = text.replace("import sys\n", "import sys\nimport time\n").replace(WRITE, SETTLED + WRITE)
    for branch, changed in (("tidy", text.replace("as it is", "unchanged")), ("settle", slower)):
        assert changed != text
        git(directory, "checkout", "--quiet", "-b", branch, "main")
        program.write_text(changed)
        git(directory, "commit", "--quiet", "-am", branch)
    git(directory, "checkout", "--quiet", "main")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
