"""A file opened through MPI-IO: modes, hints, views, moves, and errors, with a library that records its calls."""

from types import SimpleNamespace

import pytest

from iosonde.ranks.mpi_io import SharedFile
from messages import raises


class MpiError(Exception):
    """An exception of the library."""

    def Get_error_string(self):  # noqa: N802
        return "no  such\nhint"


class Library:
    """The few names of mpi4py that are used; every call is recorded."""

    MODE_RDWR, MODE_RDONLY, Exception = "rdwr", "rdonly", MpiError

    def __init__(self, fails=""):
        self.calls, self.fails, self.hints = [], fails, {}
        self.Info = SimpleNamespace(Create=lambda: self.build("info", Set=self.hints.__setitem__))
        self.BYTE = self.build("byte", Create_contiguous=lambda n: self.type(f"block {n}"))
        self.File = SimpleNamespace(Open=self.open)
        self.Status = lambda: SimpleNamespace(Get_count=lambda unit: 7 if unit is self.BYTE else 0)

    def build(self, name, /, **members):
        return SimpleNamespace(Free=self.record("free", name), **members)

    def record(self, name, *subject):
        def call(*words):
            self.calls.append((name, *subject, *words))
            if name == self.fails:
                raise MpiError

        return call

    def type(self, name):
        resized = lambda low, extent: self.type(f"{name} in {low}..{extent}")  # noqa: E731
        return self.build(name, name=name, Create_resized=resized, Commit=self.record("commit", name))

    def open(self, communicator, path, mode, info):
        self.record("open")(communicator, path, mode, dict(self.hints))
        names = list(self.hints)
        effective = self.build(
            "hints", Get_nkeys=lambda: len(names), Get_nthkey=names.__getitem__, Get=lambda name: f"{self.hints[name]} "
        )
        moves = {name: self.record(name) for name in ("Read_at", "Read_at_all", "Write_at", "Write_at_all")}
        view = lambda base, unit, kind, how: self.record("view")(base, unit is self.BYTE, kind.name, how)  # noqa: E731
        return SimpleNamespace(
            Get_info=lambda: effective, Set_view=view, Sync=self.record("sync"), Close=self.record("close"), **moves
        )


def open_file(library, writes=True, **hints):
    return SharedFile(SimpleNamespace(library=lambda: (library, "world")), "/t/f", writes, hints)


@pytest.mark.parametrize(("writes", "mode"), [(True, "rdwr"), (False, "rdonly")])
def test_a_file_is_opened_with_its_mode_and_hints(writes, mode):
    library = Library()
    file = open_file(library, writes, cb_nodes="2", striping="4")
    expected = {"cb_nodes": "2", "striping": "4"}
    assert library.calls == [("open", "world", "/t/f", mode, expected), ("free", "info")]
    assert file.hints() == expected
    assert library.calls[-1] == ("free", "hints")


def test_a_view_is_pieces_with_holes_between_them():
    library = Library()
    open_file(library).view(5, 10, 30)
    spaced = "block 10 in 0..40"
    assert library.calls[2:] == [
        ("commit", spaced),
        ("view", 5, True, spaced, "native"),
        ("free", spaced),
        ("free", "block 10"),
    ]


@pytest.mark.parametrize(
    ("kind", "collective", "name"),
    [
        ("read", False, "Read_at"),
        ("read", True, "Read_at_all"),
        ("write", False, "Write_at"),
        ("write", True, "Write_at_all"),
    ],
)
def test_a_move_is_the_library_s_call_and_its_count_of_bytes(kind, collective, name):
    library = Library()
    assert open_file(library).move(kind, 9, "buffer", collective) == 7
    assert library.calls[-1][:3] == (name, 9, "buffer")


@pytest.mark.parametrize(
    ("fails", "operation"),
    [
        ("open", "open of /t/f"),
        ("view", "file view"),
        ("Read_at", "read"),
        ("sync", "sync"),
        ("close", "close"),
    ],
)
def test_an_error_of_the_library_is_one_of_the_system(fails, operation):
    with raises("io-error", operation=operation, reason="no such hint"):
        file = open_file(Library(fails))
        file.view(0, 1, 1)
        file.move("read", 0, b"", False)
        file.sync()
        file.close()
