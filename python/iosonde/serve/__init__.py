"""Stores in a browser, read-only. ``guard`` checks access, ``server`` answers HTTP, ``shelf`` holds the stores with
their index, ``pages/`` turns an address into an answer, and into HTML by the templates in ``assets/``."""
