"""A node without /dev/shm, where MPICH cannot start, is named as such."""

from __future__ import annotations

import pytest

from iosonde.core.errors import LaunchError
from iosonde.ranks import mpi
from messages import raises


@pytest.fixture(autouse=True)
def mpich(monkeypatch):
    monkeypatch.delenv("OMPI_COMM_WORLD_SIZE", raising=False)
    monkeypatch.setattr(mpi, "_import_mpi", lambda initialize: pytest.fail("MPI was started"))


def test_a_node_without_shared_memory_is_named_before_mpi_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(mpi, "SHARED_MEMORY", tmp_path / "shm")
    with raises("shared-memory-unavailable", LaunchError, path=tmp_path / "shm") as error:
        mpi.connect_ranks(2)
    assert mpi.get_this_host().name in error.value.message and "tmpfs" in error.value.hint
    (tmp_path / "shm").touch(mode=0)
    with raises("shared-memory-unavailable", LaunchError, path=tmp_path / "shm") as unwritable:
        mpi.connect_ranks(2)
    assert unwritable.value.message != error.value.message


def test_open_mpi_keeps_it_elsewhere_then(tmp_path, monkeypatch):
    monkeypatch.setattr(mpi, "SHARED_MEMORY", tmp_path / "shm")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    with pytest.raises(pytest.fail.Exception):
        mpi.connect_ranks(2)
