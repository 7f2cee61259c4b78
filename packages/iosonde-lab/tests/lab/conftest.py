"""Labs for tests: in a root directory of their own, so that no lab of anybody's is seen or touched; taken down at the
end of their module, and what is left then fails the session.

`lab_of("glusterfs", replica=2)` brings one up; a file system whose packages are missing is skipped with their names.
"""

import os
import tempfile
from pathlib import Path

import pytest
from lab_here import Leftovers, why_not

from iosonde_lab import api as labs
from iosonde_lab import place


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.lab)


@pytest.fixture(scope="session")
def lab_root():
    """A directory for labs that nobody else has, and nothing of which is there afterwards."""
    if why := why_not():
        pytest.skip(why)
    # Not /tmp, which may be memory: direct I/O needs a disk.
    root, before = Path(tempfile.mkdtemp(prefix="iosonde-lab-", dir="/var/tmp")).resolve(), os.environ.get(place.ROOT)
    os.environ[place.ROOT] = str(root)
    try:
        yield root
        for name in place.names():
            labs.down(name)
        assert Leftovers(root).found() == {}
        root.rmdir()
    finally:
        os.environ.pop(place.ROOT)
        if before is not None:
            os.environ[place.ROOT] = before


@pytest.fixture(scope="module")
def lab_of(lab_root):
    """Brings a lab up: `lab_of(FILE_SYSTEM, words={"servers": 2, "net": "100mbit"}, replica=2)`; `measured=True` also
    looks at its links and disks. All are taken down after the module's tests."""
    made = []

    def bring(file_system, words=None, measured=False, options=None, **more):
        if why := why_not(file_system):
            pytest.skip(why)
        given = {"servers": 2, "clients": 1, "disk_size": "512MiB", **(words or {}), "file_system": file_system}
        settings = {name: str(value) for name, value in {**(options or {}), **more}.items()}
        lab = labs.up(labs.described(given, settings), measured=measured)
        made.append(lab.name)
        return lab

    yield bring
    for name in set(made) & set(place.names()):
        labs.down(name)
