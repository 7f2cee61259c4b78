"""IO500: keys of its ini file, by section. Its factors are those of the easy phases."""

from collections.abc import Mapping

from .tool import ToolOption, count, size, word

INI_KEYS: Mapping[str, tuple[ToolOption, ...]] = {
    "ior-easy": (size("transfer_size", "transferSize"), size("block_size", "blockSize"), word("api", "API")),
    "mdtest-easy": (count("items_per_rank", "n"),),
}
