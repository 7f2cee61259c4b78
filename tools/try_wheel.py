"""``python tests/try_wheel.py DIRECTORY``: installs the wheel that lies there into an empty environment, in which there
is no Rust, and runs ``iosonde run``, ``summary`` and the notebook."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs" / "examples" / "what-matters.ipynb"
NOTEBOOK_NEEDS = ("ipykernel>=6.29,<8", "jupyter_client>=8.6,<9", "nbclient>=0.10,<1", "nbformat>=5.10,<6")


def try_wheel(wheel: Path, scratch: Path) -> None:
    """Raise CalledProcessError where a step fails."""
    venv.create(scratch / "env", with_pip=True)
    programs = scratch / "env" / "bin"
    environment = {
        **{name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "LANG"))},
        "PATH": f"{programs}:/usr/bin:/bin",
        "HOME": str(scratch),
    }
    assert shutil.which("cargo", path=environment["PATH"]) is None, "the environment has a Rust"

    def call(*words: str | Path) -> None:
        subprocess.run([programs / words[0], *words[1:]], cwd=scratch, env=environment, check=True)

    constraints = ("--constraint", ROOT / "requirements.lock")
    call("python", "-m", "pip", "install", "--quiet", *constraints, f"{wheel}[notebook]", *NOTEBOOK_NEEDS)
    (scratch / "target").mkdir()
    call("iosonde", "--version")
    call("iosonde", "run", "--target", "target", "--nodes", "1", "--store", "store", "--budget", "20s")
    call("iosonde", "summary", "store")
    call("python", ROOT / "tests" / "notebook.py", shutil.copy(NOTEBOOK, NOTEBOOK.with_stem("tried")))


def main(directory: Path) -> None:
    """Try the one wheel of a directory."""
    (wheel,) = directory.resolve().glob("*.whl")
    with tempfile.TemporaryDirectory() as scratch:
        try:
            try_wheel(wheel, Path(scratch))
        finally:
            NOTEBOOK.with_stem("tried").unlink(missing_ok=True)
    print(f"{wheel.name} runs in an empty environment")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
