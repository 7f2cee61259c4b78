"""The summary of an experiment that compares two sides: its sentence begins with the verdict of ``compare``."""

from dataclasses import dataclass, replace

from iosonde.commands.compare.against import PairVerdicts
from iosonde.commands.compare.sealed import drop_unpaired_effects, find_sealed_verdicts
from iosonde.core.verdict import Verdict
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source

from .answer import Summary


@dataclass(frozen=True, kw_only=True)
class PairedSummary(Summary):
    """Summary of the trials of ``pairs``."""

    pairs: PairVerdicts

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdicts of the pairs, then those on the other factors."""
        return (*self.pairs.verdicts, *self.overview.verdicts)


def lead_with_pairs(answer: Summary, source: Source, query: ResponseQuery) -> Summary:
    """Return the summary with the verdict of the sealed comparison first, if its cells are those of the two sides."""
    pairs = find_sealed_verdicts(source, query)
    if pairs is None or pairs.rule.factor not in answer.overview.by:
        return answer
    overview = drop_unpaired_effects(answer.overview, pairs)
    overview = replace(
        overview,
        sentence=" ".join(filter(None, (*pairs.sentences, overview.sentence))),
        warnings=tuple(dict.fromkeys((*overview.warnings, *pairs.warnings))),
    )
    return PairedSummary(
        overview=overview,
        clock=answer.clock,
        tool_clocks=answer.tool_clocks,
        faults=answer.faults,
        calls=answer.calls,
        spread=answer.spread,
        pairs=pairs,
    )
