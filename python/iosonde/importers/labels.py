"""Labels that launchers and log collectors put before every line: its rank, its time, a quote."""

import re

# Each with the number of lines needed to accept it.
_LABELS = (
    # mpirun --tag-output, with and without the host
    (re.compile(r"^\[\d+,\d+\](?:\[[^\]\n]*\])?<std(?:out|err|diag)>: ?", re.MULTILINE), 1),
    # kubectl logs --timestamps
    (re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)? ", re.MULTILINE), 1),
    (re.compile(r"^> ?", re.MULTILINE), 2),  # a mail
    # srun -l; md-workbench's --process-reports begin so, too
    (re.compile(r"^ *\d+: ?+(?!(?:precreate|benchmark|cleanup) (?:process max:\S+ rate:|\d))", re.MULTILINE), 3),
    (re.compile(r"^\[\d+\] ?", re.MULTILINE), 3),  # mpiexec -prepend-rank
)
_LOOKED_AT = 200  # lines
_MOST_HAVE = 0.8


def strip_labels(text: str) -> tuple[str, str]:
    """Return (text, the first removed label; '' if there are none). Most of the first lines must have one."""
    first = [line for line in text[: 1 << 16].split("\n")[:_LOOKED_AT] if line.strip()]
    for pattern, least in _LABELS:
        having = [match.group() for line in first if (match := pattern.match(line))]
        if len(having) >= max(least, _MOST_HAVE * len(first)):
            return pattern.sub("", text), having[0].strip()
    return text, ""
