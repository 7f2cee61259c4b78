"""What the claims of a published document and its own numbers say, as text: its slips, then the claims by verdict."""

from collections.abc import Iterator, Sequence

from iosonde.agreement.documents import AGREEING, DocumentClaim
from iosonde.agreement.judge import PublishedOutcome
from iosonde.core.grouping import group_by_key
from iosonde.importers.published_figures import PrintedNumber, Publication
from iosonde.layout.text import paragraphs, wrapped

# Claims, group by group: what was found, and whether the document's own numbers were asked.
_GROUPS = (
    ("Contradicted by measurements", (PublishedOutcome.CONTRADICTED,)),
    ("Agrees with measurements", AGREEING),
    ("Inconclusive: the measured interval leaves it open", (PublishedOutcome.INCONCLUSIVE,)),
    ("Measured, but not comparable", (PublishedOutcome.NOT_COMPARABLE,)),
    ("Not answered by these trials", (PublishedOutcome.NOT_MEASURED,)),
)


# What an agreement means, for the reader of a document.
_RULES = {
    PublishedOutcome.SAME_SIGN: "the whole interval is on the published side of 0 (a ratio: of 1)",
    PublishedOutcome.SAME_SHARE: "the whole interval is within 5 points of the published share",
    PublishedOutcome.NO_EFFECT: "the whole interval is within 5 % of none",
    PublishedOutcome.SAME_RANKING: "so few of all orders are as similar (one-sided)",
}


def describe_rules(claims: Sequence[DocumentClaim]) -> list[str]:
    """Return what each agreement among the claims means."""
    outcomes = dict.fromkeys(claim.outcome for claim in claims)
    return [f"{outcome}: {_RULES[outcome]}" for outcome in outcomes if outcome in _RULES]


def format_slips(publication: Publication) -> Iterator[str]:
    """Yield what the document got wrong: numbers with one reason together, then words."""
    slips = [number for number in publication.figures if number.slip is not None]
    n_wrong = len(slips) + len(publication.wrong_statements)
    if n_wrong:
        yield f"The document is wrong ({n_wrong})"
    groups = group_by_key(((number.where, number.slip.why), number) for number in slips if number.slip is not None)
    for (where, why), numbers in groups.items():
        values = ", ".join(_describe_slip(number) for number in numbers)
        yield from wrapped(f"{where}: {values}: {why}", "    ", "  ")
    for statement in publication.wrong_statements:
        if (slip := statement.slip) is not None:
            right = "" if slip.should_be is None else f", right is {slip.should_be}"
            words = " … ".join(statement.words)
            yield from wrapped(f"{statement.where}: '{words}'{right}: {slip.why}", "    ", "  ")
    if n_wrong:
        yield ""


def _describe_slip(number: PrintedNumber) -> str:
    right = "" if number.slip is None or number.slip.should_be is None else f", right is {number.slip.should_be}"
    return f"{number.value:.10g}{right}"


def format_claims(claims: Sequence[DocumentClaim]) -> Iterator[str]:
    """Yield the claims that measurements judge: those with the same verdict together, and of these those that follow
    from the same words of the document."""
    for title, outcomes in _GROUPS:
        selected = [claim for claim in claims if claim.outcome in outcomes and not claim.is_stated]
        if not selected:
            continue
        yield from wrapped(f"{title} ({len(selected)})")
        for (words, note), group in group_by_key((_find_source(claim), claim) for claim in selected).items():
            source = f"{words}: {note}" if words and note else words or note
            indent = "    " if source else "  "
            yield from wrapped(f"{source}:", "    ", "  ") if source else ()
            yield from paragraphs(map(_describe_claim, group), f"{indent}  ", indent)
        yield ""


def _find_source(claim: DocumentClaim) -> tuple[str, str]:
    """Return the words that a claim and others follow from, if it has no number of its own, and its note."""
    return claim.derivation if claim.derivation.startswith("'") else "", claim.judged.note


def _describe_claim(claim: DocumentClaim) -> str:
    """Return a claim with its printed numbers, what they give, what was measured, and the verdict."""
    published, ours = claim.judged.sides
    places = "; ".join(dict.fromkeys(number.where for number in claim.numbers))
    is_quoted = claim.derivation.startswith("'") or not claim.derivation
    derived = published if is_quoted else f"{claim.derivation}, so {published}"
    p = "" if claim.judged.verdict.p is None else f" (p = {claim.judged.verdict.p:.2g} of all orders)"
    verdict = f": {claim.outcome}" if claim.outcome in AGREEING else ""
    where = f" ({places})" if places else ""
    return f"{claim.judged.claim}{where}: published {derived}; here {ours}{verdict}{p}"


def name_number(number: PrintedNumber) -> str:
    """Name a number of the document by its statistic, with its unit."""
    name = (number.statistic or number.operation).replace("_", " ")
    return f"{name} {number.value:.10g} {number.unit_name}".rstrip()
