"""What MooseFS's master says of chunk servers and chunks, as `mfscli -n -p -s'|'` prints it."""

from __future__ import annotations

_SERVER, _CLASS = "chunk servers:", "chunkclass "


def connected(text: str) -> set[str]:
    """`-SCS`: addresses of chunk servers that are connected."""
    return {line.split("|")[1] for line in text.splitlines() if line.startswith(f"{_SERVER}|")}


def chunk_classes(text: str) -> dict[str, int]:
    """`-SIC`: missing, endangered, undergoal, stable, overgoal, pending deletion, to be removed → how many chunks."""
    found = {}
    for line in text.splitlines():
        _, name, *count = line.split("|")
        if name.startswith(_CLASS):
            found[name.removeprefix(_CLASS).rstrip(":")] = int(count[0])
    return found
