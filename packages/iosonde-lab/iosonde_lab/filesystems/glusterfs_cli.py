"""Gluster's own command on a server, with its answer as XML."""

import shlex
import time
import xml.etree.ElementTree as Xml
from collections.abc import Callable, Sequence
from typing import TypeVar

from iosonde_lab.hosts import LabHost
from iosonde_lab.tools import LabError

VOLUME = "lab"
_OTHERS_TURN = "another transaction is in progress"
_LOOK_S = 0.2

T = TypeVar("T")


class RefusedError(LabError):
    """Raised if Gluster refuses a command."""


def gluster(server: LabHost, *words: str, limit_s: float = 60.0) -> Xml.Element:
    """Return the answer of a command. Raises RefusedError if it is refused, LabError without an answer."""
    return in_its_turn(lambda: _once(server, words, limit_s), limit_s)


def in_its_turn(ask: Callable[[], T], limit_s: float = 60.0) -> T:
    """Return the result of ``ask``, retried for up to ``limit_s`` while another command runs.
    A volume runs one command at a time, whoever sends it.
    """
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
    # The exit code of a refusal varies; the answer is unambiguous.
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
        reason = answer.findtext("opErrstr") or "no reason given"
        raise RefusedError(
            "lab-command-failed",
            "{reason}",
            reason="; ".join(line.strip() for line in reason.splitlines() if line.strip()),
        )
    return answer
