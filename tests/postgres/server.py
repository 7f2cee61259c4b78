"""A PostgreSQL server of our own: as a user without rights, on a socket in a new directory, ended by its process."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg


def program(name: str) -> str:
    """Debian keeps them beside the versions, off PATH."""
    beside = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    found = shutil.which(name) or (str(beside[-1]) if beside else "")
    assert found, f"missing: {name}; install it with: apt install postgresql"
    return found


@contextmanager
def running() -> Iterator[str]:
    """The address of its database."""
    folder = Path(tempfile.mkdtemp(prefix="iosonde-postgres-"))
    user = None
    if os.getuid() == 0:  # which the server refuses
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        user = nobody.pw_uid
    data, log = folder / "data", folder / "log"
    url = f"postgresql://iosonde:secret@/postgres?host={folder}"
    try:
        made = [program("initdb"), "-D", str(data), "-U", "iosonde", "-A", "trust", "-E", "UTF8", "--locale", "C.UTF-8"]
        subprocess.run(made, check=True, capture_output=True, user=user, cwd=folder)
        words = [program("postgres"), "-D", str(data), "-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off"]
        with log.open("w") as said:
            process = subprocess.Popen(words, user=user, cwd=folder, stdout=said, stderr=said)
        try:
            _wait(url, process, log)
            yield url
        finally:
            process.send_signal(signal.SIGINT)  # what still asks is cut off
            process.wait(30)
    finally:
        shutil.rmtree(folder)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    while True:
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError:
            assert process.poll() is None, log.read_text()
            time.sleep(0.05)
