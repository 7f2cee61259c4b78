"""GlusterFS: one brick on each server's disk, one volume, mounted by its FUSE client, or as NFS through a server."""

import xml.etree.ElementTree as Xml
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.units import parse_size
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import Lab
from iosonde_lab.profile import ServerProfile
from iosonde_lab.tools import LabError, need, read_answer

from . import ganesha, glusterfs_profile
from . import glusterfs_bricks as bricks
from . import glusterfs_options as volume_options
from .glusterfs_cli import VOLUME, gluster, in_its_turn
from .recipe import Layout, Recipe, ServerState

_OWN = ("/var/lib/glusterd", "/var/log/glusterfs")
_CREATE_OPTIONS = ("replica", "disperse", "redundancy")
_ON = ("on", "enable")
# Other access methods of a volume, and why a lab lacks them.
_NOT_MOUNTABLE = "cannot be mounted; on a real system measure its commands, such as curl"
_NOT_HERE = {
    "cifs": "it needs Samba and a kernel client, which labs cannot rely on; on a real system measure the mount",
    "http": f"it transfers whole objects and {_NOT_MOUNTABLE}",
    "ftp": f"it transfers whole files and {_NOT_MOUNTABLE}",
}
# At its first start glusterd configures geo-replication by a dozen Python processes: 2 to 5 s per server for a feature
# that labs do not use. A stub that only prints its name avoids this.
_QUICK_START = """\
mkdir -p /var/log/glusterfs/bricks /run/gluster
there=$(glusterfs --print-libexecdir)/gsyncd
if [ -e "$there" ]; then
    printf '#!/bin/sh\\necho gsyncd.py\\n' > /run/gsyncd
    chmod 755 /run/gsyncd
    mount --bind /run/gsyncd "$there"
fi
"""
_START = "glusterd -p /run/glusterd.pid --log-level WARNING"


class _Gluster(Recipe):
    title = "GlusterFS"
    deducts_copies = True
    commands = {"glusterd": "glusterfs-server", "gluster": "glusterfs-server", "mount.glusterfs": "glusterfs-client"}
    options = {
        "replica": "copies of each file, on different servers",
        "disperse": "fragments of an erasure code, including parity",
        "redundancy": "parity fragments among these",
        "shard": "size of the shards of a file; off: none",
        "access": "native: its FUSE client; nfs: NFS-Ganesha on the first server [native]",
        "direct_io": "on: the client's kernel caches no data, only Gluster itself does [off]",
    }
    mount_defaults = {"direct_io": "off"}
    live = {**volume_options.OPTIONS, "direct_io": options["direct_io"]}
    client_process = "glusterfs"
    client_keeps_data = True
    machine_directories = (ganesha.STATE,)

    def knows(self, option: str) -> bool:
        """Return whether it is an option of the recipe or of a volume."""
        return option in self.options or "." in option

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """Check that copies and fragments fit the servers; options of the volume are checked by Gluster."""
        super().check(n_servers, {name: value for name, value in options.items() if "." not in name})
        if len({"replica", "disperse"} & set(options)) == 2 or ("redundancy" in options and "disperse" not in options):
            raise InputError(
                "conflicting-options",
                "{spell.set}: a volume has either copies, or fragments with parity",
                "use {spell.set:replica=2}, or {spell.set:disperse=3} {spell.set:redundancy=1}",
            )
        for name in _CREATE_OPTIONS:
            if name in options and not (options[name].isascii() and options[name].isdigit()):
                raise InputError(
                    "invalid-number",
                    "{spell.set:{option}={setting}}: not an integer",
                    "use for example {spell.set:{option}=2}",
                    option=name,
                    setting=options[name],
                )
        for name in ("replica", "disperse"):
            if (count := int(options.get(name, 1))) > 1 and n_servers % count:
                raise InputError(
                    "not-a-multiple",
                    "{spell.set:{option}={count}}: cannot group {n_servers} servers by {count}",
                    "use {spell.servers:{suggested_servers}}",
                    option=name,
                    count=count,
                    n_servers=n_servers,
                    suggested_servers=count * max(1, round(n_servers / count)),
                )
        if (value := options.get("direct_io", "off")) not in ("on", "off"):
            raise InputError(
                "unknown-option-value", "{spell.set:direct_io={direct_io}}: neither on nor off", direct_io=value
            )
        _check_access(options)
        if _in_pieces(options) and parse_size(options["shard"]) < 4 * 2**20:
            raise InputError(
                "out-of-range",
                "{spell.set:shard={shard}}: shards need at least 4 MiB",
                "use for example {spell.set:shard=4MiB}",
                shard=options["shard"],
            )

    def start(self, lab: Lab) -> None:
        """Start the daemons, form one trusted pool, and create one volume with its options."""
        lab.each(lab.servers, _start_daemon)
        first, *others = lab.servers
        lab.wait("glusterd answers", lambda: _answers(first))
        for other in others:
            gluster(first, "peer", "probe", other.address)
        # Check each server: creating the volume queries all peers, which must know each other too.
        lab.wait("all servers are peers", lambda: all(_peers(server) == len(others) for server in lab.servers))
        options = lab.description.options
        # A volume of one copy is created without `replica`.
        create_options = [
            name for name in _CREATE_OPTIONS if name in options and not (name == "replica" and options[name] == "1")
        ]
        kind = [word for name in create_options for word in (name, options[name])]
        where = [f"{server.address}:{bricks.brick_of(server)}" for server in lab.servers]
        gluster(first, "volume", "create", VOLUME, *kind, *where, "force")
        volume_settings = {name: value for name, value in options.items() if "." in name}
        if _in_pieces(options):
            volume_settings |= {"features.shard": "on", "features.shard-block-size": str(parse_size(options["shard"]))}
        volume_options.put(first, volume_settings)
        gluster(first, "volume", "start", VOLUME)
        if _by_nfs(lab):
            need(ganesha.commands("gluster"))
            backend = f'Name = GLUSTER; Hostname = "{first.address}"; Volume = "{VOLUME}";'
            ganesha.serve(lab, first, "/", f"/{VOLUME}", backend)

    def mount(self, lab: Lab, client: LabHost) -> None:
        """Mount by the FUSE client, or by NFS."""
        if _by_nfs(lab):
            ganesha.mount(lab, client, lab.servers[0], f"/{VOLUME}", "vers=3", "proto=tcp", "nolock")
            return
        client.bind("/var/log/glusterfs")
        how = ["-o", "direct-io-mode=enable"] if self.get_mount_option(lab, "direct_io") == "on" else []
        client.run("mount", "-t", "glusterfs", *how, f"{lab.servers[0].address}:/{VOLUME}", str(lab.mount_point))

    def client_has_ended(self, lab: Lab, client: LabHost) -> None:
        """Wait until the client process has ended; matched by arguments, as self-heal daemons have the same name."""
        mine = f"pgrep -f '[g]lusterfs .*{lab.mount_point}$' || :"
        lab.wait(f"the client of {client.name} has ended", lambda: not client.shell(mine).strip())

    def layout(self, lab: Lab) -> Layout:
        """Return the layout: the client sends each copy or fragment itself; behind NFS a server does."""
        info = _info(lab)
        counts, options = (
            _counted(info),
            {option.findtext("name"): option.findtext("value") for option in info.iter("option")},
        )
        parts, parity = max(counts["disperse"], 1), counts["redundancy"]
        sharded = options.get("features.shard") in _ON
        spread = len(lab.servers) if sharded else parts
        return Layout(
            max(counts["replica"], 1), "servers" if _by_nfs(lab) else "client", parts - parity, parity, spread
        )

    def version(self, lab: Lab) -> str:
        """Return the version of the server."""
        return lab.servers[0].ask(lambda text: text.splitlines()[0], "gluster", "--version")

    def facts(self, lab: Lab) -> dict[str, str]:
        """Return the volume's type, its changed options, and the translators of the first client."""
        info = _info(lab)
        facts = {option.findtext("name") or "": option.findtext("value") or "" for option in info.iter("option")}
        if _by_nfs(lab):
            facts["access"] = f"NFS-Ganesha of {lab.servers[0].name}"
        with suppress(LabError):  # unmounted, or no answer: reported by health
            facts["translators of the client"] = ", ".join(volume_options.parts(lab, lab.clients[0]))
        return {
            "type": info.findtext(".//typeStr") or "",
            "bricks": info.findtext(".//brickCount") or "",
            "transport": {"0": "tcp", "1": "rdma"}.get(info.findtext(".//transport") or "", "tcp,rdma"),
        } | facts

    def read(self, lab: Lab, option: str) -> str:
        """Return the value in force, of the volume or of its creation."""
        if option in self.mount_defaults:
            return self.get_mount_option(lab, option)
        if option in _CREATE_OPTIONS:
            return str(_counted(_info(lab))[option])
        if option == "access":
            return _access(lab.description.options)
        if option == "shard" and volume_options.read(lab.servers[0], "features.shard") not in _ON:
            return "off"
        return volume_options.read(lab.servers[0], "features.shard-block-size" if option == "shard" else option)

    def change(self, lab: Lab, option: str, value: str) -> None:
        """Change an option of the volume, or of mounts."""
        if option in self.mount_defaults:
            return super().change(lab, option, value)
        if option in self.options:
            raise InputError(
                "immutable-option",
                "{option} is fixed when a volume is created",
                "bring up another lab: iosonde lab up glusterfs --set {option}={new_setting}",
                option=option,
                new_setting=value,
            )
        volume_options.change(lab, {option: value})
        return None

    def read_all(self, lab: Lab, options: Collection[str]) -> dict[str, str]:
        """Return the values of several options; those of the volume by one query."""
        ours = [option for option in options if self._is_volume_option(option)]
        values = volume_options.read_all(lab.servers[0], ours) if ours else {}
        return {option: values[option] if option in values else self.read(lab, option) for option in options}

    def change_all(self, lab: Lab, options: Mapping[str, str]) -> None:
        """Change several options; those of the volume at once, so that clients reload once."""
        super().change_all(
            lab, {option: value for option, value in options.items() if not self._is_volume_option(option)}
        )
        if ours := {option: value for option, value in options.items() if self._is_volume_option(option)}:
            volume_options.change(lab, ours)

    def _is_volume_option(self, option: str) -> bool:
        return option not in self.mount_defaults and option not in self.options

    def health(self, lab: Lab) -> list[str]:
        """Return complaints: daemons that are down, clients without a brick, copies that differ."""
        if not _by_nfs(lab):
            return bricks.health(lab, _heals(lab))
        gate = lab.servers[0]
        silent = [] if ganesha.answers(lab.clients[0], gate) else [ganesha.no_answer(gate)]
        return [*bricks.health(lab, _heals(lab), has_native_clients=False), *silent]

    def states(self, lab: Lab) -> dict[str, ServerState]:
        """Return the state of the daemons on each server."""
        server_states = lab.each(lab.servers, lambda server: bricks.state(server, _heals(lab)))
        return dict(zip((server.name for server in lab.servers), server_states, strict=True))

    def placement(self, lab: Lab, file: Path) -> dict[str, int]:
        """Return the placement of a file, from the bricks' own files."""
        return bricks.placement(lab, file)

    def placements(self, lab: Lab, directory: Path) -> dict[str, dict[str, int]]:
        """Return the placement of files below a directory, by one query per brick."""
        return bricks.placements(lab, directory)

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """Return the PIDs of the brick."""
        return server.processes(bricks.BRICK)

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Restart the daemon if it is down, and the brick."""
        if not server.processes(bricks.DAEMON):
            server.run("sh", "-c", _START)
            lab.wait(f"glusterd of {server.name} answers", lambda: _answers(server))
        gluster(server, "volume", "start", VOLUME, "force")
        if _by_nfs(lab) and server == lab.servers[0] and not server.processes(ganesha.DAEMON):
            ganesha.start(lab, server)

    def heal(self, lab: Lab) -> None:
        """Start healing now rather than at the next scan of the self-heal daemons."""
        with suppress(LabError):  # it refuses while a brick is down: the next request will succeed
            gluster(lab.servers[0], "volume", "heal", VOLUME, limit_s=10)

    def count_operations(self, lab: Lab, on: bool) -> None:
        """Run `volume profile start` with all counters at zero, or `stop`."""
        first = lab.servers[0]
        if not on:
            gluster(first, "volume", "profile", VOLUME, "stop")
            return
        with suppress(LabError):  # it refuses if already started
            gluster(first, "volume", "profile", VOLUME, "start")
        gluster(first, "volume", "profile", VOLUME, "info", "clear")

    def profile(self, lab: Lab) -> tuple[ServerProfile, ...]:
        """Return `volume profile info` since it was started."""
        words = ("gluster", "--mode=script", "volume", "profile", VOLUME, "info", "cumulative")
        try:
            output = in_its_turn(lambda: lab.servers[0].run(*words))
        except LabError as error:
            if "is not started" not in str(error.values.get("reason")):  # the tool's own words
                raise
            raise InputError(
                "profiling-disabled", "the servers do not count their operations", "enable it: iosonde lab profile on"
            ) from error
        return read_answer(
            "gluster volume profile", output, lambda text: glusterfs_profile.profiles_from_text(text, lab.servers)
        )


def _start_daemon(server: LabHost) -> None:
    for there in _OWN:
        server.bind(there)
    server.shell(_QUICK_START + _START)


def _access(options: Mapping[str, str]) -> str:
    return options.get("access", "native")


def _by_nfs(lab: Lab) -> bool:
    return _access(lab.description.options) == "nfs"


def _check_access(options: Mapping[str, str]) -> None:
    """Check the access method of the volume. Raises InputError, which explains why others are unavailable."""
    access = _access(options)
    if access in _NOT_HERE:
        raise InputError(
            "unsupported-option-value",
            "{spell.set:access={access}}: " + _NOT_HERE[access],
            "use native or nfs",
            access=access,
        )
    if access not in ("native", "nfs"):
        raise InputError(
            "unknown-option-value",
            "{spell.set:access={access}}: unknown access method",
            "use native or nfs",
            access=access,
        )
    if access == "nfs" and options.get("direct_io", "off") == "on":
        raise InputError(
            "conflicting-options",
            "{spell.set:direct_io=on} is an option of the FUSE client, which access=nfs does not use",
            "omit one of them",
        )


def _in_pieces(options: Mapping[str, str]) -> bool:
    return options.get("shard", "off") != "off"


def _heals(lab: Lab) -> bool:
    options = lab.description.options
    return any(int(options.get(name, 1)) > 1 for name in ("replica", "disperse"))


def _info(lab: Lab) -> Xml.Element:
    return gluster(lab.servers[0], "volume", "info", VOLUME)


def _counted(info: Xml.Element) -> dict[str, int]:
    """Return the parameters of the volume's creation, including Gluster's defaults."""
    texts = {name: info.findtext(f".//{name}Count") or "0" for name in _CREATE_OPTIONS}
    return {name: read_answer(f"gluster volume info: {name}", text, int) for name, text in texts.items()}


def _answers(server: LabHost) -> bool:
    with suppress(LabError):
        gluster(server, "peer", "status", limit_s=10)
        return True
    return False


def _peers(server: LabHost) -> int:
    status = gluster(server, "peer", "status")
    return sum(peer.findtext("connected") == "1" and peer.findtext("state") == "3" for peer in status.iter("peer"))


RECIPE = _Gluster()
