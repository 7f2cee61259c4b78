"""``iosonde explain-difference``: why two tools, or two definitions on one run, give different numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from iosonde.core.errors import InputError

if TYPE_CHECKING:
    from iosonde.stats.definitions.difference import Side

SCHEMA = 1


@click.command(epilog="Example: iosonde explain-difference --store results RUN@ior RUN@iozone --operation write_large")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--store", metavar="DIR", help="A and B are runs of this store.")
@click.option(
    "--operation", metavar="A[,B]", help="The operation to compare, where there are several; B's if it differs."
)
@click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")
def command(a: str, b: str, store: str | None, operation: str | None, as_json: bool) -> None:
    """Split the difference between the numbers A and B into named parts that multiply to the whole.

    A and B are each STORE:RUN@TOOL (TOOL: ior, mdtest, iozone, iozone/parent, fio, elbencho, elbencho/first or
    iosonde: its definition, set on recorded operations), STORE:RUN of an import, or a FILE that a tool wrote (FILE#2:
    its third result).
    """
    from iosonde.stats.definitions.difference import split

    from .._sides import WANTED, sides

    of_a, of_b = sides(a, store), sides(b, store)
    found = [split(one, other, WANTED) for one, other in _pairs(of_a, of_b, operation)]
    if as_json:
        from .._difference_text import document
        from .show import print_json

        print_json({"schema": SCHEMA, "differences": [document(one) for one in found]})
        return
    from .._difference_text import lines

    for number, one in enumerate(found):
        if number:
            click.echo("")
        for line in lines(one):
            click.echo(line)


def _pairs(of_a: dict[str, Side], of_b: dict[str, Side], operation: str | None) -> list[tuple[Side, Side]]:
    if operation is not None:
        name_a, _, name_b = operation.partition(",")
        pairs = [(_chosen(of_a, name_a, "A"), _chosen(of_b, name_b or name_a, "B"))]
    elif len(of_a) == len(of_b) == 1:
        pairs = [(next(iter(of_a.values())), next(iter(of_b.values())))]
    else:
        pairs = [(side, of_b[name]) for name, side in of_a.items() if name in of_b]
    if not pairs:
        raise InputError(
            f"A and B have no operation of one name: A has {', '.join(of_a)}; B has {', '.join(of_b)}",
            "name one of each: --operation A,B",
        )
    for one, other in pairs:
        if one.unit != other.unit:
            raise InputError(
                f"{one.operation} of A is in {one.unit}, {other.operation} of B in {other.unit}",
                "choose two of one kind with --operation A,B",
            )
    return pairs


def _chosen(sides: dict[str, Side], name: str, which: str) -> Side:
    if name not in sides:
        raise InputError(f"{which} has no operation '{name}'", f"there are: {', '.join(sides)}")
    return sides[name]
