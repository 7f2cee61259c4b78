"""The vocabulary of the tools: one registry of their options, each with the setting that it is in runs.

Importers, bindings of placeholders (``data/bindings.py``), native command lines and the amounts that commands write
(``campaign/amounts/``) read it. One file a tool.
"""

from collections.abc import Mapping

from .dd import DD
from .elbencho import ELBENCHO
from .fio import FIO
from .ior import IOR
from .iozone import IOZONE
from .md_workbench import MD_WORKBENCH
from .mdtest import MDTEST
from .tool import Vocabulary
from .warp import WARP

_ALL = (IOR, MDTEST, FIO, ELBENCHO, IOZONE, DD, MD_WORKBENCH, WARP)
TOOLS: Mapping[str, Vocabulary] = {tool.name: tool for tool in _ALL}

__all__ = ["DD", "ELBENCHO", "FIO", "IOR", "IOZONE", "MDTEST", "MD_WORKBENCH", "TOOLS", "WARP", "Vocabulary"]
