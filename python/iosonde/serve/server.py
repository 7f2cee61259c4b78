"""HTTP over Python's own server: it reads and answers, writes nothing, and logs no request.

No file is opened by its name in an address: paths are looked up in a table, and parameters go to the index and the
answers. Every response has a policy that lets a page load only resources of this server.
"""

import errno
import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

from iosonde.core.errors import InputError, IosondeError

from .guard import Doorkeeper
from .pages import PAGES
from .pages.api import JSON, PREFIX, format_json
from .pages.experiments import prepare_page
from .pages.web_page import Address, WebPage, render_problem_page
from .shelf import Shelf

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
_MOST_WORDS = 60  # of a query
_WORTH_PACKING = 2000  # bytes
_TOKEN = "token"


@dataclass(frozen=True)
class HttpResponse:
    """A response. ``headers`` are those besides the common ones."""

    status: int
    body: bytes
    kind: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    policy: str = POLICY
    keep: bool = False


def answer_request(shelf: Shelf, guard: Doorkeeper, target: str, headers: Any) -> HttpResponse:
    """Answer a GET of ``target``; ``headers``: those of the request, by ``get``."""
    if not guard.knows_name(headers.get("Host")):
        return _respond_with_text(HTTPStatus.MISDIRECTED_REQUEST, "Unknown host name for this server.")
    try:
        parts = urlsplit(target)
        words = parse_qs(parts.query, keep_blank_values=True, max_num_fields=_MOST_WORDS, errors="replace")
    except ValueError:
        return _respond_with_text(HTTPStatus.BAD_REQUEST, "Invalid address.")
    tokens = words.pop(_TOKEN, [])
    if tokens and guard.is_token(tokens[-1]):
        return _redirect_with_cookie(guard, parts.path, words)
    if not guard.lets_in(headers.get("Authorization"), headers.get("Cookie")):
        return _respond_with_text(
            HTTPStatus.UNAUTHORIZED,
            "A token is required: open the address printed by 'iosonde serve'.",
            (("WWW-Authenticate", "Bearer"),),
        )
    page = PAGES.get(parts.path)
    if page is None:
        error = InputError("unknown-page", "Page not found.", "")
        return _respond_with_problem(shelf, parts.path, error, HTTPStatus.NOT_FOUND)
    try:
        return _respond_with_page(page(shelf, Address(parts.path, words)))
    except IosondeError as error:
        status = HTTPStatus.BAD_REQUEST if isinstance(error, InputError) else HTTPStatus.INTERNAL_SERVER_ERROR
        return _respond_with_problem(shelf, parts.path, error, status)


def _respond_with_problem(shelf: Shelf, path: str, error: IosondeError, status: int) -> HttpResponse:
    """Respond with an error in the form of the address: JSON for documents, else a page."""
    if path.split("/")[:2] == PREFIX.split("/"):
        problem = {"schema": 1, "error": {"code": error.code, "message": error.message, "hint": error.hint}}
        return _respond_with_page(WebPage(format_json(problem), JSON), status)
    return _respond_with_page(render_problem_page(shelf, error.message, error.hint), status)


def _respond_with_page(web_page: WebPage, status: int = HTTPStatus.OK) -> HttpResponse:
    return HttpResponse(status, web_page.body, web_page.kind, (), web_page.policy or POLICY, web_page.keep)


def _respond_with_text(status: int, text: str, headers: tuple[tuple[str, str], ...] = ()) -> HttpResponse:
    return HttpResponse(status, f"{text}\n".encode(), "text/plain; charset=utf-8", headers)


def _redirect_with_cookie(guard: Doorkeeper, path: str, words: dict[str, list[str]]) -> HttpResponse:
    """Move the token from the address to a cookie that scripts cannot read."""
    query = urlencode(words, doseq=True)
    place = (path if path in PAGES else "/") + (f"?{query}" if query else "")
    cookie = f"{guard.cookie}={guard.token}; HttpOnly; SameSite=Lax; Path=/"
    return HttpResponse(HTTPStatus.SEE_OTHER, b"", headers=(("Location", place), ("Set-Cookie", cookie)))


class _Handler(BaseHTTPRequestHandler):
    shelf: ClassVar[Shelf]
    guard: ClassVar[Doorkeeper]
    timeout = 60  # an idle connection is closed
    server_version, sys_version = "iosonde", ""

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._refuse
        raise AttributeError(name)

    def _refuse(self) -> None:
        response = _respond_with_text(
            HTTPStatus.METHOD_NOT_ALLOWED, "This server is read-only.", (("Allow", "GET, HEAD"),)
        )
        self._send(response, body=self.command != "HEAD")

    def _answer(self, body: bool) -> None:
        try:
            response = answer_request(self.shelf, self.guard, self.path, self.headers)
        except Exception:  # an internal error: its text may hold private data
            response = _respond_with_text(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal error.")
        self._send(response, body)

    def _send(self, response: HttpResponse, body: bool) -> None:
        content = response.body
        self.send_response(response.status)
        if len(content) > _WORTH_PACKING and "gzip" in (self.headers.get("Accept-Encoding") or ""):
            content = gzip.compress(content, 1)
            self.send_header("Content-Encoding", "gzip")
        headers = {
            **_HEADERS,
            "Content-Type": response.kind,
            "Content-Security-Policy": response.policy,
            "Content-Length": str(len(content)),
            "Vary": "Accept-Encoding",
            "Cache-Control": "private, max-age=3600" if response.keep else "no-store",
        }
        for name, value in (*headers.items(), *response.headers):
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Log nothing: an address may contain a token."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Ignore disconnected browsers."""


class _Server6(_Server):
    address_family = socket.AF_INET6


def create_server(host: str, port: int) -> ThreadingHTTPServer:
    """Create a listening server; port 0 is any free one. Raises InputError."""
    kind = _Server6 if ":" in host else _Server
    try:
        return kind((host, port), _Handler)
    except socket.gaierror as error:
        raise InputError(
            "invalid-address",
            "{host} is not a name or an address",
            "set {spell.host} to an address of this machine",
            host=host,
        ) from error
    except OverflowError as error:
        raise InputError(
            "out-of-range", "invalid port {port}", "set {spell.port} to a number up to 65535", port=port
        ) from error
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InputError(
                "port-in-use",
                "port {port} of {host} is in use",
                "use another one, such as {spell.port:0} for any",
                port=port,
                host=host,
            ) from error
        raise InputError(
            "port-unavailable",
            "cannot listen on port {port} of {host}: {reason}",
            "use an address of this machine, and a port from 1024 on",
            port=port,
            host=host,
            reason=error.strerror,
        ) from error


@contextmanager
def serve_in_background(server: ThreadingHTTPServer, shelf: Shelf, guard: Doorkeeper) -> Iterator[None]:
    """Serve requests, and keep the index up to date, during the block."""
    server.RequestHandlerClass = type("Handler", (_Handler,), {"shelf": shelf, "guard": guard})
    ended = threading.Event()
    threads = [threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)]
    threads += [
        threading.Thread(target=shelf.look_until, args=(store, ended, partial(prepare_page, shelf)), daemon=True)
        for store in shelf.stores
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
