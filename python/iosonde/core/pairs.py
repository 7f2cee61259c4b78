"""``a=9,b=nfs``: values by name, as written in an option."""

from collections.abc import Iterable

from .errors import InputError

_HINT = "write it as stripe_count=2"


def parse_pair(text: str, option: str = "", hint: str = _HINT) -> tuple[str, str]:
    """Parse ``A=V`` into (A, V). Raises InputError, which begins with the ``option``."""
    name, sign, value = (part.strip() for part in text.partition("="))
    if not sign or not name or not value:
        raise InputError(
            "invalid-assignment",
            "{option}'{assignment}' is not NAME=VALUE",
            "{hint}",
            option=_format_prefix(option),
            assignment=text.strip(),
            hint=hint,
        )
    return name, value


def parse_pairs(texts: str | Iterable[str], option: str = "", hint: str = _HINT) -> dict[str, str]:
    """Parse ``A=V,B=W``, in one text or several, into one mapping. Raises InputError, also for a duplicate name."""
    pairs: dict[str, str] = {}
    for text in [texts] if isinstance(texts, str) else texts:
        for part in text.split(","):
            name, value = parse_pair(part, option, hint)
            if name in pairs:
                raise InputError(
                    "duplicate-name",
                    "{option}duplicate name {name}",
                    "keep one of them",
                    option=_format_prefix(option),
                    name=name,
                )
            pairs[name] = value
    return pairs


def _format_prefix(option: str) -> str:
    return f"{option}: " if option else ""
