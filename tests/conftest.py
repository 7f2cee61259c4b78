"""Settings that all tests share."""

from hypothesis import settings

# A property is about values; how long an example takes depends on the machine, and no test is timed.
settings.register_profile("iosonde", deadline=None)
settings.load_profile("iosonde")
