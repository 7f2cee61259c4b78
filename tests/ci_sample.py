"""``python -m ci_sample DIR``: a Git repository of a tiny program that puts files, for the gate of pull requests.

``main`` is as fast as it can be; the branch ``tidy`` only changes words, ``careful`` looks after each file and
waits for it: slower, as a careless change is.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = '''"""Put 200 files of 64 KiB below a directory."""
import os
import sys
import time

for n in range(200):
    path = os.path.join(sys.argv[1], f"file{n}")
    with open(path, "wb") as file:
        file.write(bytes(65536))
'''
CAREFUL = """    while os.stat(path).st_size != 65536:
        pass
    time.sleep(0.001)
"""


def git(directory: Path, *words: str) -> None:
    """One command of Git, as a person who is nobody in particular."""
    who = ("-c", "user.name=You", "-c", "user.email=you@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=directory, check=True, stdout=subprocess.DEVNULL)


def make(directory: Path) -> None:
    """The repository with its three branches, ``main`` checked out."""
    directory.mkdir()
    program = directory / "put.py"
    git(directory, "init", "--quiet", "--initial-branch", "main")
    program.write_text(PROGRAM)
    git(directory, "add", "put.py")
    git(directory, "commit", "--quiet", "-m", "Put files")
    for branch, text in (("tidy", PROGRAM.replace("Put 200", "Write 200")), ("careful", PROGRAM + CAREFUL)):
        git(directory, "checkout", "--quiet", "-b", branch, "main")
        program.write_text(text)
        git(directory, "commit", "--quiet", "-am", branch)
    git(directory, "checkout", "--quiet", "main")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
