"""A forked rank takes over files, words and environment of its request, also where the kernel shows them."""

from __future__ import annotations

import ctypes
import os
import sys

import pytest

from iosonde.ranks import forked, forked_program
from iosonde.ranks.processes import WATCHDOG_VARIABLE

TOKEN = "boot:ns:1:2:00000000000000000347"


@pytest.mark.parametrize("token", [TOKEN, "b:n:10:20:9", "w:00001"])
def test_the_token_of_a_rank_replaces_the_whole_placeholder(tmp_path, monkeypatch, token):
    descriptors = []
    monkeypatch.setattr(os, "dup2", lambda _, number: descriptors.append(number))
    monkeypatch.setattr(sys, "argv", ["program", "module", "3"])
    monkeypatch.setattr(os, "environ", {"STALE": "1"})
    entry = ctypes.create_string_buffer(forked.create_unused_token(token).encode() + b"\0NEXT=kept")
    request = {
        "files": [str(tmp_path / "out"), str(tmp_path / "err")],
        "arguments": ["a", "b"],
        "environment": {WATCHDOG_VARIABLE: token, "MARK": "m"},
    }
    forked_program._take_over(request, ctypes.addressof(entry))
    assert entry.raw == token.encode() + b"\0NEXT=kept\0"
    assert os.environ == {WATCHDOG_VARIABLE: token, "MARK": "m"}
    assert sys.argv == ["program", "a", "b"]
    assert descriptors == [1, 2]
    assert (tmp_path / "out").exists() and (tmp_path / "err").exists()


def test_a_placeholder_is_as_long_as_the_token_and_belongs_to_no_trial():
    expected = "boot:ns:1:2:00000000000000000000"
    assert forked.create_unused_token(TOKEN) == expected
    assert forked.create_unused_token("w:7") == "w:0"


def test_an_entry_of_the_environment_is_found_by_its_whole_name(monkeypatch):
    monkeypatch.setenv("IOSONDE_ENTRY_LONGER", "no")
    monkeypatch.setenv("IOSONDE_ENTRY", "yes=1")
    address = forked_program._find_environment_entry("IOSONDE_ENTRY")
    assert address is not None and ctypes.string_at(address) == b"yes=1"
    assert forked_program._find_environment_entry("IOSONDE_ENT") is None
