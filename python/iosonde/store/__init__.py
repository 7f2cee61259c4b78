"""Append runs and query them. The only room that uses Parquet."""

from .store import Store

__all__ = ["Store"]
