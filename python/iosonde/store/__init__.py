"""Append Runs, ask questions. The only room that knows DuckDB and Parquet."""

from .store import Store

__all__ = ["Store"]
