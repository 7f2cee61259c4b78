"""Settings that all tests share."""

import signal

import pytest
from hypothesis import settings

from faults import faultfs

# A property is about values; how long an example takes depends on the machine, and no test is timed.
settings.register_profile("iosonde", deadline=None)
settings.load_profile("iosonde")

# A shell starts what runs in its background with SIGINT ignored, and every command that a test interrupts would
# inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def faulty(tmp_path):
    """A target that goes wrong on demand (`faults/faultfs.py`); skipped where it cannot be mounted."""
    if why := faultfs.why_not():
        pytest.skip(why)
    with faultfs.FaultFs(tmp_path / "faulty") as mounted:
        yield mounted
