"""A campaign in several emulated clusters, one after another.

A cluster that fails costs only its own trials: the others continue, and the same command tries it again."""

from collections.abc import Callable, Sequence

from iosonde.core.errors import FAULT, PROBLEM_DETECTED, UNTRIED, SystemFaultError
from iosonde.core.message import Message
from iosonde.core.words import format_count

from .document import build_document
from .in_lab import LabSetting
from .request import Request
from .run import LabCampaign
from .trials import PATIENCE

RunInLab = Callable[[LabSetting, Sequence[str]], int]


def measure_lab_by_lab(begun: LabCampaign, run_in_lab: RunInLab, say: Callable[[str], None]) -> int:
    """Measure the remaining trials and return the exit code.

    ``run_in_lab`` brings a cluster up, runs ``run`` in it with additional options, and returns its exit code. A cluster
    that does not come up, or in which ``run`` has a fault (as nodes that do not respond), is skipped with a message.
    The result is then PROBLEM_DETECTED, as for an incomplete trial. PATIENCE of them in a row end the campaign, as does
    any other exit code. Raises SystemFaultError if the last one did not come up.
    """
    worst, in_a_row, budget = 0, 0, begun.budget()
    attempted, failed = list[LabSetting](), list[LabSetting]()
    setting = begun.next_setting(attempted)
    while setting:
        if not budget.has_room():
            say(budget.ended)
            break
        attempted.append(setting)
        with budget.time_lab():
            code, fault = _measure_lab(begun, setting, run_in_lab, budget.words())
        if code not in (0, PROBLEM_DETECTED, UNTRIED, FAULT):
            return code
        worst = max(worst, min(code, PROBLEM_DETECTED))
        in_a_row = in_a_row + 1 if code == FAULT else 0
        following = begun.next_setting(attempted)
        if code == FAULT:
            failed.append(setting)
            if in_a_row == PATIENCE or (failed == attempted and not following):
                if fault:
                    raise fault
                return FAULT
            say(
                Message(
                    "lab-excluded",
                    "{lab}: skipped: {reason}",
                    lab=setting.describe,
                    reason=fault.message if fault else "see the messages above",
                )
            )
        setting = following
    if failed:
        names = "; ".join(lab_setting.describe for lab_setting in failed)
        say(
            Message(
                "labs-excluded",
                "skipped {labs} of {n} ({names}): the same command tries again",
                labs=format_count(len(failed), "lab"),
                n=len(attempted),
                names=names,
            )
        )
    return worst


def _measure_lab(
    begun: LabCampaign, setting: LabSetting, run_in_lab: RunInLab, words: Sequence[str]
) -> tuple[int, SystemFaultError | None]:
    before = begun.count_runs()
    try:
        code = run_in_lab(setting, words)
    except SystemFaultError as error:
        return FAULT, error
    if code in (0, PROBLEM_DETECTED, UNTRIED) and begun.count_runs() == before:
        return FAULT, SystemFaultError(
            "no-lab-trials", "a lab was brought up, but none of its trials is in the store", "see above"
        )
    return code, None


def needs_cache_regime(request: Request) -> bool:
    """Return whether a native workload reads cold without a command ``before_reads``. Raises InputError for an
    unreadable file."""
    data = build_document(request).data
    regime = data.get("cache")
    if isinstance(regime, dict) and "before_reads" in regime:
        return False
    steps = data.get("steps")
    steps = [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    return any("workload" in step and step.get("cache") != "warm" for step in steps)
