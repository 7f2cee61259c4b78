"""An importer for toybench, which prints lines like `toybench: write 12.5 MB/s`."""

from iosonde.importers import CERTAIN, Claim, Parsed, Row

NAME = "toybench"


def claims(text):
    found = text.find("toybench: ")
    return Claim(CERTAIN, *found) if found else None


def parse(text):
    run = Parsed(version="1")
    for at, line in text.numbered():
        if line.startswith("toybench: "):
            _, operation, value, _ = line.split()
            run.rows.append(Row(operation, "bandwidth_last_done", float(value) * 1e6, "bytes/s", at))
    return [run]
