"""Manual page of a finding."""

import difflib

from iosonde.core.errors import InputError
from iosonde.explain import causes, counters
from iosonde.stats import checks
from iosonde.store.findings import PAGES


def list_first_lines() -> list[str]:
    """Return the first line of every finding's page."""
    return [_get_page_text(code).splitlines()[0] for code in _list_codes()]


def get_page(code: str) -> str:
    """Return the page of a finding: its meaning, evidence, errors and remedies. Raises InputError for an unknown
    code."""
    if code.upper() not in _list_codes():
        near = difflib.get_close_matches(code.upper(), _list_codes(), 3, 0.6)
        raise InputError(
            "unknown-finding",
            "unknown finding '{code}'",
            "did you mean {suggestions}?" if near else "list them: iosonde explain",
            code=code,
            suggestions=" or ".join(near),
        )
    return _get_page_text(code.upper()).rstrip()


def _get_page_text(code: str) -> str:
    return (
        checks.find_manual_page(code) or causes.read_manual_page(code) or counters.read_manual_page(code) or PAGES[code]
    )


def _list_codes() -> list[str]:
    return [*checks.list_check_modules(), *causes.map_codes_to_modules(), *counters.map_codes_to_modules(), *PAGES]
