"""Plug-ins: what a package adds by entry points, and what is answered where the package is not installed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from here import iosonde
from iosonde.core import plugins
from iosonde.core.errors import SystemFaultError
from iosonde.importers import Text, registry, understand
from iosonde.measure import workloads
from iosonde.measure.workloads.translation import translate
from messages import raises

STORE = Path(__file__).parents[1] / "golden" / "data" / "two-tools" / "store"


@pytest.fixture
def install(monkeypatch):
    """Make these the only entry points: group → name → value."""

    def replace(**values_by_group):
        groups = {f"iosonde.{group}": values for group, values in values_by_group.items()}
        monkeypatch.setattr(plugins, "read_groups", lambda: groups)
        registry.importers.cache_clear()

    yield replace
    registry.importers.cache_clear()


def test_entry_points_are_sorted_and_loaded_by_name(install):
    install(workloads={"z": "json:dumps", "a": "json"})
    assert list(plugins.find_entry_points("iosonde.workloads")) == ["a", "z"]
    assert plugins.load_plugin("iosonde.workloads", "z") is json.dumps
    assert {"a", "z", "envelope"} <= set(workloads.list_workloads())


def test_a_plugin_that_cannot_load_is_named(install):
    install(plan_writers={"x": "no_such_module:write"})
    with raises("plugin-load-failed", SystemFaultError, kind="plan writer", name="x"):
        plugins.load_plugin("iosonde.plan_writers", "x")


def test_without_the_extras_a_file_of_theirs_is_of_an_unknown_format(install):
    install()
    with raises("unknown-format"):
        understand(Text(b"ficus mab 2 162.9 real 83.2 user 40.9 sys\n", "benchtimes"))
    assert "ficus" not in registry.importers()


def test_without_the_extras_no_command_line_is_translated(install):
    install()
    with raises("missing-package", package=plugins.EXTRAS):
        translate("ior -w")
    with raises("missing-package", package=plugins.EXTRAS):
        workloads.find_producer("ior")
    with raises("unknown-workload"):
        workloads.find_producer("tar")


def test_without_the_extras_commands_answer_in_one_sentence(install, tmp_path):
    install()
    (tmp_path / "target").mkdir()
    (tmp_path / "ior.yaml").write_text("steps: [{workload: ior}]\ntarget: target\n")
    (tmp_path / "results.json").write_text(json.dumps({"2": {"total": {"reader": 1}}}))
    for words in (
        ("run", "ior -w", "--native", "--target", "target"),
        ("plan", "ior.yaml"),
        ("plan", "--target", "target", "--as", "iozone"),
        ("plot", "results.json", "--bars"),
        ("run", "path-study:4", "--target", "target"),
    ):
        done = iosonde(*words, where=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 2 and f"pip install {plugins.EXTRAS}" in done.stderr
    shutil.copytree(STORE, tmp_path / "store")
    assert iosonde("time-model", "store", where=tmp_path).returncode == 2
    assert iosonde("diagnose", "store", where=tmp_path).returncode == 0
    assert iosonde("plan", "--target", "target", where=tmp_path).returncode == 0
