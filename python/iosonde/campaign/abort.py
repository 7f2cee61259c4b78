"""A command that ends a campaign (``--abort-if``): on servers that others use, when these suffer."""

from __future__ import annotations

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.measure.rank import command
from iosonde.ranks import temporary

# A slower check means that the servers suffer.
CHECK_S = 60.0
# Exit codes of /bin/sh if it could not run the command.
_NOT_RUN = (126, 127)
_OUTPUT_CHARACTERS = 200


def why(text: str) -> Message | None:
    """Return why the campaign ends: the user's command exits with 0 or does not respond; None to continue.

    Raises InputError if the shell cannot run it.
    """
    if not text:
        return None
    with temporary.directory("abort") as folder:
        output = folder / "output"
        ended = command.run(command.ShellCommand(text, timeout_s=CHECK_S, output_bytes=2**20), output)
        lines = output.read_text(errors="replace").strip().splitlines() if output.exists() else []
    reason_text = lines[-1][:_OUTPUT_CHARACTERS] if lines else ""
    if ended.exit_code in _NOT_RUN or ended.fault:
        raise InputError(
            "command-not-runnable",
            "{spell.abort_if:'{command}'} cannot be run: {reason}",
            "try it by hand",
            command=text,
            reason=reason_text or ended.fault,
        )
    if ended.ended_by:
        return Message(
            "abort-no-response",
            "{spell.abort_if:'{command}'} did not finish within {limit_s:.0f} s",
            command=text,
            limit_s=CHECK_S,
        )
    if ended.exit_code != 0:
        return None
    return Message(
        "abort-requested",
        "{spell.abort_if:'{command}'} requested the end ({output})"
        if reason_text
        else "{spell.abort_if:'{command}'} requested the end",
        command=text,
        output=reason_text,
    )
