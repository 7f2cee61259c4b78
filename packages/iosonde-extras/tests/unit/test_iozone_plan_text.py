"""How a plan looks as IOzone's commands."""

from iosonde_extras.iozone_plan import IozoneCell, IozonePlan
from iosonde_extras.iozone_plan_text import lines


def test_a_setting_of_many_factors_is_wrapped():
    cell = IozoneCell({f"factor_{n}": "a long level" for n in range(6)}, (), ("it has two sizes of operations",), ())
    assert max(map(len, lines(IozonePlan((cell,), {})))) < 80
