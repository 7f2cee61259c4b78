"""Replace names, addresses, numbers of machines and jobs, and secrets in text by stable pseudonyms: ``host-1``,
``user-1``.

There are two passes. ``Names.learn`` reads everything to be shared and collects the names that ``name_patterns``
recognises (under a key like ``hosts``, after ``--password``, in ``/home/alice``). ``Names.hide`` replaces these words
everywhere, in keys and values. Anything that looks like an address is replaced. In doubt a word is replaced: a harmless
word shown as ``host-3`` does no damage.
"""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from .name_patterns import ADDRESSES, HARMLESS, HOST_OPTION_WORD, KEYS, OPTION_WORD, PATTERNS

# iosonde's own keys stay readable even if a host is called "vm": the copy must still be a store.
_OWN_KEYS = frozenset(
    re.findall(
        r"\w+",
        """machine host hosts name node nodes cpu memory vm network infiniband job target software command mount space
        quota devices filesystem options source server type launcher envelope cache clocks loads load order seed iosonde
        ranks ranks_per_node repetition block reader client_cache server_cache fs phases index operation kinds label
        rank mounts conditions before after health copies""",
    )
)
_NODE_LIST = re.compile(r"(?P<stem>[A-Za-z][\w.-]*)\[(?P<numbers>[\d,-]+)\]")
_ID_PATTERNS = [pattern for kind, pattern in PATTERNS if kind == "id"]
_MIN_COMMON_ID_DIGITS = 5  # shorter numbers are replaced only where they are clearly an id
_MIN_LENGTHS = {"secret": 3, "id": 3, "host": 2, "user": 2}
_NUMBERED = re.compile(r"^(?P<stem>[A-Za-z][A-Za-z_-]*[A-Za-z_-])\d+$")


class Names:
    """The words to hide, and their pseudonyms."""

    def __init__(self, also: Iterable[str] = ()) -> None:
        self._pseudonyms: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._used: set[str] = set()
        self._finder: re.Pattern[str] | None = None
        for word in also:
            self._note_names("name", word)

    @property
    def replaced(self) -> dict[str, int]:
        """Number of names replaced so far, by kind: host, domain, user, address, secret, id, name."""
        kinds = [pseudonym.partition("-")[0] for pseudonym in self._used]
        return {kind: kinds.count(kind) for kind in sorted(set(kinds))}

    def learn(self, value: Any, key: str = "") -> None:
        """Collect every name in ``value``: text, or lists and dicts of it; ``key`` is its key."""
        kind = _classify_key(key)
        if isinstance(value, Mapping):
            for name, item in value.items():
                self._learn_text(str(name))
                if kind == "host" and key.endswith("s"):
                    self._note_names(kind, str(name))  # {"hosts": {"node01": ...}}
                is_name_key = kind in ("host", "user") and name == "name"  # {"host": {"name": "node01"}}
                self.learn(item, key if is_name_key or kind == "secret" else str(name))
        elif isinstance(value, (list, tuple)):
            self._learn_list(value, key)
        elif kind in ("secret", "id") and isinstance(value, (int, float)) and not isinstance(value, bool):
            self._note_names(kind, str(value))
        elif isinstance(value, str):
            if kind:
                self._note_names(kind, value)
            self._learn_text(value)

    def _learn_list(self, items: list[Any] | tuple[Any, ...], key: str) -> None:
        before = ""
        for item in items:
            if isinstance(item, str) and not item.startswith("-"):
                if OPTION_WORD.match(before):
                    self._note_names("secret", item)
                elif HOST_OPTION_WORD.match(before):
                    self._note_names("host", item)
            self.learn(item, key)
            before = item if isinstance(item, str) else ""
        self._learn_text(" ".join([item for item in items if isinstance(item, str)]))

    def _learn_text(self, text: str) -> None:
        for kind, pattern in PATTERNS:
            for match in pattern.finditer(text):
                self._note_names(kind, match["name"])

    def _note_names(self, kind: str, name: str) -> None:
        name = name.strip().strip("\"'")
        if kind == "host":
            for match in _NODE_LIST.finditer(name):
                for number in _expand_numbers(match["numbers"]):
                    self._note_word(kind, match["stem"] + number)
            name = _NODE_LIST.sub("", name)
        if kind == "secret":
            for form in (name, name.rstrip("."), unquote(name)):  # "the password is hunter2."
                self._note_word(kind, form)
            return
        for part in re.split(r"[\s,;|]+", name) if kind in ("host", "user") else [name]:
            part = re.sub(r":[\d/].*$", "", part).strip("./:[]") if kind == "host" else part.strip(".:")
            self._note_word(kind, part)
            if kind == "host" and "." in part and not _is_address(part):
                self._note_word(kind, part.partition(".")[0])
                if part.count(".") > 1:
                    self._note_word("domain", part.partition(".")[2])

    def _note_word(self, kind: str, word: str) -> None:
        plain = word.lower()
        if not (
            len(word) < _MIN_LENGTHS.get(kind, 1)
            or plain in HARMLESS
            or plain in self._pseudonyms
            or is_pseudonym(plain)
            or (kind == "id" and not re.search(r"\d", word))
            # Addresses are found everywhere.
            or (kind not in ("secret", "id") and (plain.isdigit() or _is_address(word)))
        ):
            self._assign_pseudonym(kind, plain)

    def _assign_pseudonym(self, kind: str, word: str) -> str:
        """Return a pseudonym for ``word``; a host's short and full name share one."""
        short, relatives = word.partition(".")[0], []
        if kind == "host":
            relatives = [self._pseudonyms[host] for host in (short,) if host in self._pseudonyms]
            relatives += [to for host, to in self._pseudonyms.items() if host.partition(".")[0] == word]
        if not relatives:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            relatives = [f"{kind}-{self._counts[kind]}"]
        self._pseudonyms[word] = relatives[0]
        self._finder = None
        return relatives[0]

    def hide(self, value: Any, key: str = "") -> Any:
        """Return ``value``, which has the key ``key``, with every known name replaced, in keys and values."""
        if isinstance(value, (str, int, float)) and not isinstance(value, bool) and key:
            kind, pseudonym = _classify_key(key), self._pseudonyms.get(str(value).lower())
            if pseudonym and kind == "id":
                return self._mark_used(pseudonym)
            if kind == "secret" and not isinstance(value, str):
                return "secret"
        if isinstance(value, str):
            return self.hide_text(value)
        if isinstance(value, Mapping):
            hidden: dict[str, Any] = {}
            for key, item in value.items():
                name = str(key) if key in _OWN_KEYS else self.hide_text(str(key))
                while name in hidden:
                    name += "'"
                hidden[name] = self.hide(item, str(key))
            return hidden
        if isinstance(value, (list, tuple)):
            return [self.hide(item, key) for item in value]
        return value

    def hide_text(self, text: str) -> str:
        """Return ``text`` with every known name and anything that looks like an address replaced."""
        text = ADDRESSES.sub(self._hide_address, text)
        for pattern in _ID_PATTERNS:
            text = pattern.sub(self._hide_id, text)
        if self._finder is None:
            self._finder = self._make_finder()
        return self._finder.sub(self._replace_match, text)

    def _replace_match(self, match: re.Match[str]) -> str:
        word = match[0].lower()
        return self._mark_used(self._pseudonyms.get(word) or self._assign_pseudonym("host", word))

    def _hide_address(self, match: re.Match[str]) -> str:
        word = match[0]
        is_number = (match["ip4"] or match["ip6"]) and not _is_address(word.partition("%")[0])
        if is_number or word in ("::", "0.0.0.0", "127.0.0.1", "::1"):
            return word
        return self._mark_used(self._pseudonyms.get(word.lower()) or self._assign_pseudonym("address", word.lower()))

    def _hide_id(self, match: re.Match[str]) -> str:
        pseudonym = self._pseudonyms.get(match["name"].lower())
        if pseudonym is None:
            return match[0]
        start, end = (place - match.start() for place in match.span("name"))
        return match[0][:start] + self._mark_used(pseudonym) + match[0][end:]

    def _mark_used(self, pseudonym: str) -> str:
        self._used.add(pseudonym)
        return pseudonym

    def _make_finder(self) -> re.Pattern[str]:
        """Build the search pattern, longer words first. Secrets match inside words, names only as whole words.

        Siblings of the known hosts match too: if gpu01 is a host, so is gpu17.
        """
        words = sorted(self._pseudonyms, key=lambda word: (-len(word), word))
        parts = [part for word in words if (part := _build_word_pattern(word, self._pseudonyms[word]))]
        hosts = [word for word in words if self._pseudonyms[word].startswith("host-")]
        stems = {match["stem"] for word in hosts if (match := _NUMBERED.match(word.partition(".")[0]))}
        parts += [_isolate_word(rf"{re.escape(stem)}\d+") for stem in sorted(stems - {"host-", "user-"})]
        return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE)


def _build_word_pattern(word: str, pseudonym: str) -> str:
    """Return the pattern of ``word``; empty if it is a number too short to be an id everywhere."""
    kind = pseudonym.partition("-")[0]
    if kind == "secret" and len(word) >= 6:
        return re.escape(word)
    if kind == "id" and word.isdigit():
        return rf"(?<![\w.,]){word}(?!\w|[.,]\d)" if len(word) >= _MIN_COMMON_ID_DIGITS else ""
    return _isolate_word(re.escape(word))


def _isolate_word(word: str) -> str:
    return rf"(?<![A-Za-z0-9]){word}(?![A-Za-z0-9])"


def _expand_numbers(numbers: str) -> Iterable[str]:
    """Expand ``01-03,07`` to 01 02 03 07, at most 100,000 (a longer list is not a node list)."""
    for part in numbers.split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit():
            for number in range(int(first), min(int(last or first), int(first) + 100_000) + 1):
                yield str(number).zfill(len(first))


def _is_address(word: str) -> bool:
    try:
        ipaddress.ip_address(word.strip("[]"))
    except ValueError:
        return False
    return True


def is_pseudonym(word: str) -> bool:
    """Return whether ``word`` is a pseudonym of this module."""
    return re.fullmatch(r"(?:host|domain|user|address|secret|name|id)-\d+", word) is not None


def _classify_key(key: str) -> str:
    return next((kind for kind, keys in KEYS.items() if keys.search(key)), "")
