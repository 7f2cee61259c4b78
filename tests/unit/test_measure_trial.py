"""A trial that failed says why in words a person can act on."""

import pytest

from iosonde.measure import trial

SSH = "ssh: Could not resolve hostname n9: Name or service not known"


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        (f"{SSH}\r\n[mpiexec@n1] ui_cmd_cb (x.c:51): Launch proxy failed.\n[mpiexec@n1] main (y.c:2): error\n", SSH),
        ("[mpiexec@n1] main (y.c:2): error\n", "[mpiexec@n1] main (y.c:2): error"),
        ("Traceback (most recent call last):\n  File x\nValueError: no\n\n=====\n", "ValueError: no"),
        (" \n", "no message"),
    ],
)
def test_the_reason_is_not_what_the_launcher_says_of_itself(stderr, said):
    assert trial._telling(stderr) == said
