"""Settings that all tests share."""

import atexit
import fnmatch
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

import account
from faults import faultfs
from iosonde.core.errors import DataError
from iosonde.core.message import set_default_spelling, spell_for_terminal

# As in the command (`cli/group.py`), before NumPy is loaded: tests run at once, and threads would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Files of which (nearly) every test is slow: `make quick` does not even import them. One slow test among fast ones
# is marked where it stands: @pytest.mark.slow.
SLOW_FILES = (
    # packages
    "test_iozone_plan.py",
    "test_native.py",
    "test_path_models.py",
    "test_path_study.py",
    "test_path_study_terminal.py",
    "test_thesis_results.py",
    # tests/commands
    "test_benchmarks.py",
    "test_data_terminal.py",
    "test_design_text.py",
    "test_effects.py",
    "test_experiment_terminal.py",
    "test_faults.py",
    "test_gate_terminal.py",
    "test_iterations.py",
    "test_mpi_steps.py",
    "test_page_advice.py",
    "test_page_bound.py",
    "test_page_factors.py",
    "test_page_library.py",
    "test_page_parts.py",
    "test_page_questions_layout.py",
    "test_page_slow.py",
    "test_prune.py",
    "test_python_besides.py",
    "test_python_incomplete.py",
    "test_python_parity.py",
    "test_sizes.py",
    "test_thesis.py",
    "test_unseen_rows_python.py",
    "test_unseen_rows_terminal.py",
    "test_waterfall.py",
    "test_without_lab.py",
    "test_advise.py",
    "test_advise_store.py",
    "test_anova_terminal.py",
    "test_bound_lab.py",
    "test_bound_terminal.py",
    "test_check.py",
    "test_compare_terminal.py",
    "test_diagnose_path.py",
    "test_diagnose_terminal.py",
    "test_fit.py",
    "test_import_columns.py",
    "test_plan_lab.py",
    "test_plot_factors.py",
    "test_plot_stores.py",
    "test_probe.py",
    "test_rank.py",
    "test_regress_terminal.py",
    "test_report.py",
    "test_report_models.py",
    "test_scale_terminal.py",
    "test_show_terminal.py",
    "test_summary.py",
    "test_survey_contents.py",
    "test_survey_faults.py",
    "test_survey_hangs.py",
    "test_survey_list.py",
    "test_survey_missing.py",
    "test_survey_page_layout.py",
    "test_survey_page_terminal.py",
    "test_survey_reading.py",
    "test_survey_reading_layout.py",
    "test_survey_run.py",
    "test_survey_simulate.py",
    "test_survey_simulation.py",
    "test_survey_stop.py",
    "test_survey_strata.py",
    "test_survey_what_if.py",
    "test_survey_words.py",
    "test_time_model_terminal.py",
    "test_upgrade.py",
    # Commands and functions from end to end, pages and figures.
    "test_python.py",
    "test_every_option.py",
    "test_data_experiments.py",
    "test_diagnose_machines.py",
    "test_incomplete_runs.py",
    "test_shared_files.py",
    "test_cli_*.py",
    "test_console.py",
    "test_example_*.py",
    "test_figures*.py",
    "test_cluster_figure.py",
    "test_page_layout.py",
    "test_cells.py",
    "test_png.py",
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
    "test_foreign_child.py",
    "test_lab_attend.py",
    "test_lab_campaigns.py",
    "test_lab_patience.py",
    "test_lab_plain_user.py",
    "test_campaign_in_memory.py",
    # The disk.
    "test_store_*.py",
    "test_measure_source_tree.py",
    "test_measure_spool*.py",
    # The whole text of the product, parsed.
    "test_architecture.py",
    "test_english.py",
    "test_house.py",
    "test_messages.py",
    "test_spelling.py",
    # Simulations: does an interval cover what it promises, does a test cry wolf?
    "test_compare_order.py",
    "test_compare_subsamples.py",
    "test_compare_selected.py",
    "test_gated.py",
    "test_model_scaling_limit.py",
    "test_stats_coarse.py",
    "test_stats_within_cells.py",
    "test_diagnose.py",
    "test_rank_designs.py",
    "test_survey.py",
    "test_campaign_against.py",
    "test_explain_advise.py",
    "test_explain_causes.py",
    "test_model_blocks.py",
    "test_model_designs.py",
    "test_model_fuzz.py",
    "test_model_predict.py",
    "test_model_sensitivity.py",
    "test_model_validate.py",
    "test_changes_find.py",
    "test_stats_copies.py",
    "test_stats_coverage.py",
    "test_explain_mixture_peers.py",
    "test_stats_density.py",
    "test_stats_noise.py",
    "test_stats_sequential.py",
    "test_stats_story.py",
    "test_stats_strata.py",
    "test_survey_large.py",
    # Trees, stores and archives that a test makes; many cells of many designs.
    "test_account.py",
    "test_corpus.py",
    "test_over_time_classes.py",
    "test_two_labs.py",
    "test_compare.py",
    "test_check_data.py",
    "test_diagnose_large.py",
    "test_scale.py",
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
    "test_serve*.py",
    "test_survey_sampling_quantiles.py",
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
    "test_every_option.py",
    "test_rank_designs.py",
    "test_watch.py",
    "test_probe.py",
    "test_store_hangs.py",
    "test_store_mutations.py",
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
    "test_changes_find.py",
    "test_explain_mixture_peers.py",
    "test_stats_density.py",
    "test_stats_noise.py",
    "test_store_power_loss.py",
    "test_survey_large.py",
    "test_typed_script.py",
)

NOT_LONG = "not long"  # of `make test`

ROOT = Path(__file__).parent
# In the root, besides what is hidden: what tools and ``make run`` make.
MADE_BY_TOOLS = {line.strip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()}
FILES_BEFORE = pytest.StashKey[set[str]]()

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
    set_default_spelling(spell_for_terminal)


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """A cache in which nothing is, as on a new account."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def page_without_models(monkeypatch):
    """A table's page tries the models that `fit` tries, for seconds: not where a test is about another part of it."""
    from iosonde.commands.rank import for_page

    def refuse(*_: object) -> None:
        raise DataError("fit-failed", "no model is tried in this test")

    monkeypatch.setattr(for_page, "choose_best_model", refuse)


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
    config.stash[FILES_BEFORE] = list_root_files()
    if config.getoption("--quick"):
        settings.load_profile("quick")
    # Tests that run at once would wait for one disk; those of a loss of power are long.
    if config.getoption("--quick") or config.option.markexpr == NOT_LONG:
        os.fsync = lambda _: None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Of a file all of whose tests are left out even the import would cost seconds, in every process."""
    is_left_out = config.getoption("--quick") and is_slow(collection_path)
    is_left_out = is_left_out or (config.option.markexpr == NOT_LONG and collection_path.name in LONG_FILES)
    return True if is_left_out else None


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


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session whose tests left a file in the repository's root: a default place of a command's output."""
    if list_new_files(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for name in list_new_files(config):
        terminalreporter.write_line(f"FAILED: a test left {ROOT / name}; give it a directory of its own", red=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays, so nothing looks for garbage in it: a sixth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """No later collection of garbage has to look through it again."""
    gc.collect()
    gc.freeze()


def list_root_files() -> set[str]:
    return {name for name in os.listdir(ROOT) if not name.startswith(".")} - MADE_BY_TOOLS


def list_new_files(config: pytest.Config) -> list[str]:
    return sorted(list_root_files() - config.stash[FILES_BEFORE])


@cache
def is_slow(path: Path) -> bool:
    return any(fnmatch.fnmatchcase(path.name, pattern) for pattern in SLOW_FILES)
