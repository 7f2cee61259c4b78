"""Classify file systems by their type and source in the mount table (proc_pid_mountinfo(5))."""

import re
from collections.abc import Mapping
from typing import Any

# Network file systems by the path of their data. Kernel clients, and shares of a virtual machine's host: one server has
# each file, or several have its parts.
_SERVED_TYPES = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "vboxsf", "prl_fs", "afs", "auristorfs", "coda", "ncpfs"}
)
_STRIPED_TYPES = frozenset(
    {"lustre", "ceph", "glusterfs", "beegfs", "beegfs_nodev", "fhgfs", "orangefs", "pvfs2", "panfs", "wekafs"}
)
# The same for FUSE daemons, regardless of their source.
_SERVED_FUSE = frozenset(
    {"cvmfs", "cvmfs2", "xrootdfs", "dcap", "sshfs", "nfs", "fuse-nfs", "afsd.fuse", "curlftpfs", "davfs"}
)
_STRIPED_FUSE = frozenset(
    {
        "glusterfs",
        "ceph-fuse",
        "mfs",
        "mfsmount",
        "moosefs",
        "lizardfs",
        "saunafs",
        "sfsmount",
        "seaweedfs",
        "weed",
        "curvefs",
        "orangefs",
        "pvfs2fuse",
        "dfuse",
        "daos",
        "eosxd",
        "hadoop",
        "hdfs",
        "hdfs_fuse",
        "fuse_dfs",
        "quobyte",
    }
)
# All whose data is behind a server, with those whose path is another or unknown.
NETWORK_TYPES = _SERVED_TYPES | _STRIPED_TYPES | {"gpfs", "dvs"}
_NETWORK_FUSE = (
    _SERVED_FUSE
    | _STRIPED_FUSE
    | {
        "juicefs",
        "ipfs",
        "rclone",
        "s3fs",
        "goofys",
        "geesefs",
        "mount-s3",
        "gcsfuse",
        "blobfuse",
        "blobfuse2",
        "gvfsd-fuse",
        "alluxio-fuse",
    }
)

# FUSE daemons that show local data: disks, other directories, archives. All others count as clients of a server: there
# are more of these than can be listed, and a false local disk misleads more than the opposite. So does gvfsd-fuse,
# below which shares of servers appear.
_LOCAL_FUSE = frozenset(
    {
        "ntfs",
        "ntfs-3g",
        "lowntfs-3g",
        "exfat",
        "mount.exfat",
        "mount.exfat-fuse",
        "ext2",
        "ext3",
        "ext4",
        "fuse2fs",
        "fuseext2",
        "apfs-fuse",
        "btrfs",
        "zfs-fuse",
        "erofs",
        "erofsfuse",
        "dislocker",
        "veracrypt",
        "truecrypt",
        "bindfs",
        "mergerfs",
        "mhddfs",
        "unionfs",
        "unionfs-fuse",
        "overlayfs",
        "fuse-overlayfs",
        "posixovl",
        "loggedfs",
        "gocryptfs",
        "encfs",
        "cryfs",
        "securefs",
        "ecryptfs-fuse",
        "cppcryptfs",
        "squashfuse",
        "squashfuse_ll",
        "snapfuse",
        "archivemount",
        "fuse-archive",
        "fuse-zip",
        "mount-zip",
        "ratarmount",
        "rar2fs",
        "avfs",
        "avfsd",
        "fuseiso",
        "mountavfs",
        "portal",
        "lxcfs",
        "vmware-vmblk",
        "simple-mtpfs",
        "jmtpfs",
        "ifuse",
        "gphotofs",
        "cdemu",
        "tmsu",
        "tagsistant",
    }
)

# Types whose files are written once from beginning to end: writes inside a file are refused or dropped.
WRITTEN_ONCE = frozenset({"fuse.hdfs"})

# File systems without a disk.
MEMORY_TYPES = frozenset({"tmpfs", "ramfs", "hugetlbfs", "devtmpfs"})

_GLUSTER = ("glusterfs", "fuse.glusterfs")

# One server holds a whole file. Other types stripe it, or may do so; they are not classified.
_SINGLE_SERVER_TYPES = frozenset({"nfs", "cifs", "smb3", "smbfs", "afs", "fuse.sshfs", "fuse.nfs"})

LOCAL, CLIENT_SERVER, PARALLEL = "local", "client/server", "parallel"
SHARED_DISK, VIRTUAL_SHARED_DISK = "shared disk", "virtual shared disk"
STRUCTURES = (LOCAL, CLIENT_SERVER, PARALLEL, SHARED_DISK, VIRTUAL_SHARED_DISK)

# The path of data to a node, for types (or daemons) with only one.
_STRUCTURES = {
    CLIENT_SERVER: _SERVED_TYPES | _SERVED_FUSE,
    PARALLEL: _STRIPED_TYPES | _STRIPED_FUSE,
    SHARED_DISK: frozenset({"gpfs", "gfs", "gfs2", "ocfs2", "cxfs", "stornext"}),
}
# Block devices of another host: they serve the shared disk to the nodes.
_SERVED_DISK = re.compile(r"/dev/(rbd|nbd|drbd|dst)\d")

# Sources that name a bucket or a configured name in place of a server.
_BUCKETS = frozenset(
    {"s3", "s3a", "s3n", "gs", "gcs", "az", "abfs", "abfss", "wasb", "wasbs", "swift", "b2", "oss", "cos", "file"}
)
_USER_CONFIGURED_TYPES = frozenset({"fuse.rclone", "fuse.juicefs"})

_URL = re.compile(r"^(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<authority>[^/?#]+)", re.IGNORECASE)
_SHARE = re.compile(r"^//(?P<authority>[^/]+)")
_EXPORT = re.compile(r"^(?P<hosts>(?:\[[^\]/]+\]|[^/\[\]])+?):(?P<path>/.*|[^:/]*)$")
# ``mfs#master:9421`` of MooseFS and its descendants; ``sshfs#…`` and ``curlftpfs#…`` of older libraries.
_PREFIXED = re.compile(r"^(?P<program>[\w.+-]+)#(?P<rest>.+)$")
_MASTERS = ("mfs", "lizardfs", "saunafs", "sfs")
_PORT = re.compile(r"(?<!^)(?<!:):\d+$")


def compute_sent_per_written_byte(name: str, options: Mapping[str, str]) -> float:
    """Return the bytes that a client sends per byte written, for a file system created with these options. On
    GlusterFS, native access sends every copy, or all parts with their parity. It is 1 if the servers replicate, or if
    unknown."""
    count = {option: int(value) for option, value in options.items() if value.isascii() and value.isdigit()}
    if name != "glusterfs" or options.get("access", "native") != "native":
        return 1.0
    parts, parity = count.get("disperse", 0), count.get("redundancy", 0)
    return parts / (parts - parity) if parts > parity > 0 else float(max(1, count.get("replica", 1)))


def is_fuse(type: str) -> bool:
    """Return whether a user-space daemon serves the file system: ``fuse``, ``fuseblk``, ``fuse.NAME``."""
    return type in ("fuse", "fuseblk") or type.startswith("fuse.")


def is_network(type: str, source: str = "") -> bool:
    """Return whether the data is behind a server: by type, else by a source that names one. A FUSE file system counts
    as remote unless it is known to be local, or its source is a disk."""
    if type in NETWORK_TYPES:
        return True
    if not is_fuse(type):
        return type not in MEMORY_TYPES and _has_server_name(source)
    if type == "fuseblk" or (source.startswith("/dev/") and source != "/dev/fuse"):
        return False
    return _find_daemon(type, source) not in _LOCAL_FUSE


def is_surely_network(type: str, source: str = "") -> bool:
    """Return whether the type is known to be remote, without the assumptions of ``is_network``."""
    return type in NETWORK_TYPES or (is_fuse(type) and _find_daemon(type, source) in _NETWORK_FUSE)


def _find_daemon(type: str, source: str) -> str:
    """Return the daemon of a FUSE mount, by its type or the source."""
    return type.partition(".")[2] or source.partition("#")[0].rpartition("/")[2]


def parse_servers(type: str, source: str, options: str = "") -> tuple[str, ...]:
    """Return the servers named in the source of a network file system: hosts without users and ports. Kernel CephFS may
    name its monitors in the ``options`` (mon_addr). Empty for local file systems and unnamed servers."""
    if not is_network(type, source) or type in _USER_CONFIGURED_TYPES:
        return ()
    addresses = dict(word.partition("=")[::2] for word in options.split(",")).get("mon_addr", "")
    if type == "ceph" and addresses:
        return tuple(_host_from_authority(address) for address in addresses.split("/"))
    return _servers_from_source(type, source)


def has_pages_elsewhere(type: str, source: str = "") -> bool:
    """Return whether data may be cached where the page cache of its files (mincore) does not show it. Examples are a
    FUSE daemon, even a local one on another file system, and a client's own memory or disk."""
    return is_fuse(type) or is_network(type, source)


def classify_structure(type: str, source: str = "") -> str:
    """Return how data gets to a node, one of :data:`STRUCTURES`; '' if unknown.

    ``local``: it is on the node. ``client/server``: one server has each file and passes it on. ``parallel``: several
    servers have parts of the files of one name space. ``shared disk``: all nodes write blocks to the same disks;
    ``virtual``: through servers of these disks.
    """
    program = _find_daemon(type, source) if is_fuse(type) else type
    kind = next((name for name, programs in _STRUCTURES.items() if program in programs), "")
    if kind == SHARED_DISK and _SERVED_DISK.match(source):
        return VIRTUAL_SHARED_DISK
    return kind or ("" if is_network(type, source) else LOCAL)


def is_on_own_disk(type: str | None, source: str = "") -> bool:
    """Return whether a node measured a disk of its own on such a file system; True if the type is unknown."""
    return type is None or not (type in MEMORY_TYPES or is_network(type, source))


def has_unsplit_files(type: str | None, layout: Mapping[str, Any]) -> bool:
    """Return whether each file, or each copy of it, is on one server. ``layout`` is as reported by the file system."""
    if type in _GLUSTER:
        sharded = str((layout.get("options") or {}).get("features.shard", "off")) in ("on", "enable", "true", "1")
        spread = any(word in str(layout.get("type") or "").lower() for word in ("disperse", "stripe"))
        return not (sharded or spread)
    if type == "lustre":
        return bool((layout.get("striping") or {}).get("stripe_count") == 1)
    return type in _SINGLE_SERVER_TYPES


def get_file_placement(type: str | None) -> str:
    """Return how servers are chosen for whole files, as a placement of the bound; '' if unknown.

    ``groups``: a hash of the name chooses one of the fixed sets of replicas (a single server if there is one copy).
    ``round_robin``: servers take turns while there is room (Lustre's object allocator).
    """
    return "groups" if type in _GLUSTER else "round_robin" if type == "lustre" else ""


def _servers_from_source(type: str, source: str) -> tuple[str, ...]:
    if match := _URL.match(source):
        return () if match["scheme"].lower() in _BUCKETS else (_host_from_authority(match["authority"]),)
    if match := _SHARE.match(source):
        return (_host_from_authority(match["authority"]),)
    if match := _PREFIXED.match(source):
        rest = match["rest"]
        return (
            (_host_from_authority(rest.partition("/")[0]),)
            if match["program"] in _MASTERS
            else _servers_from_source(type, rest)
        )
    match = _EXPORT.match(source)
    if not match or not (match["path"].startswith("/") or type in ("fuse.sshfs", "fuse.glusterfs", "glusterfs")):
        return ()
    if type == "lustre":  # 10.0.0.1@tcp,10.1.0.1@o2ib:10.0.0.2@tcp:/scratch: the network is part of the name
        return tuple(re.split("[,:]", match["hosts"]))
    return tuple(_host_from_authority(host) for host in match["hosts"].split(","))


def _has_server_name(source: str) -> bool:
    """Return whether a source of an unknown type names a server; accept only forms that no local source has."""
    return bool(_URL.match(source) or _SHARE.match(source) or re.match(r"^(?:\[[^\]/]+\]|[\w.,@-]+):/", source))


def _host_from_authority(authority: str) -> str:
    """``me@[fe80::1]:2049`` → ``fe80::1``."""
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host if host.count(":") > 1 else _PORT.sub("", host)
