"""The rate law in a lab: what is measured is what ``iosonde bound`` says without being told anything, and doubling what
it names raises the rate where doubling the runner-up does not.

`make test-lab` takes one of the first, `make test-lab-law` all.
"""

import law
import pytest

from iosonde_lab import api as labs

IN_CI = ("chained-copies-one-client",)
WITHIN = (0.9, 1.02)  # of the law, whose capacities were set
WITHIN_MEASURED = (0.9, 1.1)  # where one of them is measured
AS_BEFORE = (0.97, 1.03)  # what an interval that leaves 1 out may be and still be of no use to anybody


def cases(setups):
    return [
        pytest.param(one, id=name, marks=[] if name in IN_CI else [pytest.mark.slow]) for name, one in setups.items()
    ]


@pytest.fixture
def brought_up(lab_of):
    """The lab of a set-up, alone on the machine: it is taken down after its test."""
    made = []

    def bring(setup):
        lab = lab_of(setup.file_system, {**setup.words(), "name": setup.name}, options=setup.options, measured=True)
        made.append(lab.name)
        return lab

    yield bring
    for name in made:
        labs.down(name)


def law_holds(setup, store, *options):
    """The bound of a store, whose rate is what it says."""
    found = law.bounded(store, *options)
    share = f"share {found.share:.3f} ({found.share_low:.3f}-{found.share_high:.3f})"
    law.tell(
        setup.name,
        "+".join(found.limit),
        f"S {found.s / 1e6:.2f} MB/s mean {found.mean / 1e6:.2f}",
        share,
        f"n {found.n}",
        *options,
    )
    assert found.limit == setup.limit and found.n == law.N
    least, most = WITHIN_MEASURED if setup.cpus else WITHIN
    assert found.share <= most
    assert found.share >= least or setup.outside
    return found


@pytest.mark.parametrize("setup", cases(law.RATES))
def test_the_rate_is_what_the_law_says(setup, brought_up, tmp_path):
    """Ties are named: all terms that limit."""
    lab = brought_up(setup)
    law.again_while_busy(tmp_path, lambda place: law_holds(setup, law.measure(lab, setup, place / "base")))


@pytest.mark.parametrize("setup", cases(law.SETUPS))
def test_doubling_what_limits_raises_the_rate_and_doubling_the_next_does_not(setup, brought_up, tmp_path):
    lab = brought_up(setup)
    if setup.cpus:
        law.limit_cpu(lab, setup.cpus)

    def look(place):
        base, options = law.measure(lab, setup, place / "base"), []
        if setup.cpus:  # the law then says that all the CPU time that it may have is used
            options = ["--cpu", f"{law.cpu_per_byte(base, setup) / setup.cpus * 1e6:.6g}s/MB"]
        found = law_holds(setup, base, *options)
        assert found.distance >= 1.25
        _, low, _ = times(place, base, found.limit)
        assert low > 1
        _, low, high = times(place, base, found.runners_up)
        assert low <= 1 <= high or (low > AS_BEFORE[0] and high < AS_BEFORE[1]), "the runner-up does not limit"

    def times(place, base, terms):
        law.set_capacity(lab, setup, terms, 2)
        try:
            found = law.ratio(base, law.measure(lab, setup, place / "-".join(terms)))
        finally:
            law.set_capacity(lab, setup, terms, 1)
        law.tell(setup.name, "doubling", "+".join(terms), "{:.3f} ({:.3f}-{:.3f})".format(*found))
        return found

    law.again_while_busy(tmp_path, look)
