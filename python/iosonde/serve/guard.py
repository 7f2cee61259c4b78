"""Who may ask: the token, and the name by which a browser came here.

A page of somebody else's that a browser shows could ask a server on this machine for what it holds, by a name of its
own that is made to point here (DNS rebinding). So a request is answered only under a name that nobody else can give us:
an address in numbers, localhost, this machine's own name, or the one that was asked for.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

TOKEN_LEAST = 16  # characters of one that is given
_TOKEN_BYTES = 24


def new_token() -> str:
    """One that nobody guesses: 192 bits of the system's randomness."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True)
class Doorkeeper:
    """``host``: what was asked to listen on; ``token`` None lets everybody in who reaches us."""

    host: str
    port: int
    token: str | None

    @property
    def cookie(self) -> str:
        """The name of ours: cookies are not kept apart by port."""
        return f"iosonde-{self.port}"

    def knows_name(self, header: str | None) -> bool:
        """Whether the ``Host`` of a request is a name of ours, and the port ours."""
        name, port = _split_host(header or "")
        if port not in ("", str(self.port)) or not name:
            return False
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return name in {"localhost", socket.gethostname().lower(), self.host.lower()}
        return True

    def lets_in(self, authorization: str | None, cookie: str | None) -> bool:
        """Whether the token is in a header ``Authorization: Bearer …`` or in our cookie."""
        if self.token is None:
            return True
        bearer_token = (
            (authorization or "").removeprefix("Bearer ") if (authorization or "").startswith("Bearer ") else ""
        )
        return self.is_token(bearer_token) or self.is_token(_read_cookie(cookie or "", self.cookie))

    def is_token(self, candidate: str) -> bool:
        """Compared in a time that does not say how much of it was right."""
        return self.token is not None and hmac.compare_digest(candidate.encode("utf-8", "replace"), self.token.encode())


def _split_host(header: str) -> tuple[str, str]:
    """Name and port of a ``Host``; an address of version 6 stands in brackets."""
    header = header.strip().lower()
    if header.startswith("["):
        name, _, rest = header.partition("]")
        return f"{name}]", rest.removeprefix(":")
    name, _, port = header.partition(":")
    return name, port


def _read_cookie(header: str, name: str) -> str:
    try:
        cookie = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return "" if cookie is None else cookie.value
