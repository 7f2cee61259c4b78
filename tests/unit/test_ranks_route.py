"""Which counters are those of the route to the servers: every byte once, and a reason where none is."""

from __future__ import annotations

import struct

import pytest

from iosonde.ranks.machine import netlink, route, traffic
from iosonde.ranks.machine.mount import Mount
from iosonde.ranks.machine.netlink import INFINIBAND, LOOPBACK, Interface, Way
from messages import assert_problem

LO, ETH0, ETH1 = Interface(1, "lo", LOOPBACK), Interface(2, "eth0"), Interface(3, "eth1")
BOND = Interface(4, "bond0", kind="bond")
PART = Interface(5, "eth2", master=4)
VLAN = Interface(6, "eth0.7", kind="vlan", lower=2)
ON_BOND = Interface(7, "bond0.7", kind="vlan", lower=4)
TUNNEL, DOCKER = Interface(8, "wg0", kind="wireguard"), Interface(9, "docker0", kind="bridge")
IN_DOCKER = Interface(10, "veth1", kind="veth", master=9)
BRIDGE, IN_BRIDGE = Interface(11, "br0", kind="bridge"), Interface(12, "eth3", master=11)
VETH = Interface(13, "eth0", kind="veth", lower=2)
IPOIB = Interface(14, "ib0", INFINIBAND)
EVERY = (LO, ETH0, ETH1, BOND, PART, VLAN, ON_BOND, TUNNEL, DOCKER, IN_DOCKER, BRIDGE, IN_BRIDGE, IPOIB)
LINKS = {link.index: link for link in EVERY}


@pytest.mark.parametrize(
    ("some", "counted"),
    [
        ((LO, ETH0, ETH1), (ETH0, ETH1)),
        ((BOND, PART), (BOND,)),
        ((ETH0, VLAN), (ETH0,)),
        ((VLAN,), (VLAN,)),
        ((BOND, ON_BOND, PART), (BOND,)),
        ((ETH0, TUNNEL, DOCKER), (ETH0,)),
        ((TUNNEL,), (TUNNEL,)),
        ((BRIDGE, ETH1), (BRIDGE, ETH1)),
        ((DOCKER,), (DOCKER,)),
    ],
)
def test_no_byte_is_counted_twice(some, counted):
    assert route.remove_double_counted([link.index for link in some], LINKS) == {link.index for link in counted}


def test_the_other_end_of_a_veth_pair_is_no_lower_interface():
    links = {2: ETH0, 13: VETH}
    assert route.remove_double_counted([2, 13], links) == {2, 13}


def mounted(kind, source, options=""):
    return Mount("/mnt/x", kind, source, "rw", options, (0, 50), "/")


def network(routed=(2, 3), ports=(), ways=None):
    ways = {"10.0.0.1": Way(2), "10.0.0.2": Way(3), "10.0.0.9": Way(1, local=True)} if ways is None else ways
    return route.NodeNetwork(LINKS, frozenset(routed), ports, ways.get)


@pytest.mark.parametrize(
    ("found", "also", "more", "interfaces", "ports"),
    [
        # One server: its route alone. Of many, of which the source names one: all that reach anybody.
        (mounted("nfs", "10.0.0.1:/x"), (), {}, ("eth0",), ()),
        (mounted("nfs", "server:/x", "vers=3,addr=10.0.0.2"), (), {}, ("eth1",), ()),
        (mounted("nfs4", "10.0.0.1:/x"), (), {}, ("eth0", "eth1"), ()),
        (mounted("fuse.glusterfs", "10.0.0.1:/v"), (), {}, ("eth0", "eth1"), ()),
        (mounted("fuse.ceph-fuse", "ceph-fuse"), (), {}, ("eth0", "eth1"), ()),
        (mounted("fuse.glusterfs", "10.0.0.1:/v"), ("10.0.0.1",), {}, ("eth0",), ()),
        # A server to which no way is known may be reached by any.
        (mounted("fuse.glusterfs", "10.0.0.1:/v"), ("10.0.0.77",), {}, ("eth0", "eth1"), ()),
        # RDMA: ports, and IP over InfiniBand is in them.
        (mounted("nfs", "10.0.0.1:/x", "proto=rdma,port=20049"), (), {"ports": ("mlx5_0/1",)}, (), ("mlx5_0/1",)),
        (mounted("beegfs", "beegfs_nodev"), (), {"routed": (2, 14), "ports": ("mlx5_0/1",)}, ("eth0",), ("mlx5_0/1",)),
        (mounted("nfs", "10.0.0.3:/x"), (), {"ports": ("mlx5_0/1",), "ways": {"10.0.0.3": Way(14)}}, ("ib0",), ()),
    ],
)
def test_the_interfaces_that_lead_to_the_servers(found, also, more, interfaces, ports):
    assert route.find_route_to_servers(found, network(**more), also) == route.Route(interfaces, ports)


@pytest.mark.parametrize(
    ("found", "assumed"),
    [
        (mounted("fuse.novelty", "novelty"), True),
        (mounted("fuse", "novelty#x"), True),
        (mounted("fuse.novelty", "http://10.0.0.1/x"), False),
        (mounted("fuse.ceph-fuse", "ceph-fuse"), False),
        (mounted("fuse", "mfs#master:9421"), False),
        (mounted("beegfs", "beegfs_nodev"), False),
    ],
)
def test_where_neither_kind_nor_address_names_a_server_there_may_be_none(found, assumed):
    assert route.find_route_to_servers(found, network()).assumed is assumed


@pytest.mark.parametrize(
    ("found", "more", "why"),
    [
        (mounted("lustre", "10.0.0.1@o2ib:/scratch"), {}, "RDMA bypasses the kernel, and no port counts it"),
        (mounted("wekafs", "w1/default"), {}, "its client drives the network card itself (DPDK)"),
        (mounted("9p", "share", "trans=virtio"), {}, "it uses memory shared between the virtual machine and its host"),
        (mounted("fuse.sshfs", "10.0.0.1:/x", "compression=yes"), {}, "its client compresses what it sends"),
        (mounted("fuse", "mfs#10.0.0.50:9421"), {"routed": ()}, "no interface of this node has a route to others"),
    ],
)
def test_where_nothing_can_be_told_there_is_a_reason(found, more, why):
    assert route.find_route_to_servers(found, network(**more)) == route.Route(why=why)


@pytest.mark.parametrize("found", [mounted("nfs", "10.0.0.9:/x"), mounted("fuse.glusterfs", "10.0.0.9:/v")])
def test_a_server_that_is_this_node_is_named(found):
    way = route.find_route_to_servers(found, network())
    assert_problem(way.why, "own-server", host="10.0.0.9")
    assert way == route.Route(why=way.why, own_server="10.0.0.9")


def test_what_listens_at_a_loopback_address_may_be_the_clients_own_gateway():
    found = route.find_route_to_servers(mounted("nfs", "127.0.0.1:/x"), network(ways={"127.0.0.1": Way(1, local=True)}))
    assert found.own_server == ""
    assert_problem(found.why, "own-server", host="127.0.0.1")


def test_a_server_among_those_that_hold_the_data_may_be_this_node():
    found = route.find_route_to_servers(mounted("fuse.glusterfs", "10.0.0.1:/v"), network(), ("10.0.0.9",))
    assert_problem(found.why, "own-server", host="10.0.0.9")


def test_a_name_that_nobody_resolves_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(route, "RESOLVE_S", 0.01)
    monkeypatch.setattr(route.socket, "getaddrinfo", lambda *_, **__: route.threading.Event().wait(0.2) or [])
    assert route.resolve_addresses("no-such-host.example") == []
    assert route.resolve_addresses("10.0.0.1") == ["10.0.0.1"]


def message(kind, body):
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 1, 0) + body


def attribute(kind, content):
    return struct.pack("=HH", 4 + len(content), kind) + content + b"\0" * (-len(content) % 4)


def number(value):
    return struct.pack("=I", value)


def test_links_and_routes_as_the_kernel_says_them(monkeypatch):
    """The kinds of messages, made by hand after linux/rtnetlink.h: a VLAN, a veth whose peer is in another name space,
    routes to a network, to two hops at once, to ourselves, and to link-local addresses."""
    head = struct.pack("=BxHiII", 0, 1, 6, 1, 0)
    vlan = head + attribute(3, b"eth0.7\0") + attribute(5, number(2)) + attribute(18, attribute(1, b"vlan\0"))
    head = struct.pack("=BxHiII", 0, 1, 9, 1, 0)
    veth = head + attribute(3, b"eth9\0") + attribute(5, number(2)) + attribute(37, number(0))
    veth += attribute(18, attribute(1, b"veth\0"))

    def route_of(type, *attributes):
        return struct.pack("=BBBBBBBBI", 2, 0, 0, 0, 254, 0, 0, type, 0) + b"".join(attributes)

    hops = b"".join(struct.pack("=HBBi", 8, 0, 0, index) for index in (3, 4))
    routes = [
        route_of(1, attribute(1, b"\x0a\0\0\0"), attribute(4, number(2))),
        route_of(1, attribute(9, hops)),
        route_of(2, attribute(4, number(1))),
        route_of(1, attribute(1, b"\xfe\x80" + b"\0" * 14), attribute(4, number(8))),
    ]
    answers = {18: [vlan, veth], 26: routes}
    for kind, bodies in answers.items():
        whole = b"".join(message(16, body) for body in bodies) + message(3, number(0))
        assert [body for answered, body in netlink.split_messages(whole) if answered == 16] == bodies, kind
    monkeypatch.setattr(netlink, "_query_kernel", lambda kind, *_, **__: answers[kind])
    assert netlink.list_interfaces() == {
        6: Interface(6, "eth0.7", 1, "vlan", 2),
        9: Interface(9, "eth9", 1, "veth", None),
    }
    assert netlink.list_routed_interfaces() == {2, 3, 4}
    assert netlink.find_route("10.0.0.1") == Way(2)


def test_this_machine_has_a_loopback_that_leads_to_itself():
    here = netlink.list_interfaces()
    assert [link.name for link in here.values() if link.type == LOOPBACK] == ["lo"]
    assert netlink.find_route("127.0.0.1") == Way(1, local=True)
    assert netlink.find_route("none") is None
    assert "lo" in traffic.read_interface_counts()


def test_counters_of_interfaces_and_ports(tmp_path):
    (tmp_path / "dev").write_text(
        "Inter-|   Receive | Transmit\n face |bytes packets ...\n  eth0: 500 7 0 0 0 0 0 0 10 3 0 0 0 0 0 0\n"
    )
    assert traffic.read_interface_counts(tmp_path / "dev") == {"eth0": traffic.NetworkCounts(500, 10, 7, 3)}
    for name, values in (("mlx5_0", {"port_rcv_data": 100, "port_xmit_data": 25, "port_rcv_packets": 3}), ("eth", {})):
        folder = tmp_path / "ib" / name / "ports" / "1" / "counters"
        folder.mkdir(parents=True)
        for file, value in values.items():
            (folder / file).write_text(f"{value}\n")
    # Words of four bytes; a port without counters is none.
    assert traffic.read_port_counts(tmp_path / "ib") == {"mlx5_0/1": traffic.NetworkCounts(400, 100, 3, 0)}


def test_a_server_is_this_node_by_an_address_that_others_know():
    ways = {"10.0.0.9": Way(2, local=True), "10.0.0.1": Way(2), "127.0.0.1": Way(1, local=True)}
    assert [route.is_this_node(one, network(ways=ways)) for one in (*ways, "10.0.0.77")] == [True, False, False, False]


class Kernel:
    """A socket that answers with some buffers."""

    def __init__(self, *buffers):
        self.buffers, self.sent, self.limit_s = list(buffers), [], None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def settimeout(self, seconds):
        self.limit_s = seconds

    def send(self, content):
        self.sent.append(content)

    def recv(self, size):
        assert size == 2**18
        if not self.buffers:
            raise TimeoutError
        return self.buffers.pop(0)


@pytest.mark.parametrize(
    ("buffers", "dump", "bodies"),
    [
        (
            [message(16, b"aaaa"), message(16, b"bbbb") + message(3, number(0)) + message(16, b"cccc")],
            True,
            [b"aaaa", b"bbbb"],
        ),
        ([message(16, b"aaaa"), message(2, number(0)), message(16, b"bbbb")], True, [b"aaaa"]),
        ([message(16, b"aaaa")], True, [b"aaaa"]),  # no more is answered in time
        ([message(16, b"aaaa"), message(16, b"bbbb")], False, [b"aaaa"]),
        ([message(2, number(0))], False, []),
        ([], False, []),
    ],
)
def test_the_kernel_is_asked_until_it_is_done(monkeypatch, buffers, dump, bodies):
    kernel, opened = Kernel(*buffers), []
    monkeypatch.setattr(netlink.socket, "socket", lambda *words: opened.append(words) or kernel)
    assert list(netlink._query_kernel(18, b"1234", dump)) == bodies
    assert kernel.sent == [struct.pack("=IHHII", 20, 18, 0x301 if dump else 1, 1, 0) + b"1234"]
    assert (kernel.limit_s, opened) == (1.0, [(netlink.socket.AF_NETLINK, netlink.socket.SOCK_RAW, 0)])


@pytest.mark.parametrize(
    ("content", "units"),
    [
        (b"", []),
        (attribute(3, b"ab") + attribute(4, b"abcd"), [(3, b"ab"), (4, b"abcd")]),
        (attribute(3, b""), [(3, b"")]),
        (struct.pack("=HH", 3, 1) + attribute(3, b"x"), []),  # shorter than its own head
        (attribute(3, b"x") + b"\x08\0\1", [(3, b"x")]),
        (struct.pack("=HH", 40, 7) + b"cut", [(7, b"cut")]),
    ],
)
def test_units_of_a_message_are_aligned_and_a_broken_one_ends_it(content, units):
    assert list(netlink._iter_units(content, netlink._ATTRIBUTE)) == units


@pytest.mark.parametrize(("content", "value"), [(number(7), 7), (b"\0" * 8, None), (b"", None), (None, None)])
def test_a_number_has_four_bytes(content, value):
    assert netlink._parse_number(content) == value


def test_a_link_has_its_kind_its_master_and_what_is_below():
    head = struct.pack("=BxHiII", 0, 32, 6, 1, 0)
    body = head + attribute(3, b"ib0\0") + attribute(5, number(2)) + attribute(10, number(4))
    body += attribute(0x8000 | 18, attribute(1, b"bond\0"))  # marked as nested
    assert netlink._parse_link(body) == Interface(6, "ib0", 32, "bond", 2, 4)
    assert netlink._parse_link(head) == Interface(6, "", 32)


def route_body(type_: int, *attributes: bytes) -> bytes:
    return struct.pack("=BBBBBBBBI", 2, 0, 0, 0, 254, 0, 0, type_, 0) + b"".join(attributes)


HOPS = b"".join(struct.pack("=HBBi", length, 0, 0, index) + b"\0" * (length - 8) for length, index in ((16, 3), (8, 4)))


@pytest.mark.parametrize(
    ("body", "reached"),
    [
        (route_body(1, attribute(4, number(2))), {2}),
        (route_body(2, attribute(4, number(2))), set()),
        (route_body(1, attribute(1, b"\xfd" + b"\0" * 15), attribute(4, number(2))), {2}),
        (route_body(1, attribute(1, b"\xfe" + b"\0" * 15), attribute(4, number(2))), set()),
        (route_body(1, attribute(1, b"\xff" + b"\0" * 15), attribute(4, number(2))), set()),
        (route_body(1, attribute(1, b"\xfe\0\0\0"), attribute(4, number(2))), {2}),  # an address of version 4
        (route_body(1, attribute(9, HOPS)), {3, 4}),
        (route_body(1, attribute(4, number(2)), attribute(9, HOPS)), {2}),
        (route_body(1), set()),
    ],
)
def test_a_route_leads_to_others_through_its_interfaces(body, reached):
    assert netlink._list_reached(body) == reached


@pytest.mark.parametrize(
    ("address", "head", "packed"),
    [("10.0.0.1", (2, 32), b"\x0a\0\0\1"), ("fe80::1%eth0", (10, 128), b"\xfe\x80" + b"\0" * 13 + b"\1")],
)
@pytest.mark.parametrize(("type_", "local"), [(1, False), (2, True)])
def test_the_way_to_an_address_is_asked_for(monkeypatch, address, head, packed, type_, local):
    asked, answers = [], [route_body(type_), route_body(type_, attribute(4, number(5)))]
    monkeypatch.setattr(netlink, "_query_kernel", lambda *words, dump: asked.append((*words, dump)) or iter(answers))
    assert netlink.find_route(address) == Way(5, local)
    assert asked == [(26, struct.pack("=BBBBBBBBI", *head, *[0] * 7) + attribute(1, packed), False)]
    answers.clear()
    assert netlink.find_route(address) is None


def test_both_families_of_addresses_have_routes(monkeypatch):
    asked = []

    def query(kind, body, dump):
        asked.append((kind, body[0], dump))
        return iter([route_body(1, attribute(4, number(body[0])))])

    monkeypatch.setattr(netlink, "_query_kernel", query)
    assert netlink.list_routed_interfaces() == {2, 10}
    assert asked == [(26, 2, True), (26, 10, True)]


@pytest.mark.parametrize(
    ("some", "also_links", "counted"),
    [
        ((99, 2), {}, (2,)),  # one that is not there
        ((6, 2), {}, (2,)),
        ((20, 2), {20: Interface(20, "v", kind="vlan", lower=21), 21: Interface(21, "w", kind="vlan", lower=2)}, (2,)),
        ((20, 2), {20: Interface(20, "v", kind="vlan", lower=98)}, (2, 20)),
        (
            (20,),
            {
                20: Interface(20, "v", kind="vlan", lower=21),
                21: Interface(21, "w", lower=22),
                22: Interface(22, "x", lower=21),
            },
            (20,),
        ),
        ((5,), {}, (5,)),  # a part whose bond is not counted
        ((9, 2), {}, (2,)),
        ((11, 2), {}, (2, 11)),
        ((11, 12), {}, (11,)),
        ((8, 9), {}, (8, 9)),
    ],
)
def test_an_interface_counts_unless_another_one_counts_its_bytes(some, also_links, counted):
    assert route.remove_double_counted(some, LINKS | also_links) == set(counted)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (mounted("9p", "x", "trans=virtio"), True),
        (mounted("9p", "x", "trans=tcp"), False),
        (mounted("nfs", "x", "trans=virtio"), False),
        (mounted("nfs", "x", "compress=zstd"), True),
        (mounted("nfs", "x", "rw,compression=no"), False),
        (mounted("nfs", "x", "compress=none"), False),
        (mounted("nfs", "x", "compress=0"), False),
        (mounted("nfs", "x", "nocompress=1"), False),
    ],
)
def test_a_client_whose_bytes_are_not_those_on_the_wire(found, reason):
    assert bool(route._explain_virtual(found)) is reason


@pytest.mark.parametrize(
    ("found", "rdma"),
    [
        (mounted("lustre", "10.0.0.1@o2ib:/x"), True),
        (mounted("lustre", "10.0.0.1@tcp:/x"), False),
        (mounted("nfs", "x", "proto=rdma"), True),
        (mounted("nfs", "x", "transport=rdma"), True),
        (mounted("9p", "x", "trans=rdma"), True),
        (mounted("nfs", "x", "other=rdma"), False),
    ],
)
def test_a_mount_over_rdma_is_known_by_its_source_or_options(found, rdma):
    assert route._is_mounted_by_rdma(found) is rdma


@pytest.mark.parametrize(
    ("address", "loopback"),
    [("127.0.0.9", True), ("::1", True), ("::1%lo", True), ("10.0.0.1", False), ("name", False)],
)
def test_a_loopback_address(address, loopback):
    assert route._is_loopback(address) is loopback


def test_interfaces_are_described_with_their_speed_in_bits(tmp_path):
    for name, files in {
        "eth0": {"speed": "25000", "operstate": "up", "mtu": "9000", "duplex": "full"},
        "eth1": {"speed": "-1", "operstate": "down"},
        "eth2": {"speed": "0"},
        "lo": {"speed": "1"},
    }.items():
        (tmp_path / name).mkdir()
        for file, content in files.items():
            (tmp_path / name / file).write_text(content + "\n")
    (tmp_path / "bonding_masters").touch()
    (tmp_path / "eth0/device").mkdir()
    (tmp_path / "drivers").mkdir()
    (tmp_path / "drivers/mlx5_core").mkdir()
    (tmp_path / "eth0/device/driver").symlink_to(tmp_path / "drivers/mlx5_core")
    rows = [tuple(row.values()) for row in traffic.describe_interfaces(tmp_path) if row["name"].startswith("eth")]
    assert rows == [
        ("eth0", "up", 25 * 10**9, 9000, "full", "mlx5_core"),
        ("eth1", "down", None, None, None, None),
        ("eth2", None, None, None, None, None),
    ]


def test_ports_are_described_and_counts_add_up(tmp_path):
    folder = tmp_path / "mlx5_0/ports/1"
    (folder / "counters").mkdir(parents=True)
    for name, content in {"state": "4: ACTIVE", "rate": "100 Gb/sec", "link_layer": "InfiniBand"}.items():
        (folder / name).write_text(content)
    expected = {"adapter": "mlx5_0", "port": 1, "state": "4: ACTIVE", "rate": "100 Gb/sec", "link_layer": "InfiniBand"}
    assert traffic.describe_ports(tmp_path) == [expected]
    assert traffic.read_port_counts(tmp_path) == {}
    for at, name in enumerate(("port_rcv_data", "port_xmit_data", "port_rcv_packets", "port_xmit_packets"), 1):
        (folder / "counters" / name).write_text(str(at))
    counts = traffic.NetworkCounts(4, 8, 3, 4)
    assert traffic.read_port_counts(tmp_path) == {"mlx5_0/1": counts}
    (tmp_path / "dev").write_text("eth0: 1 0 0 0 0 0 0 0 50 0\nlo: 1 0 0 0 0 0 0 0 900 0\n")
    assert traffic.count_sent_bytes(tmp_path / "dev", tmp_path) == 58
    other = traffic.NetworkCounts(1, 1, 1, 1)
    assert (counts.minus(other), counts.plus(other)) == ((3, 7, 2, 3), (5, 9, 4, 5))
