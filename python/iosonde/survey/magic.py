"""Kind of a file by its first bytes: formats of science, archives, programs, images, text; else ``other``.

The magic numbers are those of the formats' own specifications. Names are ignored, except for the chunks of a Zarr
array, which have no magic number: neighbouring files identify them.
"""

import re
import zlib
from collections.abc import Callable

HEAD_BYTES = 8192
LONG_HEAD_BYTES = 65_536  # enough to contain the marks of NetCDF-4 in an HDF5 file
OTHER, TEXT, ZEROS, EMPTY = "other", "text", "only zeros", "empty"

_GZIP = b"\x1f\x8b"
_HDF5 = b"\x89HDF\r\n\x1a\n"
_USER_BLOCKS = (0, 512, 1024, 2048, 4096)
_IN_NETCDF4 = (b"_NCProperties", b"_Netcdf4Dimid", b"_Netcdf4Coordinates", b"_nc3_strict", b"_NCCOPY")
# (offset, mark, kind): the first match counts.
_MARKS: tuple[tuple[int, bytes, str], ...] = (
    (0, b"CDF\x01", "NetCDF classic"),
    (0, b"CDF\x02", "NetCDF 64-bit offset"),
    (0, b"CDF\x05", "NetCDF CDF-5"),
    (0, b"SIMPLE  =", "FITS"),
    (0, b"PAR1", "Parquet"),
    (0, b"ARROW1", "Arrow"),
    (0, b"FEA1", "Feather"),
    (0, b"ORC", "ORC"),
    (0, b"Obj\x01", "Avro"),
    (0, b"\x93NUMPY", "NumPy"),
    (0, b"BUFR", "BUFR"),
    (0, b"MATLAB 5.0 MAT-file", "MATLAB 5"),
    (0, b"CRAM", "CRAM"),
    (0, b"##fileformat=VCF", "VCF"),
    (128, b"DICM", "DICOM"),
    (0, b"II*\0", "TIFF"),
    (0, b"MM\0*", "TIFF"),
    (0, b"II+\0", "BigTIFF"),
    (0, b"MM\0+", "BigTIFF"),
    (0, b"\x0e\x03\x13\x01", "HDF4"),
    (0, b"# vtk DataFile", "VTK"),
    (0, b"PK\x03\x04", "zip"),
    (0, b"PK\x05\x06", "zip"),
    (0, b"BZh", "bzip2"),
    (0, b"\xfd7zXZ\0", "xz"),
    (0, b"\x28\xb5\x2f\xfd", "zstd"),
    (0, b"\x04\x22\x4d\x18", "lz4"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z"),
    (0, b"Rar!\x1a\x07", "rar"),
    (257, b"ustar", "tar"),
    (0, b"070701", "cpio"),
    (0, b"!<arch>\n", "ar"),
    (0, b"\xed\xab\xee\xdb", "rpm"),
    (0, b"\x7fELF", "ELF"),
    (0, b"MZ", "PE"),
    (0, b"\xca\xfe\xba\xbe", "Java class"),
    (0, b"\0asm", "WebAssembly"),
    (0, b"\x89PNG\r\n\x1a\n", "PNG"),
    (0, b"\xff\xd8\xff", "JPEG"),
    (0, b"GIF8", "GIF"),
    (8, b"WEBP", "WebP"),
    (8, b"WAVE", "WAVE"),
    (8, b"AVI ", "AVI"),
    (4, b"ftyp", "MP4"),
    (0, b"OggS", "Ogg"),
    (0, b"\x1a\x45\xdf\xa3", "Matroska"),
    (0, b"fLaC", "FLAC"),
    (0, b"%PDF-", "PDF"),
    (0, b"%!PS", "PostScript"),
    (0, b"SQLite format 3\0", "SQLite"),
    (0, b"PACK\0\0\0", "git pack"),
    (0, b"\xfftOc", "git index"),
    (0, b"QFI\xfb", "qcow2"),
    (0, b"wOF2", "font"),
    (0, b"\0\x01\0\0\0", "font"),
    (0, b"OTTO", "font"),
)
_CONTROLS = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_ZARR_PIECE = re.compile(rb"(?:c[./])?\d+(?:[./]\d+)*$")


def detect_kind(head: bytes, size: int, name: bytes = b"", has_neighbor: Callable[[bytes], bool] | None = None) -> str:
    """Return the kind of a file of this size and head. ``has_neighbor`` returns whether its directory has a file of a
    name."""
    if not size:
        return EMPTY
    if head.startswith(_GZIP):
        return _classify_gzip(head)
    if needs_long_head(head):
        return "NetCDF-4" if any(mark in head for mark in _IN_NETCDF4) else "HDF5"
    if head.startswith(b"GRIB") and len(head) > 7:
        return f"GRIB {head[7]}" if head[7] in (1, 2) else "GRIB"
    if head.startswith(b"root") and len(head) > 7 and 0 < int.from_bytes(head[4:8], "big") < 2_000_000:
        return "ROOT"
    if head[2:4] == b"\r\n" and head[5:8] == bytes(3) and head[4:5] < b"\x04":
        return "Python bytecode"
    if kind := next((kind for where, mark, kind in _MARKS if head.startswith(mark, where)), None):
        return kind
    if has_neighbor and _ZARR_PIECE.match(name) and any(map(has_neighbor, (b".zarray", b"zarr.json"))):
        return "Zarr"
    if not head.strip(b"\0"):
        return ZEROS
    return TEXT if _is_text(head, size) else OTHER


def needs_long_head(head: bytes) -> bool:
    """Return whether a longer head decides between HDF5 and NetCDF-4."""
    return any(head.startswith(_HDF5, where) for where in _USER_BLOCKS)


def _classify_gzip(head: bytes) -> str:
    """Tell BGZF files of genomics from plain gzip by their first block."""
    if len(head) < 18 or not head[3] & 4 or head[12:14] != b"BC":
        return "gzip"
    try:
        first = zlib.decompressobj(31).decompress(head, 64)
    except zlib.error:
        return "gzip"
    return "BAM" if first.startswith(b"BAM\x01") else "BCF" if first.startswith(b"BCF") else "BGZF"


def _is_text(head: bytes, size: int) -> bool:
    """Return whether it is UTF-8 without control characters that text lacks; the last character may be cut."""
    if _CONTROLS.search(head):
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.end == len(head) < size and error.reason == "unexpected end of data"
    return True
