"""Patterns of secrets in text: keywords before them, token formats, passwords in addresses.

The formats are the published prefixes of the large issuers, as in the rules of gitleaks and detect-secrets, without
exact lengths. A text that begins like a token is hidden at any length.
"""

import re

HIDDEN = "***"
# Repeats are bounded: lines of megabytes must not take quadratic time.
KEYWORD = (
    r"[\w.-]{0,64}(?:passw(?:or)?[dt]|passphrase|kennwort|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|sharedkey|"
    r"credentials?|authorization)[\w.-]{0,64}"
)
TOKEN_PATTERN = "|".join(
    (
        r"sk-[\w-]{8,}",  # OpenAI, Anthropic
        r"[sprw]k_(?:live|test)_\w{8,}",  # Stripe
        r"xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|hooks\.slack\.com/services/[\w/]+",
        r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas|ffct)-[\w.-]{8,}|GR1348941[\w-]{8,}",  # GitLab
        r"gh[opsur]_\w{16,}|github_pat_\w{16,}",
        r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[A-Z0-9]{12,}",  # AWS
        r"AIza[\w-]{30,}|ya29\.[\w-]+",  # Google
        r"AccountKey=[\w+/=]{20,}|sig=[\w%+/-]{30,}",  # Azure
        r"eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?",  # JSON web tokens
        r"hf_\w{16,}|npm_\w{16,}|pypi-[\w-]{16,}|dop_v1_\w{16,}|hv[sbr]\.[\w-]{16,}|SG\.[\w-]{16,}\.[\w-]+",
        r"AGE-SECRET-KEY-\w+|sq0[a-z]{3}-[\w-]{16,}|[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}|\d{8,10}:[\w-]{35}",
        r"AQ[\w+/]{36}==",  # Ceph
        r"\$(?:1|2[abxy]|5|6|7|y|gy|argon2\w*)\$[\w./$=,+-]{8,}",  # crypt(5)
        r"(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-[\w-]+) AAAA[\w+/=]+",
    )
)
PRIVATE_KEY_PATTERN = r"-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END[^\n]*-----|\Z)"

# A password that was not percent-encoded may hold any of / @ : ? #, so it ends before the last @ of the word.
_IN_ADDRESS = re.compile(r"(?P<start>[A-Za-z][A-Za-z0-9+.-]*://[^\s/@:?#]*):(?P<password>\S*)@")
_FULL_ADDRESS = re.compile(r"(?s)(?P<start>[A-Za-z][A-Za-z0-9+.-]*://[^\s/@:?#]*):(?P<password>.*)@")
_IN_QUERY = re.compile(r"(?i)(?P<start>[?&\s]\w*(?:password|passwd|secret|token)=)(?P<password>[^&\s]+)")


def hide_address_passwords(text: str, is_address: bool = False) -> str:
    """Replace the password of every address (``scheme://user:password@host``) in ``text`` by ``***``.

    ``is_address``: the text is one address to its end, so that its password may contain spaces.
    """
    text = (_FULL_ADDRESS if is_address else _IN_ADDRESS).sub(rf"\g<start>:{HIDDEN}@", text)
    return _IN_QUERY.sub(rf"\g<start>{HIDDEN}", text)
