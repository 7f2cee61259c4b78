"""A bound in words: its case, its assumptions, and remedies for each limit."""

from iosonde.core.message import Message
from iosonde.core.words import join_names

from .bound import Ceiling
from .system import READ, System

# Cheng's four assumptions (CHEP 2004), shown with every bound.
ASSUMPTIONS = (
    "data is processed in the clients only",
    "servers only store, and serve file operations",
    "traffic with the metadata server is small",
    "handling a request takes far less time than moving its data",
)

# Limiting term → what helps. The talk's seven methods, each with the term that it moves.
ADVICE = {
    "cpu": "faster or more client CPUs, or less work for each byte (checksums, compression, encryption)",
    "network_clients": "a faster network at the clients, a better transfer protocol, or more clients at once",
    "network_servers": "more servers, or a faster network at the servers, or a better transfer protocol",
    "disks": "faster disks or more of them; stripe files, so that all disks work at once",
    "fabric": "a fabric with more bisection bandwidth (less oversubscription), or data nearer to its clients",
    "server_cpu": "more servers or faster server CPUs; a file-system design with less work in the servers",
    "memory_copy": "fewer copies (O_DIRECT, mmap, zero-copy protocols), or faster memory",
    "latency": "larger requests, more of them under way (queue depth, more processes), or less latency",
    "metadata": "more capable metadata servers, or fewer and larger files",
}
# Term → as it stands in a sentence.
NAMES = {
    "cpu": "the clients' CPUs",
    "network_clients": "the clients' network",
    "network_servers": "the servers' network",
    "disks": "the disks",
    "fabric": "the fabric between",
    "server_cpu": "the servers' CPUs",
    "memory_copy": "copying in the clients' memory",
    "latency": "waiting for each request",
    "metadata": "the metadata servers",
}

# Term that a bound should have → the options that make it known, as a template.
_OPTIONS_BY_TERM = {
    "network_clients": "{spell.net}, or iosonde probe --hosts FILE",
    "network_servers": "{spell.servers} and {spell.net}",
    "disks": "{spell.disks} and {spell.disk}, or iosonde probe --servers HOSTS --disk-dir DIR",
}


def format_term_name(term: str) -> str:
    """A term as it stands in a sentence."""
    return NAMES[term]


def join_term_names(terms: tuple[str, ...]) -> str:
    """Several terms in a sentence."""
    return join_names([NAMES[term] for term in terms])


def list_unknown_inputs(ceiling: Ceiling) -> list[str]:
    """List unknown inputs of the bound, each with the options that supply it: the true bound can only be lower."""
    return [
        Message(
            "unknown-term",
            "unknown: {part}; the true bound may be lower (" + _OPTIONS_BY_TERM[term] + ")",
            term=term,
            part=NAMES[term],
        )
        for term in ceiling.missing
    ]


def list_bound_assumptions(ceiling: Ceiling) -> list[str]:
    """List Cheng's four assumptions, and those of this system's extensions."""
    system, messages = ceiling.system, list[str](ASSUMPTIONS)
    if system.path == "local":
        messages = [Message("local-path", "data is processed where the disks are")]
    elif system.stripe_count is None:
        messages.append(
            Message("even-load", "load is spread evenly over servers and disks ({spell.stripe} says how it really is)")
        )
    elif system.placement != "round_robin":
        messages.append(
            Message(
                "random-placement",
                "{parts} are chosen at random: S is the mean over placements, the busiest server limits",
                parts="servers" if system.placement == "random" else "groups of servers with the same copies",
            )
        )
    else:
        messages.append(Message("round-robin", "servers are dealt out in turn: the best case of a stripe"))
    if system.redundancy == "erasure" and system.operation != READ and None in (system.chunk_size, system.request_size):
        messages.append(
            Message(
                "full-stripes", "only full stripes are written ({spell.chunk} and {spell.request} say what they are)"
            )
        )
    pieces = system.data_chunks + system.parity_chunks if system.redundancy == "erasure" else system.replicas
    if pieces > system.servers and "network_servers" not in ceiling.missing:
        messages.append(
            Message(
                "shared-servers",
                "{pieces:g} chunks or copies share {servers:g} servers: one that fails takes several",
                pieces=pieces,
                servers=system.servers,
            )
        )
    if system.redundancy != "none":
        messages.append(Message("full-duplex", "links are full duplex, disks are not"))
    return messages


def name_cheng_case(system: System) -> str:
    """Name Cheng's case of this system, from N, M, R and I, or the case that he leaves out."""
    if system.path == "local":
        return Message("local-path", "one machine with its own disks: S depends on them and on its CPU (P·R, N/c)")
    link = system.network if system.network is not None else system.server_network
    rate = system.get_disk_rate(system.operation)
    if link is None or rate is None:
        return Message("unknown-case", "unknown case: the network or disk rate is missing")
    is_single = system.clients == 1 or system.servers == 1
    who = "one client or one server" if is_single else "several clients and several servers"
    per_server = rate * (system.disks or system.servers) / system.servers
    behind = "" if (per_server < link) == (rate < link) else "; but the disks of one server together outrun its link"
    if rate > link:
        depends = "the network alone (I)" if is_single else "the number of clients and of servers (N·I, M·I)"
        return f"{who}, a disk faster than a link: S depends on {depends}"
    slower = "a disk slower than a link" if rate < link else "a disk as fast as a link"
    if is_single:
        return f"{who}, {slower}: S depends on the network and the disks (I, P·R){behind}"
    return (
        f"{who}, {slower}: S depends on clients, servers and disks (N·I, M·I, P·R; none of the three cases of Cheng)"
        f"{behind}"
    )


def list_limit_remedies(ceiling: Ceiling) -> list[str]:
    """Return the remedy for each limiting term."""
    return [ADVICE[term] for term in ceiling.limit]
