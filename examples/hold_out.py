"""Sets whole settings of a table aside: python hold_out.py DATA.csv COLUMN,… SHARE SEED

Writes learn.csv and judge.csv. All repeats of a setting go to one of them, so that a model which learned from the
first has seen nothing of the second.
"""

import csv
import random
import sys


def main(data: str, columns: str, share: str, seed: str) -> None:
    with open(data, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    places = [head.index(name) for name in columns.split(",")]
    setting = [tuple(row[place] for place in places) for row in rows]
    settings = sorted(set(setting))
    aside = set(random.Random(int(seed)).sample(settings, round(float(share) * len(settings))))
    for name, wanted in (("learn.csv", False), ("judge.csv", True)):
        with open(name, "w", newline="", encoding="utf-8") as file:
            kept = [row for row, its in zip(rows, setting, strict=True) if (its in aside) is wanted]
            csv.writer(file).writerows([head, *kept])
    print(f"{len(settings) - len(aside)} settings to learn from, {len(aside)} set aside")


main(*sys.argv[1:])
