"""diskspd ``-Rxml``: the same numbers as its text. The rates are bytes and operations of all threads ÷ the test's time,
as in the text."""

from collections.abc import Iterator

from iosonde.core.derived_numbers import ALL_OPERATIONS
from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .diskspd_settings import check_end, parse_moment, share_target_settings
from .parsed import CERTAIN, Claim, Parsed, Row
from .reading import parse_integer, parse_number
from .text import Note, Text
from .xml_tree import Element, iter_documents

_ROOT = "Results"
# Direction → words of its elements.
_DIRECTIONS = {"read": "Read", "write": "Write"}
_AVERAGES = {"read": "AverageReadMilliseconds", "write": "AverageWriteMilliseconds"}
_DEVIATIONS = {"read": "ReadLatencyStdev", "write": "WriteLatencyStdev", ALL_OPERATIONS: "LatencyStdev"}
_MILLISECONDS = {"read": "ReadMilliseconds", "write": "WriteMilliseconds", ALL_OPERATIONS: "TotalMilliseconds"}
_INTERVALS = {"read": "ReadIopsStdDev", "write": "WriteIopsStdDev", ALL_OPERATIONS: "IopsStdDev"}
# Percentiles of the text; the XML has every whole one.
_PERCENTILES = ("25", "50", "75", "90", "95", "99")
_SETTINGS = {"BlockSize": "transfer_size", "RequestCount": "io_depth", "RandomRatio": "percent_random"}


def claim_xml(text: Text) -> Claim | None:
    """Recognise the root and a timespan with its results, or with its settings."""
    content = text.content
    if f"<{_ROOT}>" not in content or "<TimeSpan>" not in content:
        return None
    return Claim.from_match(CERTAIN, text.find("<TestTimeSeconds>", "<WriteRatio>", "<ThreadsPerFile>"))


def parse_xml(text: Text) -> list[Parsed]:
    """Return one Parsed for each timespan of each document."""
    return [run for document in iter_documents(text, _ROOT) for run in _read_document(document)]


def _read_document(document: Element | Note) -> Iterator[Parsed]:
    if isinstance(document, Note):
        yield Parsed(missing=[document], form="xml")
        return
    settings = document.list_children("Profile", "TimeSpans", "TimeSpan")
    results = document.list_children("TimeSpan")
    for place in range(max(len(settings), len(results), 1)):
        run = Parsed(
            version=document.get_text("System", "Tool", "Version")[:40],
            started_at=parse_moment(document.get_text("System", "RunTime")),
            form="xml",
        )
        if computer := document.get_text("System", "ComputerName"):
            run.facts["computer"] = computer[:200]
        if place < len(settings):
            _read_settings(run, settings[place])
        _read_results(run, results[place] if place < len(results) else Element("", document.line))
        yield run


def _read_settings(run: Parsed, span: Element) -> None:
    if (runtime := parse_integer(span.get_text("Duration"))) is not None:
        run.factors["runtime"] = runtime
    if warm_up := span.get_text("Warmup"):
        run.facts["warm_up"] = f"{warm_up[:18]}s"
    share_target_settings(run, [_read_target(target) for target in span.list_children("Targets", "Target")])


def _read_target(target: Element) -> dict[str, FactorValue]:
    settings: dict[str, FactorValue] = {"target": target.get_text("Path")[:200]}
    for name, setting in _SETTINGS.items():
        if (value := parse_integer(target.get_text(name))) is not None:
            settings[setting] = value
    writes = parse_integer(target.get_text("WriteRatio"))
    if writes is not None and 0 < writes < 100:
        settings["percent_read"] = 100 - writes
    if "percent_random" not in settings:
        settings["random"] = int(target.find("Random") is not None)
    settings["direct"] = int(target.get_text("DisableOSCache") == "true")
    settings["write_through"] = int(target.get_text("WriteThrough") == "true")
    limit = target.find("Throughput")
    if limit is not None and limit.attributes.get("unit") == "IOPS":
        settings["requested_rate"] = parse_integer(limit.text)
    return settings


def _read_results(run: Parsed, span: Element) -> None:
    element = span.find("TestTimeSeconds")
    seconds = parse_number(element.text) if element else None
    if (threads := parse_integer(span.get_text("ThreadCount"))) is not None:
        run.factors["threads"] = threads
    if requests := parse_integer(span.get_text("RequestCount")):  # of a pool of threads
        run.factors["io_depth"] = requests
    if error := span.find("Error"):
        run.lacks(error.line, Message("tool-failed", "it failed: {quote}", quote=error.text[:160]))
    if element is None or not seconds:
        check_end(run, span.line, False, None, 0)
        return
    counts = {name: _sum_counts(run, span, word) for name, word in _DIRECTIONS.items()}
    busy = [name for name, count in counts.items() if count["operations"]]
    for name in busy:
        _add_rates(run, name, counts[name], (element.line, seconds))
        _add_latencies(run, name, span)
    if len(busy) == 2:
        totals = {kind: counts["read"][kind] + counts["write"][kind] for kind in ("bytes", "operations")}
        _add_rates(run, ALL_OPERATIONS, totals, (element.line, seconds))
        _add_latencies(run, ALL_OPERATIONS, span)
    check_end(run, element.line, True, (element.line, seconds), sum(count["operations"] for count in counts.values()))


def _sum_counts(run: Parsed, span: Element, word: str) -> dict[str, float]:
    """Return the bytes and operations of one direction over all threads and targets."""
    totals = {"bytes": 0.0, "operations": 0.0}
    for target in span.list_children("Thread", "Target"):
        for kind, name in (("bytes", f"{word}Bytes"), ("operations", f"{word}Count")):
            value = parse_number(target.get_text(name))
            if value is None:
                message = Message("invalid-number", "{metric} is not a number", metric=name)
                run.lacks(target.line, message)
            else:
                totals[kind] += value
    return totals


def _add_rates(run: Parsed, operation: str, totals: dict[str, float], time: tuple[int, float]) -> None:
    line, seconds = time
    run.rows += [
        Row(operation, "bytes", totals["bytes"], "bytes", line),
        Row(operation, "operations", totals["operations"], "operations", line),
        Row(operation, "bandwidth", totals["bytes"] / seconds, "bytes/s", line),
        Row(operation, "rate", totals["operations"] / seconds, "operations/s", line),
        Row(operation, "time", seconds, "s", line),
    ]


def _add_latencies(run: Parsed, operation: str, span: Element) -> None:
    places = [
        (("Latency", _AVERAGES.get(operation, "AverageTotalMilliseconds")), "latency_mean"),
        (("Latency", _DEVIATIONS[operation]), "latency_sd"),
        (("Iops", _INTERVALS[operation]), "rate_interval_sd"),
    ]
    for path, metric in places:
        _add_number(run, operation, metric, span.find(*path))
    for bucket in span.list_children("Latency", "Bucket"):
        if statistic := _name_percentile(bucket.get_text("Percentile")):
            _add_number(run, operation, f"latency_{statistic}", bucket.find(_MILLISECONDS[operation]))


def _add_number(run: Parsed, operation: str, metric: str, element: Element | None) -> None:
    if element is None:
        return
    value = parse_number(element.text)
    if value is None:
        run.lacks(element.line, Message("invalid-number", "{metric} is not a number", metric=metric))
    elif metric == "rate_interval_sd":
        run.rows.append(Row(operation, metric, value, "operations/s", element.line))
    else:
        run.rows.append(Row(operation, metric, value / 1e3, "s", element.line))


def _name_percentile(words: str) -> str:
    if words in ("0", "100"):
        return "min" if words == "0" else "max"
    return f"p{words}" if words in _PERCENTILES or (words.startswith("99.9") and set(words) <= set("9.")) else ""
