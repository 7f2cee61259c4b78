"""Kinds of files by their first bytes, as their specifications have them."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

from iosonde.survey.magic import detect_kind

HDF5 = b"\x89HDF\r\n\x1a\n"


def bgzf(content: bytes) -> bytes:
    """A block as ``bgzip`` writes it: gzip with the field BC."""
    plain = gzip.compress(content, mtime=0)
    return plain[:3] + b"\x04" + plain[4:10] + struct.pack("<H2sHH", 6, b"BC", 2, len(plain) + 7) + plain[10:]


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"CDF\x01" + bytes(20), "NetCDF classic"),
        (b"CDF\x02" + bytes(20), "NetCDF 64-bit offset"),
        (b"CDF\x05" + bytes(20), "NetCDF CDF-5"),
        (HDF5 + bytes(40), "HDF5"),
        (bytes(1024) + HDF5, "HDF5"),
        (HDF5 + bytes(400) + b"_NCProperties", "NetCDF-4"),
        (b"GRIB\0\0\x10\x01", "GRIB 1"),
        (b"GRIB\xff\xff\0\x02", "GRIB 2"),
        (b"SIMPLE  =                    T", "FITS"),
        (b"root\0\0\xf6\x1a", "ROOT"),
        (b"roots of a tree, and more", "text"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"ARROW1\0\0", "Arrow"),
        (b"\x93NUMPY\x01\0", "NumPy"),
        (bytes(128) + b"DICM", "DICOM"),
        (b"II*\0\x08\0", "TIFF"),
        (b"##fileformat=VCFv4.2\n", "VCF"),
        (bgzf(b"BAM\x01rest"), "BAM"),
        (bgzf(b"##fileformat=VCFv4.2"), "BGZF"),
        (gzip.compress(b"x", mtime=0), "gzip"),
        (b"\x1f\x8b", "gzip"),
        (b"\xa7\r\r\n\0\0\0\0abcd", "Python bytecode"),
        (b"ab\r\nab\r\n", "text"),
        ("Grüße\n".encode(), "text"),
        ("Grüße".encode()[:3], "text"),
        ("Grüße".encode("latin-1"), "other"),
        (b"a\x00b", "other"),
        (bytes(512), "only zeros"),
        (np.random.default_rng(0).bytes(300), "other"),
    ],
)
def test_the_kind_of_a_head(head, kind):
    assert detect_kind(head, 10_000) == kind


def test_a_file_without_a_byte():
    assert detect_kind(b"", 0) == "empty"


def test_a_piece_of_zarr_is_known_by_what_lies_beside_it():
    noise = b"\x02\x01\x21\x08" + bytes(range(128, 200))
    assert detect_kind(noise, 99, b"0.0.12", lambda name: name == b".zarray") == "Zarr"
    assert detect_kind(noise, 99, b"0.0.12", lambda name: False) == "other"
    assert detect_kind(noise, 99, b"data.bin", lambda name: True) == "other"


def test_no_head_is_too_much():
    random = np.random.default_rng(5)
    for length in range(300):
        assert detect_kind(random.bytes(length), 500)
