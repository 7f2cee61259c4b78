"""Translation of a native step into options of IOzone for the same work, or the reasons why IOzone cannot do it.

IOzone has one file a process, one record size, one set of flags, and its own order of tests; each test goes through the
whole file. Native features beyond that are named, and no options that would measure something else are written.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from iosonde.core.message import Message
from iosonde.core.workload import Files, Phase, Step
from iosonde.measure.workloads.phase_plan import PhasePlan

from .iozone import TESTS, Settings

# (kind, offsets) → number of -i. Tests 0 and 1 run again (rewrite, reread) unless -+n.
_NUMBERS = {
    ("write", "seq"): 0,
    ("read", "seq"): 1,
    ("read", "rnd"): 2,
    ("write", "rnd"): 2,
    ("read", "shuffled"): 2,
    ("write", "shuffled"): 2,
    ("read", "reverse"): 3,
    ("write", "off0"): 4,
    ("read", "stride"): 5,
}
_FLAGS = {"direct": "-I", "sync": "-o"}
_KIB = 1024
_IN_ORDER = Message("fixed-order", "IOzone runs its tests in the order of their numbers")
_BOTH_WAYS = Message("reads-and-writes", "-i 2 reads and writes at random")
_WARM = Message("warm-reads", "IOzone reads what it has just written: -U MOUNTPOINT remounts between tests")


@dataclass(frozen=True)
class AsIozone:
    """``words`` of the command without where it runs; ``why`` IOzone cannot do it, one reason each, and then no words;
    ``differs``: what IOzone does otherwise."""

    words: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Test:
    """A phase as a test of IOzone."""

    operation: str
    number: int
    step: Step
    offsets: str
    files: Files
    flags: frozenset[str]
    flushed: bool
    timed: bool

    @property
    def size(self) -> int:
        """The size of the file that it goes through."""
        return self.step.moved_bytes if self.offsets in ("seq", "reverse") else self.step.size or self.step.moved_bytes


def as_iozone(first: Sequence[PhasePlan], second: Sequence[PhasePlan]) -> AsIozone:
    """Translate the phases of two ranks into IOzone's options; for a single rank ``second`` is ``first`` again."""
    tests, why = [], []
    for plan, other in zip(first, second, strict=True):
        test = _match_test(plan)
        if isinstance(test, Message):
            why.append(test.prefixed(plan.operation))
            continue
        tests.append(test)
        if other is not plan and isinstance(other.phase, Phase) and other.phase.files == test.files:
            why.append(
                Message(
                    "shared-file",
                    "{phase}: ranks share a file, but each process of IOzone has its own",
                    phase=plan.operation,
                )
            )
    why += _compare_tests(tests)
    if why or not tests:
        return AsIozone(why=tuple(why) or (Message("no-phases", "the workload has no phase"),))
    return AsIozone(tuple(_build_words(tests)), differs=tuple(_list_differences(tests, first)))


def _match_test(phase_plan: PhasePlan) -> _Test | Message:
    """Return the matching test, or why there is none."""
    phase = phase_plan.phase
    if not isinstance(phase, Phase):
        return Message("not-posix", "it does not use the POSIX calls that IOzone makes")
    if not isinstance(phase.files, Files) or phase.files.count > 1:
        return Message("several-files", "IOzone has one file a process")
    if phase.time_limit_ns or phase.max_operations or phase.passes > 1:
        return Message("limited-phase", "IOzone goes through its file once, without a limit")
    if phase.arrival or phase_plan.backend != {"name": "posix"} or phase.order != "listed":
        return Message("paced-or-queued", "IOzone only runs one operation after the other, as fast as possible")
    data = [step for step in phase.steps if step.transfer_size or step.of]
    others = [step.kind for step in phase.steps if step not in data]
    if len(data) != 1 or data[0].of or set(others) - {"create", "open", "fsync", "close"}:
        return Message("no-such-test", "IOzone has no test of these operations")
    (step,) = data
    offsets = step.offsets if isinstance(step.offsets, str) else next(iter(step.offsets or ("seq",)))
    number = _NUMBERS.get((step.kind, offsets))
    if number is None or step.base or step.sieve or step.ns or step.ns_per_byte:
        return Message(
            "no-such-test",
            "IOzone has no test of {kind} at offsets {offsets} like this",
            kind=step.kind,
            offsets=offsets,
        )
    if "close" not in others:
        return Message("no-close", "IOzone closes its file in each test")
    return _Test(
        phase_plan.operation,
        number,
        step,
        offsets,
        phase.files,
        frozenset(phase.open_flags),
        "fsync" in others,
        phase_plan.timed,
    )


def _compare_tests(tests: Sequence[_Test]) -> Iterator[Message]:
    """Yield a message for each property that IOzone has once and the phases have several times."""
    for what, values in (
        ("sizes of operations", {test.step.transfer_size for test in tests}),
        ("sizes of files", {test.size for test in tests}),
        ("sets of flags", {test.flags for test in tests}),
        ("choices whether fsync is in the clock", {test.flushed for test in tests if test.step.kind == "write"}),
    ):
        if len(values) > 1:
            yield Message(
                "several-values",
                "the phases have {count} {property}, and a run of IOzone has one",
                count=len(values),
                property=what,
            )
    if others := sorted({flag for test in tests for flag in test.flags} - set(_FLAGS)):
        yield Message("unsupported-flag", "IOzone has no option for {flags}", flags=", ".join(others))
    for test in tests:
        if test.size % _KIB or (test.step.transfer_size or 0) % _KIB or test.size % (test.step.transfer_size or 1):
            yield Message(
                "not-a-multiple",
                "{phase}: IOzone's sizes are whole KiB, and its file whole records",
                phase=test.operation,
            )
    if tests and not any(test.number == 0 for test in tests):
        yield Message("no-write", "nothing writes the file: IOzone's test 0 comes first")


def _build_words(tests: Sequence[_Test]) -> Iterator[str]:
    first = tests[0]
    yield from ("-r", f"{(first.step.transfer_size or 0) // _KIB}k", "-s", f"{first.size // _KIB}k")
    for number in sorted({test.number for test in tests}):
        yield from ("-i", str(number))
    if not any(_list_repeats(tests).values()):
        yield "-+n"
    yield "-c"  # close is in the clock of a native phase
    if any(test.flushed for test in tests):
        yield "-e"
    strides = [test.step for test in tests if test.number == 5 and isinstance(test.step.offsets, dict)]
    for step in strides[:1]:
        hole = int(step.offsets["stride"].get("hole", 0)) if isinstance(step.offsets, dict) else 0
        yield from ("-j", str(hole // (step.transfer_size or 1) + 1))
    yield from (_FLAGS[flag] for flag in sorted(first.flags))


def translate_settings(settings: Settings) -> AsIozone:
    """Translate the native workload ``iozone`` back into options."""
    chosen = set(settings.tests)  # -i 0 writes the file of all others
    numbers = [number for number, members in TESTS.items() if number == 0 or {name for name, _ in members} & chosen]
    options = [word for number in numbers for word in ("-i", str(number))]
    options += ["-j", str(settings.stride)] if 5 in numbers else []
    flags = {
        "-+n": not {"rewrite", "reread"} & set(settings.tests),
        "-c": "close" in settings.inside,
        "-e": "fsync" in settings.inside,
        "-I": settings.direct,
        "-o": settings.synchronous,
        "-+d": settings.verify,
    }
    sizes = ("-r", f"{settings.record_size // _KIB}k", "-s", f"{settings.file_size // _KIB}k")
    if settings.record_size % _KIB:
        return AsIozone(why=(Message("not-a-multiple", "IOzone's sizes are whole KiB"),))
    return AsIozone(
        (*sizes, *options, *(flag for flag, is_set in flags.items() if is_set)),
        differs=tuple(_differs_of(settings, numbers)),
    )


def _differs_of(settings: Settings, numbers: Sequence[int]) -> Iterator[Message]:
    """Yield what IOzone does otherwise with these tests."""
    chosen, again = set(settings.tests), {"rewrite", "reread"} & set(settings.tests)
    if "write" not in chosen:
        yield Message(
            "timed-write",
            "IOzone times -i 0, which writes the files; here they are written before, outside the clock",
        )
    if again and (once := [n for n in (0, 1) if n in numbers and TESTS[n][1][0] not in chosen]):
        yield _twice(once[0])
    if len(chosen & {name for name, _ in TESTS[2]}) == 1:
        yield _BOTH_WAYS
    if [name for name in settings.tests if name not in again] != [
        name for members in TESTS.values() for name, _ in members if name in chosen - again
    ]:
        yield _IN_ORDER
    if settings.cache == "cold" and any("read" in name for name in chosen):
        yield _WARM
    if any(name.startswith("random") for name in chosen):
        yield Message("own-random-order", "the order of IOzone's random tests is its own")


def _twice(test: int) -> Message:
    return Message("test-done-twice", "IOzone runs -i {test} twice, too", test=test)


def _list_repeats(tests: Sequence[_Test]) -> dict[int, bool]:
    """Return test 0 and 1 → whether it is repeated, which IOzone does unless -+n."""
    return {number: sum(test.number == number for test in tests) > 1 for number in (0, 1)}


def _list_differences(tests: Sequence[_Test], plans: Sequence[PhasePlan]) -> Iterator[Message]:
    if (numbers := [test.number for test in tests]) != sorted(numbers):
        yield _IN_ORDER
    again, there = _list_repeats(tests), {test.number for test in tests}
    if any(again.values()) and (once := [number for number in (0, 1) if number in there and not again[number]]):
        yield _twice(once[0])
    directions = {test.step.kind for test in tests if test.number == 2}
    if len(directions) == 1:
        yield _BOTH_WAYS
    if any(test.offsets == "rnd" for test in tests):
        yield Message(
            "every-record-once",
            "at random IOzone accesses every record once; offsets rnd access some twice and others never "
            "(shuffled: once)",
        )
    if any(plan.reads and plan.warm is not True for plan in plans):
        yield _WARM
    if not all(test.timed for test in tests):
        yield Message("every-test-timed", "IOzone times every test")
    yield Message(
        "own-random-order",
        "the order of IOzone's random tests is its own; native phases have open in their clock, IOzone has not",
    )
