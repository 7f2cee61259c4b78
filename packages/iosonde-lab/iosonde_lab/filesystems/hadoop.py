"""Hadoop on a host: location of its jars, its configuration, its daemons (one JVM each), queries of its name node."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote
from xml.sax.saxutils import escape

from iosonde_lab.hosts import LabHost

NAME_NODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
DATA_NODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"
GATEWAY = "org.apache.hadoop.hdfs.nfs.nfs3.Nfs3"
RPC_PORT, HTTP_PORT, DATA_PORT = 8020, 9870, 9866
ANSWER_S = 5.0
_T = TypeVar("_T")
_HEAP_MIB = 256
# JVMs reserve memory per core, and a lab runs many: the serial collector starts fastest and needs least.
# WebHDFS's JSON library defines classes by reflection, which Java 16 and later must be allowed to do.
_JAVA = (
    "java",
    f"-Xmx{_HEAP_MIB}m",
    "-XX:+UseSerialGC",
    "-Xshare:auto",
    "-Djava.net.preferIPv4Stack=true",
    "-XX:+IgnoreUnrecognizedVMOptions",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
)
# The jars lack the directories of their web pages; empty ones suffice for our queries.
_WEB = ("hdfs", "datanode", "nfs3", "static")
_LOG = """\
log4j.rootLogger=WARN,A
log4j.appender.A=org.apache.log4j.ConsoleAppender
log4j.appender.A.layout=org.apache.log4j.PatternLayout
log4j.appender.A.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
"""


def own_jars() -> Path:
    """Return where ``make lab-hdfs`` installs the jars: next to this Python."""
    return Path(sys.prefix) / "share" / "iosonde" / "hadoop"


def jar_directories() -> list[Path]:
    """Return the jar directories of HADOOP_HOME, else our own."""
    if home := os.environ.get("HADOOP_HOME"):
        share = Path(home) / "share" / "hadoop"
        return [share / part for part in ("common", "common/lib", "hdfs", "hdfs/lib")]
    return [own_jars()]


def gateway_jar() -> Path:
    """Return the jar that exists if all do; a pattern if it is missing."""
    pattern = "hadoop-hdfs-nfs-[0-9]*.jar"
    jars = [jar for directory in jar_directories() for jar in sorted(directory.glob(pattern))]
    return jars[0] if jars else jar_directories()[-1] / "hadoop-hdfs-nfs-VERSION.jar"


def version() -> str:
    """Return the version of the jars: ``3.4.1``."""
    return gateway_jar().stem.rpartition("nfs-")[2]


def configure(host: LabHost, name_node: LabHost, settings: Mapping[str, object]) -> None:
    """Write the configuration of the daemons on this host."""
    directory = _configuration(host)
    for part in _WEB:
        (directory / "webapps" / part / "WEB-INF").mkdir(parents=True, exist_ok=True)
        (directory / "webapps" / part / "WEB-INF" / "web.xml").write_text("<web-app/>\n")
    (directory / "log4j.properties").write_text(_LOG)
    common = {
        "fs.defaultFS": f"hdfs://{name_node.name}.lab:{RPC_PORT}",
        "hadoop.tmp.dir": host.directory / "hadoop" / "tmp",
        # Trust the user names that a gateway passes on.
        "hadoop.proxyuser.root.groups": "*",
        "hadoop.proxyuser.root.hosts": "*",
        "ipc.client.connect.retry.interval": 200,
        "ipc.client.connect.max.retries": 300,
    }
    (directory / "core-site.xml").write_text(_xml(common))
    (directory / "hdfs-site.xml").write_text(_xml(settings))


def java(host: LabHost, of: str, *words: str) -> list[str]:
    """Return the command of a daemon."""
    path = ":".join([str(_configuration(host)), *(f"{jar_directory}/*" for jar_directory in jar_directories())])
    return [*_JAVA, "-cp", path, of, *words]


def start(host: LabHost, of: str) -> None:
    """Start a daemon."""
    host.start(*java(host, of), log=of.rpartition(".")[2].lower())


def pids(host: LabHost, of: str) -> list[int]:
    """Return the PIDs of a daemon, as its host numbers them; found by class, as all are called java."""
    return host.matching("-f", "--", f" {of}$")


def bean(name_node: LabHost, name: str, read: Callable[[Mapping[str, Any]], _T]) -> _T:
    """Return what ``read`` extracts from a bean of the name node. Raises LabError without an answer."""
    where = f"/jmx?qry=Hadoop:service=NameNode,name={name}"
    return _query_name_node(name_node, where, lambda answer: read(dict(answer["beans"][0]) if answer["beans"] else {}))


def block_locations(name_node: LabHost, path: str, read: Callable[[Mapping[str, Any]], _T]) -> _T:
    """Return what ``read`` extracts from the block locations of a file, by WebHDFS. Raises LabError."""
    return _query_name_node(name_node, f"/webhdfs/v1{quote(path)}?op=GET_BLOCK_LOCATIONS&user.name=root", read)


def _query_name_node(name_node: LabHost, what: str, read: Callable[[Mapping[str, Any]], _T]) -> _T:
    words = ("curl", "--silent", "--show-error", "--fail", "--noproxy", "*")
    url = f"http://{name_node.address}:{HTTP_PORT}{what}"
    return name_node.ask(lambda text: read(json.loads(text)), *words, url, limit_s=ANSWER_S)


def _configuration(host: LabHost) -> Path:
    return host.directory / "hadoop" / "conf"


def _xml(settings: Mapping[str, object]) -> str:
    lines = [
        f"<property><name>{name}</name><value>{escape(str(value))}</value></property>"
        for name, value in settings.items()
    ]
    return "\n".join(["<configuration>", *lines, "</configuration>", ""])
