"""Append Runs, ask questions. The only room that knows DuckDB and Parquet."""
