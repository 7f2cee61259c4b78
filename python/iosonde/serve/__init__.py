"""Stores in a browser, read-only: ``guard`` says who may ask, ``server`` answers HTTP, ``shelf`` holds the stores with
their index, ``pages/`` makes of an address an answer, and of it HTML by the templates in ``assets/``.
"""

from __future__ import annotations

from iosonde.core.on_demand import modules_of

__getattr__ = modules_of(__name__)
