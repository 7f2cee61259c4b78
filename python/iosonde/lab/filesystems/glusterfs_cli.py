"""Gluster's own command on a server, with its answer as XML."""

from __future__ import annotations

import shlex
import xml.etree.ElementTree as Xml

from iosonde.lab.hosts import LabHost
from iosonde.lab.tools import LabError

VOLUME = "lab"


class RefusedError(LabError):
    """It understood, and said no."""


def gluster(server: LabHost, *words: str, limit_s: float = 60.0) -> Xml.Element:
    """Its answer. Raises RefusedError where it says no, LabError where it does not answer."""
    # It ends with exit code 0 or another one where it refuses; the answer says so in both cases.
    told = server.shell(f"gluster --mode=script --xml {shlex.join(words)} || :", limit_s=limit_s)
    try:
        answer = Xml.fromstring(told)
    except Xml.ParseError as error:
        raise LabError(f"{server.name}: gluster {' '.join(words)}: {told.strip() or 'no answer'}") from error
    if answer.findtext("opRet") != "0":
        said = answer.findtext("opErrstr") or "it does not say why"
        raise RefusedError("; ".join(line.strip() for line in said.splitlines() if line.strip()))
    return answer
