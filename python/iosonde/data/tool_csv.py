"""Whether a file may be another tool's output, before any importer is loaded: by its name, and the header of a .csv."""

from pathlib import Path

from .content import get_suffix, is_pipe
from .tables import TABLE_SUFFIXES

_HEADERS = (
    b"ISO date,label,path type,",  # elbencho
    b"Label,Phase,RuntimeMS,",  # elbencho, live
    b"access,rank,runtime-with-openclose,",  # IOR, each rank
    b"access,bw(MiB/s),",  # IOR
    b"rank,items,rate-",  # mdtest, each rank
)


def may_be_tool_output(name: str) -> bool:
    """Return whether importers are to look at the file: not at tables of other programs."""
    if (suffix := get_suffix(name)) not in TABLE_SUFFIXES:
        return is_pipe(name) or Path(name).is_file()
    if suffix != ".csv" or not Path(name).is_file():
        return False
    with Path(name).open("rb") as file:
        return file.read(64).startswith(_HEADERS)
