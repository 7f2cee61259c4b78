"""Caveats of a response and its factors, for any analysis."""

from collections.abc import Sequence

from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.transforms import LOGARITHMS
from iosonde.core.words import join_names
from iosonde.data.factors import is_separable
from iosonde.data.responses import Response
from iosonde.stats.checks import s311_shared_bring_ups as s311


def list_caveats(response: Response) -> list[str]:
    """Return the caveats: assumptions, repeats within one execution, confounded factors."""
    messages = list(response.warnings)
    if response.within_run:
        template = "repeats are iterations within one run: variation between executions is not measured"
        messages.append(Message("within-run", template))
    return [*messages, *warn_confounded(list_confounded(response))]


def list_confounded(response: Response) -> list[tuple[str, str]]:
    """Return the pairs of factors of a response that always change together. Settings that its tool lacks, or has once,
    are no pair."""
    return [pair for pair in response.confounded if all(len(response.rows.columns[name].levels) > 1 for name in pair)]


def build_confounded_warning(name: str, twin: str) -> Message:
    """Return the warning that two factors always change together."""
    return warn_confounded([(name, twin)])[0]


def warn_confounded(pairs: Sequence[tuple[str, str]], where: str = "") -> list[Message]:
    """Warn once of all these ``pairs`` of factors, as they change together ``where``."""
    if not pairs:
        return []
    names_by_twin = group_by_key((twin, name) for name, twin in dict.fromkeys(pairs))
    verb = "change" if where else "always change"
    clauses = [
        f"{join_names(names)} {verb}{'' if len(names) > 1 else 's'} with {twin}{where}"
        for twin, names in names_by_twin.items()
    ]
    values = {
        "groups": "; ".join(clauses),
        "factor": ", ".join(name for name, _ in pairs),
        "twin": ", ".join(names_by_twin),
    }
    template = "{groups}: nothing here tells them apart"
    return [Message("confounded-in-cells" if where else "confounded", template, **values)]


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


def warn_confounded_cells(responses: Sequence[Response]) -> list[str]:
    """Warn of factors that change with a cell factor and are not shown, once for all responses. Ranks grow with
    nodes."""
    pairs = {
        pair: is_separable(response.rows, *pair)
        for response in responses
        for pair in list_confounded(response)
        if "ranks" not in pair
    }
    template = "{factor} changes with {twin} from cell to cell: rank and regress tell them apart"
    separable = [pair for pair, is_apart in pairs.items() if is_apart]
    return [
        *warn_confounded([pair for pair in pairs if pair not in separable], " from cell to cell"),
        *(Message("confounded-in-cells", template, factor=name, twin=twin) for name, twin in separable),
    ]


def format_some_texts(texts: Sequence[str], most: int = 4) -> str:
    """List the first texts, and the number of others."""
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def warn_logarithms(response: Response) -> list[str]:
    """Warn if logarithms are compared: their ratio depends on the unit."""
    if response.transform not in LOGARITHMS:
        return []
    template = "{response} is a logarithm, whose ratios depend on the unit: take {measured} itself"
    return [Message("logarithmic-response", template, response=response.title, measured=response.measured)]
