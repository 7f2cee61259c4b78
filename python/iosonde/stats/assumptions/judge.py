"""Claims → verdicts. This is the only place where a verdict is made."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields

from iosonde.core.message import Message
from iosonde.core.verdict import DOUBTS, UncheckedClaim, Verdict, VerdictState

from .check import AssumptionCheck, not_applicable
from .remedies import REMEDIES, remedy_of_state
from .required import REQUIRED

_REPLACED = {
    VerdictState.NOT_TESTED: frozenset(VerdictState),
    VerdictState.INCONCLUSIVE: frozenset(VerdictState) - {VerdictState.NOT_TESTED},
    VerdictState.NOT_SEPARABLE: frozenset({VerdictState.DIFFERENT, VerdictState.NOT_SEPARABLE}),
}
"""State of a claim that does not follow → the states that it replaces or explains, the strongest first."""
_DIRECTED = (VerdictState.DIFFERENT, VerdictState.NOT_SEPARABLE)


def judge(claim: UncheckedClaim, checks: Iterable[AssumptionCheck]) -> Verdict:
    """Return the verdict on a claim. Raises AssertionError if an assumption of its question was not checked."""
    every = tuple(checks)
    if claim.state is VerdictState.NOT_TESTED:  # claims nothing, so nothing can be violated
        every += not_applicable(*REQUIRED[claim.question])
    checked = {check.assumption for check in every}
    if unchecked := REQUIRED[claim.question].difference(checked):
        raise AssertionError(f"the {claim.question} of {claim.subject} was not checked for {sorted(unchecked)}")
    own = _select_own(claim, every)
    deciding = find_deciding_check(claim.state, own)
    state = claim.state if deciding is None or deciding.instead is None else deciding.instead
    plain = {field.name: getattr(claim, field.name) for field in fields(UncheckedClaim)}
    if deciding is not None and state not in _DIRECTED:
        plain["direction"] = None
    return Verdict(
        **plain | {"state": state},
        doubts=list_doubts(own),
        checked=tuple(code for code in DOUBTS if code in checked),
        why="" if deciding is None else deciding.why,
        remedy=_find_remedy(state, deciding),
    )


def judge_all(claims: Iterable[UncheckedClaim], checks: Collection[AssumptionCheck] = ()) -> tuple[Verdict, ...]:
    """Return the verdicts on claims that rest on the same assumptions."""
    return tuple(judge(claim, checks) for claim in claims)


def find_deciding_check(state: VerdictState, checks: Sequence[AssumptionCheck]) -> AssumptionCheck | None:
    """Return the check that replaces the ``state`` of a claim, or explains it; None if it follows from the data."""
    for instead, replaced in _REPLACED.items():
        if state in replaced and (failed := next((check for check in checks if check.instead is instead), None)):
            return failed
    return None


def list_doubts(checks: Iterable[AssumptionCheck]) -> tuple[str, ...]:
    """Return the codes of the assumptions in doubt, each once."""
    return tuple(dict.fromkeys(check.assumption for check in checks if check.is_doubt))


def list_withdrawn_subjects(claims: Iterable[UncheckedClaim], checks: Collection[AssumptionCheck]) -> frozenset[str]:
    """Return the subjects of differences that do not follow from the data: no sentence may claim them."""
    return frozenset(
        name
        for claim in claims
        if claim.state is VerdictState.DIFFERENT and find_deciding_check(claim.state, _select_own(claim, checks))
        for name in claim.subject
    )


def _select_own(claim: UncheckedClaim, checks: Iterable[AssumptionCheck]) -> list[AssumptionCheck]:
    """Return the checks that concern a claim, for this claim."""
    return [check.apply_to(claim) for check in checks if check.concerns(claim.subject)]


def _find_remedy(state: VerdictState, deciding: AssumptionCheck | None) -> str | Message:
    """Return what would settle an open question."""
    return remedy_of_state(state) if deciding is None else REMEDIES[deciding.assumption]
