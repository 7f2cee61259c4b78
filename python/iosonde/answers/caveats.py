"""Caveats of a response and its factors, for any analysis."""

from collections.abc import Sequence

from iosonde.core.message import Message
from iosonde.core.transforms import LOGARITHMS
from iosonde.data.factors import is_separable
from iosonde.data.responses import Response
from iosonde.stats.checks import s311_shared_bring_ups as s311


def list_caveats(response: Response) -> list[str]:
    """Return the caveats: assumptions, repeats within one execution, confounded factors."""
    messages = list(response.warnings)
    if response.within_run:
        template = "repeats are iterations within one run: variation between executions is not measured"
        messages.append(Message("within-run", template))
    return [*messages, *(build_confounded_warning(name, twin) for name, twin in response.confounded)]


def build_confounded_warning(name: str, twin: str) -> Message:
    """Return the warning that two factors always change together."""
    template = "{factor} always changes with {twin}: nothing here tells them apart"
    return Message("confounded", template, factor=name, twin=twin)


def warn_single_trials(response: Response, names: Sequence[str], where: str = "here: too sure of that") -> list[str]:
    """Warn if an analysis of these factors takes trials of one bring-up for repetitions: S311."""
    bring_ups = s311.find_shared_factors(response.rows, names)
    if bring_ups is None:
        return []
    finding = s311.build_finding(bring_ups, where)
    template = "{finding} {sentence}: {action}"
    values = {
        "finding": finding.code,
        "sentence": finding.sentence,
        "action": finding.action,
        "columns": ", ".join(names),
    }
    return [Message("shared-bring-ups", template, **values)]


def warn_confounded_cells(response: Response) -> list[str]:
    """Warn of factors that change with a cell factor and are not shown. Ranks grow with nodes."""
    messages: list[str] = []
    for name, twin in response.confounded:
        if "ranks" in (name, twin):
            continue
        end = (
            "rank and regress tell them apart"
            if is_separable(response.rows, name, twin)
            else "nothing here tells them apart"
        )
        template = "{factor} changes with {twin} from cell to cell: " + end
        messages.append(Message("confounded-in-cells", template, factor=name, twin=twin))
    return messages


def format_some_texts(texts: Sequence[str], most: int = 4) -> str:
    """List the first texts, and the number of others."""
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def warn_logarithms(response: Response) -> list[str]:
    """Warn if logarithms are compared: their ratio depends on the unit."""
    if response.transform not in LOGARITHMS:
        return []
    template = "{response} is a logarithm, whose ratios depend on the unit: take {measured} itself"
    return [Message("logarithmic-response", template, response=response.title, measured=response.measured)]
