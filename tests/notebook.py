"""Notebooks that are run and compared: ``python tests/notebook.py FILE…`` records what their cells say now.

Text is compared exactly; of a figure only that it is there, for letters are as wide as the machine's fonts make them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

TIMEOUT_S = 120


def executed(path: Path) -> nbformat.NotebookNode:
    """The notebook, run from its first cell to its last where it lies, in a kernel of its own that speaks by a socket
    in a scratch directory and reads nobody's profile."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    with tempfile.TemporaryDirectory() as scratch:
        manager = KernelManager(transport="ipc", connection_file=f"{scratch}/kernel.json")
        client = NotebookClient(
            notebook,
            manager,
            timeout=TIMEOUT_S,
            record_timing=False,
            resources={"metadata": {"path": str(path.parent)}},
        )
        try:
            return client.execute(env={**os.environ, "IPYTHONDIR": scratch})
        finally:
            manager.shutdown_kernel(now=True)


def shown(notebook: nbformat.NotebookNode) -> list[tuple[str, list[Any]]]:
    """(source, outputs) of every cell of code: the text of an output, or that it is a figure."""
    return [(cell.source, [_shown(one) for one in cell.outputs]) for cell in notebook.cells if cell.cell_type == "code"]


def _shown(output: nbformat.NotebookNode) -> Any:
    if output.output_type == "stream":
        return output.name, output.text
    data = output.get("data", {})
    return "a figure" if "image/svg+xml" in data else data.get("text/plain", output.get("traceback"))


def record(path: Path) -> None:
    """Write what the cells say now into the notebook; of a figure its SVG, which is seen without a kernel."""
    notebook = executed(path)
    for output in (one for cell in notebook.cells for one in cell.get("outputs", ()) if "data" in one):
        output.data = {kind: text for kind, text in output.data.items() if not kind.startswith("application/")}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        record(Path(name))
