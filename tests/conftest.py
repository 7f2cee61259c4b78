"""Settings that all tests share."""

import atexit
import gc
import os
import shutil
import signal
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

import account
from faults import faultfs
from iosonde.core.message import set_default_spelling, terminal_spelling

# Files of which (nearly) every test is slow: `make quick` does not even import them. One slow test among fast ones
# is marked where it stands: @pytest.mark.slow.
SLOW_FILES = (
    # Commands and functions from end to end, pages and figures.
    "test_api.py",
    "test_answers_options.py",
    "test_answers_path_study.py",
    "test_data_experiments.py",
    "test_diagnose_machines.py",
    "test_incomplete_runs.py",
    "test_answers_shared_files.py",
    "test_cli_*.py",
    "test_console.py",
    "test_example_*.py",
    "test_report_figures.py",
    "test_report_cluster_figure.py",
    "test_report_page.py",
    "test_report_cells.py",
    "test_report_png.py",
    "test_schemas.py",
    "test_importers_seam.py",
    # Processes, ranks, and what happens when they end.
    "test_run_faults.py",
    "test_ranks_*.py",
    "test_campaign_benchmarks.py",
    "test_measure_command.py",
    "test_measure_conditions.py",
    "test_measure_controls.py",
    "test_measure_load.py",
    "test_measure_probe*.py",
    "test_measure_restore.py",
    "test_measure_steps.py",
    "test_lab_attend.py",
    # The disk.
    "test_store_*.py",
    "test_measure_source_tree.py",
    "test_measure_spool*.py",
    # Simulations: does an interval cover what it promises, does a test cry wolf?
    "test_answers_diagnose.py",
    "test_answers_rank_designs.py",
    "test_answers_survey.py",
    "test_campaign_against.py",
    "test_explain_advise.py",
    "test_explain_causes.py",
    "test_explain_path_models.py",
    "test_model_blocks.py",
    "test_model_designs.py",
    "test_model_fuzz.py",
    "test_model_predict.py",
    "test_model_sensitivity.py",
    "test_model_validate.py",
    "test_stats_changes.py",
    "test_stats_copies.py",
    "test_stats_coverage.py",
    "test_stats_density.py",
    "test_stats_noise.py",
    "test_stats_sequential.py",
    "test_stats_story.py",
    "test_stats_strata.py",
    "test_survey_large.py",
    # Trees, stores and archives that a test makes; many cells of many designs.
    "test_account.py",
    "test_answers_corpus.py",
    "test_answers_compare.py",
    "test_answers_check_data.py",
    "test_answers_diagnose_large.py",
    "test_answers_scale.py",
    "test_answers_survey_*.py",
    "test_api_*.py",
    "test_campaign_as_iozone.py",
    "test_campaign_roles.py",
    "test_data_factors.py",
    "test_import_archives.py",
    "test_import_foreign.py",
    "test_importers_traces.py",
    "test_lab_odd_answers.py",
    "test_measure_design_balanced.py",
    "test_model_families.py",
    "test_model_queueing.py",
    "test_model_scaling.py",
    "test_report_page_*.py",
    "test_report_survey_*.py",
    "test_serve*.py",
    "test_stats_sampling_quantiles.py",
    "test_stats_weighted.py",
    # Second implementations, which take seconds to import.
    "test_model_one_column.py",
    "test_stats_anova.py",
    "test_stats_distributions.py",
    "test_stats_peers.py",
    "test_stats_regress.py",
)

# Files that take most of the time: simulations, campaigns that are killed, every command asked in every way. `make
# test-long` runs these, `make test` the others.
LONG_FILES = (
    "test_answers_options.py",
    "test_answers_rank_designs.py",
    "test_answers_watch.py",
    "test_cli_probe.py",
    "test_cli_store_hangs.py",
    "test_cli_store_mutations.py",
    "test_forged_store.py",
    "test_data_experiments.py",
    "test_diagnose_machines.py",
    "test_explain_advise.py",
    "test_explain_causes.py",
    "test_importers_fuzz.py",
    "test_model_blocks.py",
    "test_model_sensitivity.py",
    "test_ranks_forked.py",
    "test_ranks_watchdog.py",
    "test_run_faults.py",
    "test_stats_changes.py",
    "test_stats_density.py",
    "test_stats_noise.py",
    "test_store_power_loss.py",
    "test_survey_large.py",
    "test_typed_script.py",
)

# A property is about values; how long an example takes depends on the machine, and no test is timed.
settings.register_profile("iosonde", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=10)
settings.load_profile("iosonde")

# A shell starts what runs in its background with SIGINT ignored, and every command that a test interrupts would
# inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests that run at once measure on one machine, and are not to wait for each other.
os.environ["IOSONDE_LOCK_DIR"] = tempfile.mkdtemp(prefix="iosonde-test-locks-")
atexit.register(shutil.rmtree, os.environ["IOSONDE_LOCK_DIR"], ignore_errors=True)


# Before the first test, too: a module may ask when it is imported.
account.change_account()
atexit.register(account.remove)


@pytest.fixture(autouse=True)
def own_account():
    """A home directory of its own (`account.py`)."""
    return account.change_account()


@pytest.fixture(autouse=True)
def own_spelling():
    """Options are written as on a terminal, until a function of the package's root is called."""
    set_default_spelling(terminal_spelling)


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """A cache in which nothing is, as on a new account."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def faulty(tmp_path):
    """A target that goes wrong on demand (`faults/faultfs.py`); skipped where it cannot be mounted."""
    if why := faultfs.why_not():
        pytest.skip(why)
    with faultfs.FaultFs(tmp_path / "faulty") as mounted:
        yield mounted


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out what is marked slow (make quick)")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--quick"):
        settings.load_profile("quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Of a file all of whose tests are slow even the import would cost seconds."""
    return True if config.getoption("--quick") and is_slow(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if is_slow(item.path):
            item.add_marker("slow")
        if item.path.name in LONG_FILES:
            item.add_marker("long")
    if config.getoption("--quick"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


def pytest_collection_finish() -> None:
    """What was imported and collected stays: no later collection of garbage has to look through it again."""
    gc.collect()
    gc.freeze()


@cache
def is_slow(path: Path) -> bool:
    return any(path.match(pattern) for pattern in SLOW_FILES)
