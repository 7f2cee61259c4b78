"""``iosonde explain``: the manual page of a finding."""

from dataclasses import dataclass

from iosonde.commands.command import command
from iosonde.core.options import Text


@dataclass
class ExplainOptions:
    """Options of ``iosonde explain``."""

    code: Text[str | None] = Text("CODE", "The code of a finding, as S104.", is_argument=True)


@command("explain", ExplainOptions, "explain S104")
def explain_finding(options: ExplainOptions) -> str:
    """Explain a finding: what it says, how it is known, when it is wrong, what to do. Without `code`: list all codes.

    Returns
    -------
    str
        The manual page, or the first line of every page.

    Examples
    --------
    >>> print(iosonde.explain_finding("S104"))
    """
    from .answer import get_page, list_first_lines

    return "\n".join(list_first_lines()) if options.code is None else get_page(options.code)
