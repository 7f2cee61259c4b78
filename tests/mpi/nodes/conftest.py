"""Nodes made of name spaces, and a Slurm on them: see cluster.py and slurm_here.py."""

from __future__ import annotations

import cluster as clusters
import pytest
import slurm_here


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.mpi)


@pytest.fixture(scope="module")
def cluster():
    """Three nodes n1, n2, n3, and one more (login) that nobody has to measure on."""
    if why := clusters.why_not():
        pytest.skip(why)
    with clusters.Cluster("login", "n1", "n2", "n3") as nodes:
        yield nodes


@pytest.fixture(scope="module")
def slurm(cluster):
    """Slurm with n1 to n3, its clients on login."""
    if why := slurm_here.why_not():
        pytest.skip(why)
    running = slurm_here.Slurm(cluster)
    try:
        running.start()
        yield running
    finally:
        running.stop()
