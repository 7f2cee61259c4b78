"""The command line without its secrets, and the versions of the software."""

import platform
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iosonde.core.secret_text import HIDDEN, KEYWORD, TOKEN_PATTERN, hide_address_passwords
from iosonde.core.version import __version__

from . import reading

_VALUE = r"(?:\"[^\"]*\"|'[^']*'|[^\s,\"']+)"
# Pattern of a secret → its replacement, in this order: tokens, users in URLs, headers, assignments, options.
_SECRETS = {
    re.compile(rf"(?<![\w-])(?:{TOKEN_PATTERN})"): HIDDEN,
    re.compile(r"(://)[^/\s@]+@"): rf"\1{HIDDEN}@",
    re.compile(r"(?i)(authorization:\s*)(?:\w+\s+)?[^\s\"']+"): rf"\1{HIDDEN}",
    re.compile(rf"(?i)({KEYWORD}\s*[=:]\s*)(?:bearer\s+|basic\s+)?{_VALUE}"): rf"\1{HIDDEN}",
    re.compile(rf"(?i)(?<!\S)(--?{KEYWORD}\s+){_VALUE}"): rf"\1{HIDDEN}",
}
_BARE_OPTION = re.compile(rf"(?i)^--?{KEYWORD}$")
_MOUNT_SECRETS = ("password", "pass", "secret", "password2", "sharedkey", "token", "key")


def redact(text: str) -> str:
    """Replace values of passwords, tokens and keys, and users in URLs, in ``text`` by ``***``."""
    text = hide_address_passwords(text)
    for pattern, replacement in _SECRETS.items():
        text = pattern.sub(replacement, text)
    return text


def redact_words(words: Sequence[str]) -> list[str]:
    """Redact the words of a command line, where a value may be the word after its option."""
    result, hide = [], False
    for word in words:
        result.append(HIDDEN if hide and not word.startswith("-") else redact(word))
        hide = bool(_BARE_OPTION.match(word))
    return result


def redact_options(options: str) -> str:
    """Redact mount options (``rw,password=x``)."""
    return ",".join(
        f"{name}={HIDDEN}" if sign and name.lower() in _MOUNT_SECRETS else option
        for option in options.split(",")
        for name, sign, _ in [option.partition("=")]
    )


def describe_software(repository: Path | None = None) -> dict[str, Any]:
    """Return versions of iosonde and Python; for ``repository`` the git commit, and whether files differ from it."""
    versions: dict[str, Any] = {"iosonde": __version__, "python": platform.python_version()}
    if repository is not None:
        commit = reading.run_tool(["git", "-C", str(repository), "rev-parse", "HEAD"])
        changes = reading.run_tool(["git", "-C", str(repository), "status", "--porcelain", "--untracked-files=no"])
        versions["commit"] = commit.strip() if commit else None
        versions["commit_modified"] = None if changes is None else bool(changes.strip())
    return versions
