"""The documents' experiments in a lab, quick: each is one command, and its page is there."""

from pathlib import Path

import pytest
import short_life
from lab_here import iosonde

from iosonde.core.stored import StoredRun
from iosonde.store import Store

SEEDS = Path(__file__).parents[4] / "examples" / "seeds"


SLOW = (
    "chep-record-size",
    "chep-processes",
    "ficus",
    "ficus-aspects",
    "ficus-holder",
    "gluster-hardware",
    "gluster-tunables",
    "kunkel-paths",
    "kunkel-sieving",
    "mtc-tasks",
    "proxy-app",
    "translators",
)
LIMIT = pytest.mark.timeout(1300)


@pytest.mark.parametrize(
    "name", ["mtc", "chep-clients-servers", *(pytest.param(name, marks=(pytest.mark.slow, LIMIT)) for name in SLOW)]
)
def test_one_command_measures_and_writes_the_page(lab_root, tmp_path, name):
    text = (SEEDS / f"{name}.yaml").read_text()
    for file_system in ("glusterfs", "nfs", "openafs", "xrootd"):
        if file_system in text and (why := short_life.why_not(file_system)):
            pytest.skip(f"a lab of {file_system}: {why}")
    done = iosonde(
        "lab",
        "run",
        SEEDS / f"{name}.yaml",
        "--quick",
        "--store",
        tmp_path / "s",
        "--page",
        tmp_path / "page.html",
        limit_s=1200,
    )
    assert done.returncode == 0, done.stderr
    runs = [StoredRun(one) for one in Store.open(tmp_path / "s").runs()]
    assert len(runs) > 1 and all(run.complete for run in runs)
    assert (tmp_path / "page.html").stat().st_size > 100_000
