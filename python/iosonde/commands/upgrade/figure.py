"""Content of the drawing of a cluster, from its file and its bound."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from iosonde.core.cluster_nodes import CLIENTS, ROLES, SERVERS, ClusterNode, ClusterNodes, format_some_names
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.core.units import format_size
from iosonde.explain.upgrade import Cluster
from iosonde.explain.upgrade_today import Today
from iosonde.layout.figure import Figure
from iosonde.model.bound.bound import TERMS

from .answer import Upgrade
from .figure_cluster import (
    ClusterDrawing,
    DrawnNode,
    DrawnPart,
    Passed,
    choose_drawn_numbers,
    cluster_figure,
    format_amount,
    format_drawn_number,
)
from .text import describe_bottleneck, format_terms

_NO_NAMES = ClusterNodes(())
_SOME = 0.05  # share of draws in which a term limits that is worth a sentence
# Part → its terms with their names in the drawing.
_TERMS = {
    "clients": {"cpu": "client CPUs", "memory_copy": "memory copies", "latency": "waiting"},
    "client_links": {"network_clients": "client links"},
    "network": {"fabric": "fabric"},
    "server_links": {"network_servers": "server links"},
    "servers": {"server_cpu": "server CPUs"},
    "disks": {"disks": "disks"},
    "metadata": {"metadata": "metadata servers"},
}
_FieldFormatter = Callable[..., str]


def cluster_plot(answer: Upgrade) -> Figure:
    """Draw the current cluster and its bottleneck. Requires a cluster in the file."""
    today, cluster = answer.today, answer.cluster_file.cluster
    assert cluster is not None
    return cluster_figure(build_cluster_drawing(cluster, today, answer.level, answer.cluster_file.nodes))


def build_cluster_drawing(
    cluster: Cluster, today: Today | None, level: float, nodes: ClusterNodes = _NO_NAMES
) -> ClusterDrawing:
    """Return the cluster with the maximum rate of each part; ``today`` is None without a bound.
    Nodes that the file names are drawn with their names and roles.
    """
    sentences, parts = _build_sentences(cluster, today, level), _build_parts(cluster, today, level)
    if nodes.both:
        sentences = (*sentences, Message("mixed-nodes", "A node that is both client and server appears on both sides."))
    if managers := nodes.list_names(("metadata",)):
        parts["metadata"] = replace(
            parts.get("metadata", DrawnPart("")), title=f"metadata: {format_some_names(managers, 2)}"
        )
    return ClusterDrawing(
        cluster.name,
        sentences,
        parts,
        _list_clients(cluster, nodes),
        _list_servers(cluster, nodes),
        _list_other_nodes(nodes),
    )


def _list_clients(cluster: Cluster, nodes: ClusterNodes) -> tuple[DrawnNode | None, ...]:
    clients = [node for node in nodes.nodes if node.has_role(CLIENTS)]
    if clients:
        return _select_drawn([DrawnNode(node.name, _describe_other_roles(node, CLIENTS)) for node in clients])
    count = _read_count(cluster, "clients") or 1
    return tuple(
        None if n is None else DrawnNode(f"client {format_drawn_number(n)}") for n in choose_drawn_numbers(count)
    )


def _list_servers(cluster: Cluster, nodes: ClusterNodes) -> tuple[DrawnNode | None, ...]:
    servers = [node for node in nodes.nodes if node.has_role(("server",))]
    if servers:
        spread = _spread_disks(cluster, len(servers))
        by_sum = "disks" in cluster.system and all(node.disks is None for node in servers)
        return _select_drawn(
            [
                DrawnNode(node.name, _describe_other_roles(node, ("server",)), spread(n) if by_sum else node.disks)
                for n, node in enumerate(servers, 1)
            ]
        )
    count = _read_count(cluster, "servers") or 1
    spread = _spread_disks(cluster, count)
    return tuple(
        None if n is None else DrawnNode(f"server {format_drawn_number(n)}", "", spread(n))
        for n in choose_drawn_numbers(count)
    )


def _spread_disks(cluster: Cluster, servers: int) -> Callable[[int], int]:
    """Return a function from server number, from 1, to its disks, if only their sum is known."""
    each, more = divmod(_read_count(cluster, "disks") or 0, servers)
    return lambda number: each + (number <= more)


def _list_other_nodes(nodes: ClusterNodes) -> tuple[DrawnNode, ...]:
    drawn = (*CLIENTS, *SERVERS)
    names_by_role = {
        role: [node.name for node in nodes.nodes if node.has_role((role,)) and not node.has_role(drawn)]
        for role in ROLES
        if role not in drawn
    }
    return tuple(DrawnNode(role, format_some_names(names, 2)) for role, names in names_by_role.items() if names)


def _select_drawn(nodes: Sequence[DrawnNode]) -> tuple[DrawnNode | None, ...]:
    return tuple(None if n is None else nodes[n - 1] for n in choose_drawn_numbers(len(nodes)))


def _describe_other_roles(node: ClusterNode, here: Sequence[str]) -> str:
    others = [role for role in node.roles if role not in here]
    return f"also {', '.join(others)}" if others else ""


def _build_sentences(cluster: Cluster, today: Today | None, level: float) -> tuple[str, ...]:
    layout = _describe_layout(cluster)
    if today is None:
        return (Message("no-known-limit", "Today: no limit is known."), layout)
    ceiling = today.ceiling
    rate = format_amount(today.s, "bytes/s")
    first = f"Today: {ceiling.system.operation} at most {rate}, {describe_bottleneck(ceiling)}."
    others = tuple(name for name, share in today.limits.items() if name not in ceiling.limit and share >= _SOME)
    doubt = f"Perhaps {format_terms(others)}: the intervals of the inputs overlap." if others else ""
    interval_note = "" if today.s.low is None else f"{100 * level:g} % intervals."
    return tuple(sentence for sentence in (first, " ".join(filter(None, (doubt, layout, interval_note)))) if sentence)


def _describe_layout(cluster: Cluster) -> str:
    words = cluster.words
    counted = {name: f"{q.value:g}" for name, q in cluster.system.items()}
    code = f"{counted.get('data_chunks', '1')}+{counted.get('parity_chunks', '0')}"
    copies = counted.get("replicas", "1")
    redundancy = {
        "client": f"{copies} copies, made by the clients.",
        "chained": f"{copies} copies, passed on by the servers.",
        "erasure": f"Erasure code {code}.",
    }.get(str(words.get("redundancy")), "")
    stripe = f"Each file lies on {counted['stripe_count']} of the servers." if "stripe_count" in counted else ""
    return " ".join(filter(None, (redundancy, stripe)))


def _build_parts(cluster: Cluster, today: Today | None, level: float) -> dict[str, DrawnPart]:
    def format_quantity(unit: str, *names: str) -> str:
        """Format the first of these fields that the file has, with its interval."""
        q = next((cluster.system[name] for name in names if name in cluster.system), None)
        if q is None:
            return ""
        low, high = (q.low, q.high) if q.high > q.low else (None, None)
        return format_amount(Estimate(q.value, low, high, level, 0), unit)

    fabric, operation = format_quantity("bytes/s", "fabric"), str(cluster.words.get("operation", "write"))
    heads = {
        "clients": (_format_title(cluster, "clients", "client"), _list_client_facts(cluster, format_quantity)),
        "client_links": (format_quantity("bytes/s", "client_network", "network"), ("each link",)),
        "network": ("fabric" if fabric else "network", (fabric,)),
        "server_links": (format_quantity("bytes/s", "server_network", "network"), ("each link",)),
        "servers": (
            _format_title(cluster, "servers", "server"),
            (_format_cpu_per_byte(format_quantity("s", "server_cpu")),),
        ),
        "disks": (_format_title(cluster, "disks", "disk"), _list_disk_facts(format_quantity, operation)),
    }
    if "metadata_rate" in cluster.system:
        heads["metadata"] = ("metadata servers", _list_metadata_facts(cluster, format_quantity))
    return {
        at: DrawnPart(title, tuple(fact for fact in facts if fact) if title else (), _list_passed(at, today, level))
        for at, (title, facts) in heads.items()
    }


def _list_passed(at: str, today: Today | None, level: float) -> tuple[Passed, ...]:
    """Return the maximum rates of a part; a classical term with unknown inputs has no value."""
    passed_terms = []
    terms = {term.name: term for term in today.ceiling.terms} if today else {}
    for term, name in _TERMS[at].items():
        if today and term in terms:
            passed_terms.append(Passed(name, terms[term].formula, today.terms[term], term in today.ceiling.limit))
        elif today and term in today.ceiling.missing:
            passed_terms.append(Passed(name, TERMS[term][0], Estimate(None, None, None, level, 0)))
    return tuple(passed_terms)


def _list_client_facts(cluster: Cluster, format_field: _FieldFormatter) -> tuple[str, ...]:
    values = {name: q.value for name, q in cluster.system.items()}
    copies = f", {values['copies']:g} × each" if "copies" in values else ""
    memory = format_field("bytes/s", "memory_copy")
    waits = format_field("s", "latency")
    request = format_size(values["request_size"]) if "request_size" in values else ""
    return (
        _format_cpu_per_byte(format_field("s", "cpu")),
        f"copies {memory}{copies}" if memory else "",
        f"{values.get('queue_depth', 1):g} × {request}, {waits} each" if waits and request else "",
    )


def _list_disk_facts(format_field: _FieldFormatter, operation: str) -> tuple[str, ...]:
    fast = format_field("bytes/s", f"disk_{operation}", "disk")
    return (f"each {operation}s {fast}",) if fast else ()


def _list_metadata_facts(cluster: Cluster, format_field: _FieldFormatter) -> tuple[str, ...]:
    values = {name: q.value for name, q in cluster.system.items()}
    size = f", {format_size(values['file_size'])}" if "file_size" in values else ""
    return (
        format_field("operations/s", "metadata_rate"),
        f"{values.get('metadata_operations', 1):g} for each file{size}",
    )


def _format_cpu_per_byte(seconds: str) -> str:
    return f"CPU {seconds}/B" if seconds else ""


def _format_title(cluster: Cluster, name: str, noun: str) -> str:
    """Format ``4 servers``; if the file states no number of clients or servers it is 1, as in the bound."""
    count = _read_count(cluster, name)
    if count is None and name == "disks":
        return "disks"
    if count is None:
        return f"1 {noun} (by default)"
    return f"{count if count < 10**7 else f'{count:.4g}'} {noun if count == 1 else name}"


def _read_count(cluster: Cluster, name: str) -> int | None:
    return int(cluster.system[name].value) if name in cluster.system else None
