"""A probe as text: links and nodes with intervals; of many only the slowest and the fastest."""

from collections.abc import Iterator
from typing import Any

from iosonde.campaign.probe import Probed
from iosonde.core.message import spell
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale
from iosonde.layout.text import escape, format_estimate_parts, paragraphs, table, warning_lines, wrapped

MAX_LISTED = 6  # pairs or nodes; of more the slowest and the fastest
# Key, label, unit. CPU time is shown in s/MB (10⁶ bytes), as is customary.
_ROWS = (
    ("disk_write", "disk write", "bytes/s"),
    ("disk_read", "disk read", "bytes/s"),
    ("memory_copy_one_core", "memory copy, one core", "bytes/s"),
    ("memory_copy_all_cores", "memory copy, {cores} cores", "bytes/s"),
    ("cpu_write", "CPU time of writing", "s/byte"),
    ("cpu_read", "CPU time of reading", "s/byte"),
)


def lines(probed: Probed) -> Iterator[str]:
    """The lines of the text."""
    result, n = probed.facts, probed.n
    yield f"{100 * probed.level:g} % intervals over {n} repetition{'s' if n != 1 else ''}"
    if result["pairs"]:
        yield ""
        yield from _format_pairs(result["pairs"])
    if result["tcp"]:
        yield ""
        yield from _format_links(result["tcp"])
    if result["nodes"]:
        yield ""
        yield from _format_nodes(result["nodes"], result["own_disk"] is not False)
    if result["servers"]:
        yield ""
        yield from _format_servers(result["servers"])
    yield ""
    yield from warning_lines(probed.warnings)
    yield from describe_slowest_resources(probed)


def _format_pairs(pairs: list[dict[str, Any]]) -> Iterator[str]:
    rows = []
    for pair in _select_extremes(pairs, "bandwidth"):
        a, b = pair["hosts"] if len(set(pair["hosts"])) > 1 else [f"rank {rank}" for rank in pair["ranks"]]
        rows.append([f"{a} – {b}", pair["medium"], "latency", *_format_value(pair["latency"], "s")])
        for key, way in (("bandwidth", "forth"), ("bandwidth_back", "back")):
            rows.append(["", "", f"bandwidth {way}", *_format_value(pair[key], "bytes/s")])
    yield from _describe_omitted(len(pairs), "pairs", "by bandwidth")
    yield from table(["pair", "over", "", "mean", "interval", ""], rows, "lLLrrL").splitlines()


def _format_links(links: list[dict[str, Any]]) -> Iterator[str]:
    rows = []
    for link in _select_extremes(links, "bandwidth"):
        a, b = link["hosts"]
        rows += [
            [f"{a} → {b}", *_format_value(link["bandwidth"], "bytes/s")],
            [f"{b} → {a}", *_format_value(link["bandwidth_back"], "bytes/s")],
        ]
    yield from _describe_omitted(len(links), "links", "by bandwidth")
    yield from table(["TCP, by iperf3", "mean", "interval", ""], rows, "lrrL").splitlines()


def _format_nodes(nodes: list[dict[str, Any]], own_disk: bool) -> Iterator[str]:
    """Format the nodes; ``own_disk``: the target is a disk of the node, not a shared file system."""
    selected = _select_extremes(nodes, "disk_read" if "disk_read" in nodes[0] else "memory_copy_all_cores")
    rows = [
        [
            (words if own_disk else words.replace("disk ", "mount ")).format(cores=node["cores"]),
            *_format_value(node[key], unit),
        ]
        for node in selected
        for key, words, unit in _ROWS
        if key in node
    ]
    yield from _describe_omitted(len(nodes), "nodes", "by disk or memory")
    header, *body = table(["", "mean", "interval", ""], rows, "LrrL").splitlines()
    yield header
    each = len(rows) // len(selected)
    for place, node in enumerate(selected):
        yield escape(node["host"])
        yield from body[place * each : (place + 1) * each]
    for way in dict.fromkeys(node["disk_way"] for node in nodes if node["disk_way"]):
        yield from wrapped(f"{'disk' if own_disk else 'mount'}: {way}", "  ")


def _format_servers(servers: list[dict[str, Any]]) -> Iterator[str]:
    disks = [(server["host"], disk) for server in servers for disk in server["disks"]]
    rows = []
    for host, disk in disks[:MAX_LISTED]:
        for way in ("write", "read"):
            where, kind = (f"{host}:{disk['dir']}", disk["filesystem"] or "-") if way == "write" else ("", "")
            rows.append([where, kind, way, *_format_value(disk[f"disk_{way}"], "bytes/s")])
    yield from table(["disk of a server", "on", "", "mean", "interval", ""], rows, "LLLrrL").splitlines()
    if len(disks) > MAX_LISTED:
        yield f"{MAX_LISTED} of {len(disks)} disks; all: {spell.json}"
    yield from paragraphs((f"disk: {way}" for way in dict.fromkeys(disk["disk_way"] for _, disk in disks)), "  ")


def describe_slowest_resources(probed: Probed) -> list[str]:
    """Return the slowest of each kind of resource, the inputs of a bound."""
    parts, worst = [], probed.slowest
    whose = " of a server" if probed.facts["servers"] else ""
    if "network_bandwidth" in worst:
        over = "link" if all(pair["medium"] == "network" for pair in probed.facts["pairs"]) else "pair"
        tcp = f" by MPI, {_format_short(worst['tcp_bandwidth'], 'bytes/s')} by TCP" if "tcp_bandwidth" in worst else ""
        parts.append(f"The slowest {over} carries {_format_short(worst['network_bandwidth'], 'bytes/s')}{tcp}.")
    if "disk_write" in worst:
        written, read = (_format_short(worst[name], "bytes/s") for name in ("disk_write", "disk_read"))
        parts.append(f"The slowest disk{whose} writes {written} and reads {read}.")
    if "cpu_write" in worst:
        parts.append(
            f"A client spends up to {_format_short(max(worst['cpu_write'], worst['cpu_read']), 's/byte')} of CPU."
        )
    if not parts:
        parts.append(f"Memory copies {_format_short(worst['memory_copy'], 'bytes/s')}.")
    return parts


def _select_extremes(items: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    if len(items) <= MAX_LISTED:
        return items
    ordered = sorted(items, key=lambda item: item[key].value)
    return [*ordered[: MAX_LISTED // 2], *ordered[-(MAX_LISTED // 2) :]]


def _describe_omitted(count: int, what: str, order: str) -> Iterator[str]:
    if count > MAX_LISTED:
        yield f"{MAX_LISTED // 2} slowest and {MAX_LISTED // 2} fastest of {count} {what}, {order}; all: {spell.json}"


def _format_value(estimate: Estimate, unit: str) -> list[str]:
    divisor, name = _choose_scale(estimate.value or 0.0, unit)
    return [*format_estimate_parts(estimate, divisor), name]


def _format_short(value: float, unit: str) -> str:
    divisor, name = _choose_scale(value, unit)
    return f"{value / divisor:.3g} {name}"


def _choose_scale(value: float, unit: str) -> tuple[float, str]:
    return (1e-6, "s/MB") if unit == "s/byte" else choose_human_scale(value, unit)
