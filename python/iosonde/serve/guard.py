"""Access control: the token, and the host name of a request.

A page of another site could query a server on this machine through its own name that points here (DNS rebinding). So a
request is answered only under a name that nobody else controls: a numeric address, localhost, this machine's own name,
or the configured one.
"""

import hmac
import ipaddress
import secrets
import socket
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

TOKEN_LEAST = 16  # characters of a given token
_TOKEN_BYTES = 24


def create_token() -> str:
    """Return a token of 192 random bits."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True)
class Doorkeeper:
    """The access control. ``host`` is the configured address; with ``token`` None everybody who reaches the server has
    access."""

    host: str
    port: int
    token: str | None

    @property
    def cookie(self) -> str:
        """Name of the cookie; it has the port, because browsers share cookies between ports."""
        return f"iosonde-{self.port}"

    def knows_name(self, header: str | None) -> bool:
        """Return whether the ``Host`` of a request is a name of this server, with its port."""
        name, port = _split_host(header or "")
        if port not in ("", str(self.port)) or not name:
            return False
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return name in {"localhost", socket.gethostname().lower(), self.host.lower()}
        return True

    def lets_in(self, authorization: str | None, cookie: str | None) -> bool:
        """Return whether the token is in a header ``Authorization: Bearer …`` or in the cookie."""
        if self.token is None:
            return True
        bearer_token = (
            (authorization or "").removeprefix("Bearer ") if (authorization or "").startswith("Bearer ") else ""
        )
        return self.is_token(bearer_token) or self.is_token(_read_cookie(cookie or "", self.cookie))

    def is_token(self, candidate: str) -> bool:
        """Return whether this is the token, compared in constant time."""
        return self.token is not None and hmac.compare_digest(candidate.encode("utf-8", "replace"), self.token.encode())


def _split_host(header: str) -> tuple[str, str]:
    """Split a ``Host`` into name and port; an IPv6 address is in brackets."""
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
