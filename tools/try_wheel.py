"""``python tools/try_wheel.py DIRECTORY``: installs the product's wheel that lies there into an empty environment, in
which there is no Rust, and runs ``iosonde run``, ``summary`` and the notebook; then the wheel for labs, which it works
without."""

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


def try_wheels(wheel: Path, lab_wheel: Path, scratch: Path) -> None:
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

    def check_refused(*words: str, hint: str) -> None:
        """Check that a command ends with exit code 2 and a hint."""
        done = subprocess.run([programs / words[0], *words[1:]], cwd=scratch, env=environment, capture_output=True)
        error = done.stderr.decode()
        assert done.returncode == 2 and hint in error, error

    constraints = ("--constraint", ROOT / "requirements.lock")
    call("python", "-m", "pip", "install", "--quiet", *constraints, f"{wheel}[notebook]", *NOTEBOOK_NEEDS)
    (scratch / "target").mkdir()
    call("iosonde", "--version")
    call("iosonde", "run", "--target", "target", "--nodes", "1", "--store", "store", "--budget", "20s")
    call("iosonde", "summary", "store")
    check_refused("iosonde", "lab", hint="pip install iosonde-lab")
    call("python", ROOT / "tests" / "notebook.py", shutil.copy(NOTEBOOK, NOTEBOOK.with_stem("tried")))
    call("python", "-m", "pip", "install", "--quiet", "--no-index", lab_wheel)
    call("iosonde", "lab", "-h")
    call("python", "-c", "from iosonde_lab import api; api.listing()")


def main(directory: Path) -> None:
    """Try the two wheels of a directory."""
    (wheel,) = directory.resolve().glob("iosonde-*.whl")
    (lab_wheel,) = directory.resolve().glob("iosonde_lab-*.whl")
    with tempfile.TemporaryDirectory() as scratch:
        try:
            try_wheels(wheel, lab_wheel, Path(scratch))
        finally:
            NOTEBOOK.with_stem("tried").unlink(missing_ok=True)
    print(f"{wheel.name} runs in an empty environment, and with {lab_wheel.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
