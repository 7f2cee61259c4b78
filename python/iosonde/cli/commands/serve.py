"""``iosonde serve``: stores in the browser."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

import click

from iosonde import serve
from iosonde.cli.output import show_json, talk
from iosonde.core.errors import InputError

_VARIABLE = "IOSONDE_SERVE_TOKEN"


@click.command(epilog="Example: iosonde serve results /projects/team/results")
@click.argument("stores", nargs=-1, required=True, metavar="STORE…")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS",
              help="Where to listen; anything but this machine itself needs a token.")  # fmt: skip
@click.option("--port", type=click.IntRange(0), default=8642, show_default=True, metavar="N",
              help="0 is any that is free.")  # fmt: skip
@click.option("--token", is_flag=True,
              help=f"Ask for a token on this machine, too. It is random, or that of {_VARIABLE}.")  # fmt: skip
@click.option("--index", metavar="URL", default="", envvar="IOSONDE_INDEX",
              help="The index of a team, postgresql://USER@HOST/DATABASE, or that in IOSONDE_INDEX.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The address and the port as JSON, once.")
def command(stores: tuple[str, ...], host: str, port: int, token: bool, index: str, as_json: bool) -> None:
    """A dashboard of STORE… in the browser: experiments, runs, history, comparisons, what is being measured.

    It only reads. It listens on this machine alone unless --host says otherwise, and then asks for a token, which is
    part of the address that it prints. Ctrl-C ends it.
    """
    secret = _token(token or not serve.guard.is_loopback(host))
    shelf = serve.shelf.shelf_of(stores, serve.shelf.Index.at(index))
    server = serve.server.bound(host, port)
    port = server.server_address[1]
    name = f"[{host}]" if ":" in host else host
    url = f"http://{name}:{port}/"
    opened = url + (f"?token={secret}" if secret else "")
    with suppress(KeyboardInterrupt), serve.server.serving(server, shelf, serve.guard.Doorkeeper(host, port, secret)):
        if as_json:
            show_json({"schema": 1, "url": opened, "port": port})
        else:
            talk(f"{', '.join(stores)}: {opened}")
            talk("Ctrl-C ends it")
        until_interrupted()


def _token(is_required: bool) -> str | None:
    """A new one, or the one that the environment gives. Raises InputError for one that can be guessed."""
    preset_token = os.environ.get(_VARIABLE, "")
    if preset_token and len(preset_token) < serve.guard.TOKEN_LEAST:
        raise InputError("token-too-short", "the token in {variable} is short",
                         "give {minimum} characters or more, or none: one is made", variable=_VARIABLE,
                         minimum=serve.guard.TOKEN_LEAST)  # fmt: skip
    if preset_token and not (preset_token.isascii() and preset_token.replace("-", "").replace("_", "").isalnum()):
        raise InputError("invalid-token", "the token in {variable} cannot be part of an address", "use A-Z a-z 0-9 - _",
                         variable=_VARIABLE)  # fmt: skip
    return (preset_token or serve.guard.new_token()) if is_required or preset_token else None


def until_interrupted() -> None:
    """Wait for Ctrl-C or SIGTERM."""
    threading.Event().wait()
