"""``python tests/rooms_figure.py`` writes docs/images/rooms.svg: the rooms, drawn from what their modules import.

A room stands above all that it imports. An arrow that follows from others is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import source

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "iosonde"
FIGURE = ROOT / "docs" / "images" / "rooms.svg"
WIDTH, BOX_WIDTH, BOX_HEIGHT, PITCH, TOP = 760, 96, 34, 78, 46
SAID = "Which room imports which, from the top down; a line that follows from others is left out."
INK, LINE, FILL = "#1c1d1f", "#8a8d91", "#f4f4f1"

Rooms = dict[str, set[str]]


def imported() -> Rooms:
    """Room → rooms that its modules import when they run, anywhere in a module."""
    names = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    found: Rooms = {name: set() for name in names}
    for name in names:
        for path in files_of(name):
            for module in _modules(source.tree(path), path):
                found[name] |= {part for part in module.split(".")[1:2] if part in names and part != name}
    return found


def files_of(room: str) -> list[Path]:
    """The modules of a room; the folder of ``iosonde serve`` starts the room ``serve``, and is counted to it."""
    files, server = sorted((PACKAGE / room).rglob("*.py")), sorted((PACKAGE / "commands" / "serve").glob("*.py"))
    return files + server if room == "serve" else [path for path in files if path not in server]


def _modules(node: ast.AST, path: Path) -> Iterator[str]:
    """Dotted names of ours; not those for type checkers."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)):  # no import is in an expression
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names if alias.name.startswith("iosonde."))
        elif isinstance(child, ast.ImportFrom) and (base := _base(child, path)).startswith("iosonde"):
            yield from (f"{base}.{alias.name}" for alias in child.names)
        yield from _modules(child, path)


def _base(node: ast.ImportFrom, path: Path) -> str:
    if not node.level:
        return node.module or ""
    parts = ["iosonde", *path.relative_to(PACKAGE).parts[:-1]]
    return ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])


def reached(rooms: Rooms, name: str) -> set[str]:
    """All that a room imports, or that those import."""
    return rooms[name] | {far for near in rooms[name] for far in reached(rooms, near)}


def arrows(rooms: Rooms) -> list[tuple[str, str]]:
    """Those that do not follow from others."""
    return [
        (name, to)
        for name in sorted(rooms)
        for to in sorted(rooms[name])
        if not any(to in reached(rooms, other) for other in rooms[name] if other != to)
    ]


def layers(rooms: Rooms) -> list[list[str]]:
    """From the top down; in each the rooms in the order of what is above them."""

    def depth(name: str) -> int:
        return 1 + max((depth(other) for other in rooms[name]), default=-1)

    depths = {name: depth(name) for name in rooms}
    found: list[list[str]] = []
    place: dict[str, float] = {}
    drawn = arrows(rooms)
    for level in range(max(depths.values()), -1, -1):
        above = {name: [place[a] for a, b in drawn if b == name] for name in sorted(rooms) if depths[name] == level}
        row = sorted(above, key=lambda name: (sum(above[name]) / len(above[name]) if above[name] else 0.5, name))
        place |= {name: (number + 0.5) / len(row) for number, name in enumerate(row)}
        found.append(row)
    return found


def svg(rooms: Rooms) -> str:
    """The figure."""
    rows = layers(rooms)
    at = {
        name: (WIDTH * (number + 0.5) / len(row), TOP + PITCH * level)
        for level, row in enumerate(rows)
        for number, name in enumerate(row)
    }
    height = TOP + PITCH * (len(rows) - 1) + BOX_HEIGHT + 12
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
            f'font-size="13" fill="{INK}">',
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            f'<text x="10" y="20">{SAID}</text>',
            *(_curve(at[name], at[to]) for name, to in arrows(rooms)),
            *(_box(name, *place) for name, place in sorted(at.items())),
            "</svg>\n",
        ]
    )


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x, top), (to_x, to_y) = start, end
    y = top + BOX_HEIGHT
    bend = (to_y - y) / 2
    return (
        f'<path d="M{x:.0f} {y:.0f}C{x:.0f} {y + bend:.0f} {to_x:.0f} {to_y - bend:.0f} {to_x:.0f} {to_y:.0f}" '
        f'fill="none" stroke="{LINE}" stroke-width="1.2"/>'
    )


def _box(name: str, x: float, y: float) -> str:
    return (
        f'<rect x="{x - BOX_WIDTH / 2:.0f}" y="{y:.0f}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5" '
        f'fill="{FILL}" stroke="{LINE}"/><text x="{x:.0f}" y="{y + 22:.0f}" text-anchor="middle">{name}</text>'
    )


if __name__ == "__main__":
    FIGURE.write_text(svg(imported()), encoding="utf-8")
    print(f"wrote {FIGURE.relative_to(ROOT)}")
