"""``iosonde serve``: stores in the browser."""

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from queue import SimpleQueue
from typing import Any

from iosonde.commands.command import command
from iosonde.commands.result import Result
from iosonde.core.errors import InputError
from iosonde.core.front_end import get_front_end
from iosonde.core.option_kinds import Integer, Paths
from iosonde.core.options import Flag, NameList, Text

TOKEN_VARIABLE = "IOSONDE_SERVE_TOKEN"


@dataclass(frozen=True)
class ServeAddress:
    """The address of a dashboard of stores."""

    stores: tuple[str, ...]
    host: str
    port: int
    token: str | None

    @property
    def url(self) -> str:
        """What a browser opens."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return {"schema": 1, "url": self.url, "port": self.port}

    def records(self) -> list[dict[str, Any]]:
        """Return the one row."""
        return [{"url": self.url, "port": self.port}]


def announce_address(address: ServeAddress) -> Iterator[str]:
    """Say the address beside stdout, where its JSON alone goes: of the text no line is left."""
    get_front_end().note(f"{', '.join(address.stores)}: {address.url}")
    get_front_end().note("Ctrl-C ends it")
    yield from ()


def choose_token(is_required: bool) -> str | None:
    """Return a new token, or the one that the environment gives. Raises InputError for one that can be guessed."""
    from iosonde.serve.guard import TOKEN_LEAST, create_token

    preset_token = os.environ.get(TOKEN_VARIABLE, "")
    if preset_token and len(preset_token) < TOKEN_LEAST:
        raise InputError(
            "token-too-short",
            "the token in {variable} is short",
            "give {minimum} characters or more, or none: one is made",
            variable=TOKEN_VARIABLE,
            minimum=TOKEN_LEAST,
        )
    if preset_token and not (preset_token.isascii() and preset_token.replace("-", "").replace("_", "").isalnum()):
        raise InputError(
            "invalid-token",
            "the token in {variable} cannot be part of an address",
            "use A-Z a-z 0-9 - _",
            variable=TOKEN_VARIABLE,
        )
    return (preset_token or create_token()) if is_required or preset_token else None


def catch_interrupt() -> Callable[[], object]:
    """Let Ctrl-C and SIGTERM end the dashboard from now on, and not the command: return what waits for one of them."""
    interrupts: SimpleQueue[int] = SimpleQueue()  # a handler may put into it, whatever it interrupts
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: interrupts.put(number))
    return interrupts.get


@dataclass
class ServeOptions:
    """Options of ``iosonde serve``."""

    stores: Paths[NameList] = Paths(
        "STORE…", "The stores to show.", is_argument=True, is_required=True, is_repeatable=True
    )
    _: KW_ONLY
    host: Text[str] = Text("ADDRESS", "Where to listen; anything but this machine itself needs a token.", "127.0.0.1")
    port: Integer[int] = Integer("N", "0 is any that is free.", 8642, least=0)
    token: Flag[bool] = Flag(f"Ask for a token on this machine, too. It is random, or that of {TOKEN_VARIABLE}.")
    index: Text[str] = Text(
        "URL",
        "The index of a team, postgresql://USER@HOST/DATABASE, or that in IOSONDE_INDEX.",
        "",
        variable="IOSONDE_INDEX",
    )


@command("serve", ServeOptions, "serve results /projects/team/results", in_python=False)
def serve(options: ServeOptions) -> Result[ServeAddress]:
    """Show a dashboard of STORE… in the browser: experiments, runs, history, comparisons, what is being measured.

    It only reads. It listens on this machine alone unless `host` says otherwise, and then asks for a token, which is
    part of the address that it prints, with --json as JSON, once. Ctrl-C ends it.
    """
    from iosonde.serve.guard import Doorkeeper, is_loopback
    from iosonde.serve.server import create_server, serve_in_background
    from iosonde.serve.shelf import open_shelf
    from iosonde.store.index import Index

    token = choose_token(options.token or not is_loopback(options.host))
    shelf = open_shelf(options.stores, Index.at(options.index))
    server = create_server(options.host, options.port)
    port = server.server_address[1]

    wait_for_interrupt = catch_interrupt()

    def serve_until_interrupted() -> None:
        with serve_in_background(server, shelf, Doorkeeper(options.host, port, token)):
            wait_for_interrupt()

    return Result(
        ServeAddress(options.stores, options.host, port, token), announce_address, write=serve_until_interrupted
    )
