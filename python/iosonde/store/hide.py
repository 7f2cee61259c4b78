"""Names, addresses and secrets in text → stable pseudonyms: ``host-1``, ``user-1``, ``address-1``, ``secret-1``.

Two passes: ``Names.learn`` reads everything that will be shared and notes who is named where it can be told (under
a key like ``hosts``, after ``--password``, in ``/home/alice``); ``Names.hide`` then replaces these words wherever
they occur, in keys as well as in values. What looks like an address is replaced anywhere. In doubt a word is
replaced: a reader can live with ``host-3`` for a word that was none.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Any

_SECRET_WORD = (
    r"[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|sharedkey|"
    r"credentials?|authorization)[\w.-]*"
)
_VALUE = r"""(?:"[^"]*"|'[^']*'|[^\s,;&"'\]})]+)"""
_HOST_OPTION = r"--?(?:hosts?|nodelist|machines?|nodes?-?list|clients?|servers?)|-H"

# Under these keys the text of a value (and, in a dict of dicts, of its keys) is such a name.
_KEYS = {
    "secret": re.compile(rf"^(?:{_SECRET_WORD}|pass|auth|cookie)$", re.IGNORECASE),
    "host": re.compile(
        r"(?:^|_)(?:host(?:s|name|names)?|host_?list|node|nodename|node_?list|servers?|clients?|fqdn|domain|"
        r"machine_?name|cluster)$",
        re.IGNORECASE,
    ),
    "user": re.compile(
        r"(?:^|_)(?:users?|user_?name|logname|login|owner|account|author|project|group)$", re.IGNORECASE
    ),
    "address": re.compile(
        r"(?:^|_)(?:addr|address|addresses|ip|mac|hwaddr|guid|machine_?id|boot_?id|serial|uuid|fsid)$", re.IGNORECASE
    ),
}
# In free text: the named group is the name.
_PATTERNS = [
    ("secret", re.compile(rf"(?i)(?<![\w-])--?{_SECRET_WORD}[\s=]+(?:bearer\s+|basic\s+)?(?P<name>{_VALUE})")),
    ("secret", re.compile(rf"(?i)(?<![\w.-]){_SECRET_WORD}[\"']?\s*[=:]\s*(?:bearer\s+|basic\s+)?(?P<name>{_VALUE})")),
    ("secret", re.compile(r"(?i)\b(?:bearer|basic)\s+(?P<name>[A-Za-z0-9+/._~=-]{8,})")),
    ("secret", re.compile(r"://[^/\s:@]*:(?P<name>[^/\s@]+)@")),
    ("secret", re.compile(r"(?<!\S)(?:-u|--user)[\s=]+[^\s:]+:(?P<name>[^\s]+)")),
    ("secret", re.compile(r"\b(?P<name>AKIA[0-9A-Z]{16}|gh[opsu]_\w{20,}|eyJ[\w-]+\.[\w-]+\.[\w-]+)")),
    ("secret", re.compile(r"(?P<name>-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END[^\n]*-----|\Z))")),
    ("user", re.compile(r"/(?:home|users)\d*/(?P<name>[^/\s\"':;,()]+)", re.IGNORECASE)),
    ("user", re.compile(r"(?<![\w.])~(?P<name>[A-Za-z_][\w.-]*)")),
    ("user", re.compile(r"(?<![\w.+-])(?P<name>[A-Za-z_][\w.+-]*)@[\w.-]+")),
    ("user", re.compile(r"(?i)\b\w*(?:user|username|logname|login)=(?P<name>[^\s,;:\"']+)")),
    ("host", re.compile(r"(?<![\w.+-])[\w.+-]+@(?P<name>[A-Za-z][\w.-]*)")),
    ("host", re.compile(r"://(?:[^/\s@]*@)?(?P<name>[A-Za-z][\w.-]*)")),
    ("host", re.compile(r"(?<![\w./:@%-])(?P<name>[A-Za-z][\w.-]*):/(?!/)")),
    ("host", re.compile(r"(?<![\w:/])//(?P<name>[A-Za-z][\w.-]*)/")),
    ("host", re.compile(rf"(?<!\S)(?:{_HOST_OPTION})[\s=]+(?P<name>[^\s-]\S*)")),
    ("host", re.compile(r"(?i)\b\w*(?:host|hostname|nodename|nodelist|server)=(?P<name>[^\s;\"']+)")),
]
_ADDRESSES = re.compile(
    r"(?<![\w:.])(?:"
    r"(?P<ip4>\d{1,3}(?:\.\d{1,3}){3})(?![\w]|\.\d)"
    r"|(?:(?:[0-9a-fA-F]{2}:){5,19}[0-9a-fA-F]{2}"
    r"|(?P<ip6>(?:[0-9a-fA-F]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{0,4}))(?:%\w+)?"
    r"|0x[0-9a-fA-F]{16})(?![\w:])"
    r")"
)
# Words that name nobody.
_HARMLESS = frozenset(
    (
        *("localhost", "local", "root", "nobody", "user", "host", "daemon", "self", "unknown", "default", "***"),
        *("none", "null", "true", "false", "yes", "no", "on", "off", "all", "n/a", "sys", "krb5"),
        *("http", "https", "file", "mount", "read", "write", "open", "create", "close", "stat", "mtc", "iosonde"),
    )
)
# iosonde's own keys stay readable even where a host is called "vm": the copy must still be a store.
_OWN_KEYS = frozenset(
    re.findall(
        r"\w+",
        """machine host hosts name node nodes cpu memory vm network infiniband job target software command mount space
        quota devices filesystem options source server type launcher envelope cache clocks loads load order seed iosonde
        ranks ranks_per_node repetition block reader client_cache server_cache fs phases index operation kinds label
        rank mounts""",
    )
)
_NODE_LIST = re.compile(r"(?P<stem>[A-Za-z][\w.-]*)\[(?P<numbers>[\d,-]+)\]")
_NUMBERED = re.compile(r"^(?P<stem>[A-Za-z][A-Za-z_-]*[A-Za-z_-])\d+$")
_OPTION_WORD = re.compile(rf"(?i)^--?{_SECRET_WORD}$")
_HOST_OPTION_WORD = re.compile(rf"^(?:{_HOST_OPTION})$")


class Names:
    """Who and what is to be hidden, and under which name."""

    def __init__(self, also: Iterable[str] = ()) -> None:
        self._pseudonyms: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._used: set[str] = set()
        self._finder: re.Pattern[str] | None = None
        for word in also:
            self._note("name", word)

    @property
    def replaced(self) -> dict[str, int]:
        """How many names of each kind were replaced so far: host, domain, user, address, secret, name."""
        kinds = [pseudonym.partition("-")[0] for pseudonym in self._used]
        return {kind: kinds.count(kind) for kind in sorted(set(kinds))}

    def learn(self, value: Any, key: str = "") -> None:
        """Note every name in ``value``: text, or lists and dicts of it; ``key`` is the key it stands under."""
        kind = next((kind for kind, keys in _KEYS.items() if keys.search(key)), "")
        if isinstance(value, Mapping):
            for name, item in value.items():
                self._learn_text(str(name))
                if kind == "host" and key.endswith("s"):
                    self._note(kind, str(name))  # {"hosts": {"node01": ...}}
                named = kind in ("host", "user") and name == "name"  # {"host": {"name": "node01"}}
                self.learn(item, key if named or kind == "secret" else str(name))
        elif isinstance(value, (list, tuple)):
            self._learn_list(value, key)
        elif kind == "secret" and value is not None and not isinstance(value, bool):
            self._note(kind, str(value))
        elif isinstance(value, str):
            if kind:
                self._note(kind, value)
            self._learn_text(value)

    def _learn_list(self, items: list[Any] | tuple[Any, ...], key: str) -> None:
        before = ""
        for item in items:
            if isinstance(item, str) and not item.startswith("-"):
                if _OPTION_WORD.match(before):
                    self._note("secret", item)
                elif _HOST_OPTION_WORD.match(before):
                    self._note("host", item)
            self.learn(item, key)
            before = item if isinstance(item, str) else ""
        words = [item for item in items if isinstance(item, str)]
        self._learn_text(" ".join(words))

    def _learn_text(self, text: str) -> None:
        for kind, pattern in _PATTERNS:
            for found in pattern.finditer(text):
                self._note(kind, found["name"])

    def _note(self, kind: str, name: str) -> None:
        name = name.strip().strip("\"'")
        if kind == "host":
            for found in _NODE_LIST.finditer(name):
                for number in _expand(found["numbers"]):
                    self._note_word(kind, found["stem"] + number)
            name = _NODE_LIST.sub("", name)
        parts = re.split(r"[\s,;|]+", name) if kind in ("host", "user") else [name]
        for part in parts:
            part = re.sub(r":[\d/].*$", "", part).strip("./:[]") if kind == "host" else part
            self._note_word(kind, part)
            if kind == "host" and "." in part and not _is_address(part):
                self._note_word(kind, part.partition(".")[0])
                if part.count(".") > 1:
                    self._note_word("domain", part.partition(".")[2])

    def _note_word(self, kind: str, word: str) -> None:
        plain = word.lower()
        if not word or plain in _HARMLESS or plain in self._pseudonyms or _is_pseudonym(plain):
            return
        if kind != "secret" and (plain.isdigit() or _is_address(word)):
            return  # addresses are found wherever they are
        if kind == "secret" and len(word) < 3:
            return
        self._give(kind, plain)

    def _give(self, kind: str, word: str) -> str:
        """A name for ``word``; a host's short and full name get the same one."""
        short, relatives = word.partition(".")[0], []
        if kind == "host":
            relatives = [self._pseudonyms[known] for known in (short,) if known in self._pseudonyms]
            relatives += [to for known, to in self._pseudonyms.items() if known.partition(".")[0] == word]
        if not relatives:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            relatives = [f"{kind}-{self._counts[kind]}"]
        self._pseudonyms[word] = relatives[0]
        self._finder = None
        return relatives[0]

    def hide(self, value: Any) -> Any:
        """``value`` with every known name replaced, in keys and values alike."""
        if isinstance(value, str):
            return self.hide_text(value)
        if isinstance(value, Mapping):
            hidden: dict[str, Any] = {}
            for key, item in value.items():
                name = str(key) if key in _OWN_KEYS else self.hide_text(str(key))
                while name in hidden:
                    name += "'"
                hidden[name] = "secret" if _is_secret_number(str(key), item) else self.hide(item)
            return hidden
        if isinstance(value, (list, tuple)):
            return [self.hide(item) for item in value]
        return value

    def hide_text(self, text: str) -> str:
        """``text`` with every known name, and everything that looks like an address, replaced."""
        text = _ADDRESSES.sub(self._hide_address, text)
        if self._finder is None:
            self._finder = self._make_finder()
        return self._finder.sub(self._pseudonym, text)

    def _pseudonym(self, found: re.Match[str]) -> str:
        word = found[0].lower()
        return self._use(self._pseudonyms.get(word) or self._give("host", word))

    def _hide_address(self, found: re.Match[str]) -> str:
        word = found[0]
        if (found["ip4"] or found["ip6"]) and not _is_address(word.partition("%")[0]):
            return word
        if word in ("::", "0.0.0.0", "127.0.0.1", "::1"):
            return word
        return self._use(self._pseudonyms.get(word.lower()) or self._give("address", word.lower()))

    def _use(self, pseudonym: str) -> str:
        self._used.add(pseudonym)
        return pseudonym

    def _make_finder(self) -> re.Pattern[str]:
        """Longer words first. A secret is found inside of words too, a name only between letters and digits.

        Beside the known hosts their siblings are found: where gpu01 is one, gpu17 is one as well.
        """
        known = sorted(self._pseudonyms, key=lambda word: (-len(word), word))
        parts = [
            re.escape(word)
            if self._pseudonyms[word].startswith("secret-") and len(word) >= 6
            else _between(re.escape(word))
            for word in known
        ]
        hosts = [word for word in known if self._pseudonyms[word].startswith("host-")]
        stems = {found["stem"] for word in hosts if (found := _NUMBERED.match(word.partition(".")[0]))}
        parts += [_between(rf"{re.escape(stem)}\d+") for stem in sorted(stems - {"host-", "user-"})]
        return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE)


def _between(word: str) -> str:
    return rf"(?<![A-Za-z0-9]){word}(?![A-Za-z0-9])"


def _expand(numbers: str) -> Iterable[str]:
    """``01-03,07`` → 01 02 03 07; no more than 100,000 (a list that names more is no list of nodes)."""
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


def _is_pseudonym(word: str) -> bool:
    return re.fullmatch(r"(?:host|domain|user|address|secret|name)-\d+", word) is not None


def _is_secret_number(key: str, value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and bool(_KEYS["secret"].search(key))
