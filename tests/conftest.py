"""Settings that all tests share."""

import signal

from hypothesis import settings

# A property is about values; how long an example takes depends on the machine, and no test is timed.
settings.register_profile("iosonde", deadline=None)
settings.load_profile("iosonde")

# A shell starts what runs in its background with SIGINT ignored, and every command that a test interrupts would
# inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
