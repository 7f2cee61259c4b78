"""Parquet files that no store wrote: somebody's table of measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.core.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


def read_parquet(path: Path) -> pa.Table:
    """The table in ``path``. Raises DataError if it is no Parquet file or is damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        first = str(error).splitlines()[0] if str(error) else "it cannot be read"
        raise DataError(f"{path} is not a whole Parquet file: {first}", "was it copied to its end?") from error
