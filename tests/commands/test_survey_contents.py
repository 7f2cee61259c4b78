"""What is measured of the bytes of drawn files: codecs both ways, entropy, zeros, blocks met before."""

from __future__ import annotations

import os
import random

import pytest

from iosonde.commands.survey.content import count_blocks
from iosonde.core.errors import InputError
from iosonde.survey import codecs, contents
from iosonde.survey.codecs import find_codec, normalize_codec_name
from iosonde.survey.contents import BLOCK_BYTES, Contents, LookOptions, Piece, measure_contents
from iosonde.survey.walk import WalkOptions, files_from_drawn, walk_tree


def looked(root, names=("zstd:3",)):
    drawn = walk_tree(WalkOptions(str(root), 0, 100)).by_count
    handle = os.open(root, os.O_PATH)
    try:
        return {file.path: measure_contents(handle, file, LookOptions(names, 1)) for file in files_from_drawn(drawn)}
    finally:
        os.close(handle)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("zstd", "zstd:3"),
        ("ZSTD:19", "zstd:19"),
        ("lz4", "lz4:0"),
        ("zlib", "gzip:6"),
        ("bz2:1", "bzip2:1"),
        ("lzma", "xz:6"),
    ],
)
def test_a_codec_gives_back_what_it_got(text, name):
    assert normalize_codec_name(text) == name
    one = find_codec(name)
    for data in (b"", b"a", b"ab" * 70_000, random.Random(1).randbytes(10_000)):
        assert one.unpack(one.pack(data)) == data


@pytest.mark.parametrize("text", ["", "lz5", "zstd:0", "zstd:23", "zstd:x", "gzip:10", "zstd:3:4", "\x1b[31m"])
def test_a_codec_that_is_not_there(text):
    with pytest.raises(InputError):
        normalize_codec_name(text)


def test_bytes_of_which_everything_is_known(tmp_path):
    (tmp_path / "zeros").write_bytes(bytes(2 * BLOCK_BYTES))
    (tmp_path / "all").write_bytes(bytes(range(256)) * 64)
    (tmp_path / "two").write_bytes(b"ab" * BLOCK_BYTES + b"ba" * 10)
    found = {name: one.pieces[0] for name, one in looked(tmp_path, ("zstd:3", "lz4:0")).items()}
    assert (found[b"zeros"].entropy, found[b"zeros"].zeros, found[b"zeros"].digests) == (0.0, 2, b"")
    assert found[b"all"].entropy == pytest.approx(8.0)
    assert (found[b"two"].blocks, found[b"two"].zeros) == (2, 0)
    assert found[b"two"].entropy == pytest.approx(1.0)
    for one in found.values():
        assert all(size < one.size / 10 for size in one.compressed.values())
        assert min(*one.cpu_s.values(), *one.unpack_s.values()) >= 0


def test_blocks_met_before_are_counted_over_files_but_zeros_are_not(tmp_path):
    block, other = os.urandom(BLOCK_BYTES), os.urandom(BLOCK_BYTES)
    (tmp_path / "a").write_bytes(block + other)
    (tmp_path / "b").write_bytes(bytes(BLOCK_BYTES) + block + b"tail")
    (tmp_path / "c").write_bytes(b"short")
    found = count_blocks(looked(tmp_path).values())
    assert found.to_json() == {"read": 4, "zeros": 1, "met_before": 1}
    assert count_blocks([Contents("text")]).to_json() == {"read": 0, "zeros": 0, "met_before": 0}


def test_a_codec_that_gives_back_other_bytes_is_not_believed(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"abc" * 100)
    broken = codecs.Codec("zstd:3", lambda data: data, lambda data: data[::-1])
    monkeypatch.setattr(contents, "find_codec", lambda name: broken)
    (found,) = looked(tmp_path).values()
    assert (found.why, found.pieces) == ("failed", ())


def test_empty_files_and_holes_are_not_packed(tmp_path):
    (tmp_path / "empty").touch()
    os.truncate(os.open(tmp_path / "hole", os.O_CREAT | os.O_WRONLY), 1 << 20)
    found = looked(tmp_path)
    assert found[b"empty"] == Contents("empty")
    assert (found[b"hole"].why, found[b"hole"].pieces) == ("released", ())


def test_pieces_are_compared_as_values():
    one = Piece(1, 0, 0, b"", 0.0, {}, {}, {})
    assert one == Piece(1, 0, 0, b"", 0.0, {}, {}, {})
