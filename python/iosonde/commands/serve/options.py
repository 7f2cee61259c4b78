"""``iosonde serve``: stores in the browser."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from iosonde.commands.command import command
from iosonde.commands.result import Result
from iosonde.core.option_kinds import Integer, Paths
from iosonde.core.options import Flag, NameList, Text

from . import address
from .address import TOKEN_VARIABLE, ServeAddress


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
    from iosonde.serve.server import bound, serving
    from iosonde.serve.shelf import shelf_of
    from iosonde.store.index import Index

    token = address.choose_token(options.token or not is_loopback(options.host))
    shelf = shelf_of(options.stores, Index.at(options.index))
    server = bound(options.host, options.port)
    port = server.server_address[1]

    wait_for_interrupt = address.catch_interrupt()

    def serve_until_interrupted() -> None:
        with serving(server, shelf, Doorkeeper(options.host, port, token)):
            wait_for_interrupt()

    listening = ServeAddress(options.stores, options.host, port, token)
    return Result(listening, address.announce_address, write=serve_until_interrupted)
