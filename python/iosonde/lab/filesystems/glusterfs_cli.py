"""Gluster's own command on a server, with its answer as XML."""

from __future__ import annotations

import shlex
import time
import xml.etree.ElementTree as Xml
from collections.abc import Callable, Sequence
from typing import TypeVar

from iosonde.lab.hosts import LabHost
from iosonde.lab.tools import LabError

VOLUME = "lab"
_OTHERS_TURN = "another transaction is in progress"
_LOOK_S = 0.2

T = TypeVar("T")


class RefusedError(LabError):
    """It understood, and said no."""


def gluster(server: LabHost, *words: str, limit_s: float = 60.0) -> Xml.Element:
    """Its answer. Raises RefusedError where it says no, LabError where it does not answer."""
    return in_its_turn(lambda: _once(server, words, limit_s), limit_s)


def in_its_turn(ask: Callable[[], T], limit_s: float = 60.0) -> T:
    """What ``ask`` gives. A volume does one command at a time, whoever gives it: until ``limit_s`` have passed it is
    asked again."""
    until = time.monotonic() + limit_s
    while True:
        try:
            return ask()
        except LabError as error:
            is_busy = _OTHERS_TURN in str(error.values.get("reason")).lower()  # the tool's own words
            if not is_busy or time.monotonic() > until:
                raise
            time.sleep(_LOOK_S)


def _once(server: LabHost, words: Sequence[str], limit_s: float) -> Xml.Element:
    # It ends with exit code 0 or another one where it refuses; the answer says so in both cases.
    output = server.shell(f"gluster --mode=script --xml {shlex.join(words)} || :", limit_s=limit_s)
    try:
        answer = Xml.fromstring(output)
    except Xml.ParseError as error:
        raise LabError(
            "unparsable-output",
            "{host}: gluster {command}: {output}",
            host=server.name,
            command=" ".join(words),
            output=output.strip() or "no answer",
        ) from error
    if answer.findtext("opRet") != "0":
        reason = answer.findtext("opErrstr") or "it does not say why"
        raise RefusedError(
            "lab-command-failed",
            "{reason}",
            reason="; ".join(line.strip() for line in reason.splitlines() if line.strip()),
        )
    return answer
