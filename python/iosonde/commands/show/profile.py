"""What the columns of DATA are, as ``iosonde show DATA`` shows it."""

from dataclasses import dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.column_roles import ColumnRole
from iosonde.core.data_profile import Profile
from iosonde.data.source import Source


@dataclass(frozen=True)
class ShownProfile(Answer):
    """The profile of DATA called ``name``, with the number of its rows."""

    name: str
    n_rows: int
    profile: Profile

    @property
    def responses(self) -> tuple[str, ...]:
        """Return the columns that were measured."""
        return tuple(column.name for column in self.profile.columns if column.role is ColumnRole.RESPONSE)

    def content(self) -> dict[str, Any]:
        """As ``iosonde show DATA --profile --json``."""
        return {
            "data": self.name,
            "rows": self.n_rows,
            "profile": self.profile.to_json(),
            "warnings": list(self.profile.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per column."""
        rows: list[dict[str, Any]] = self.profile.to_json()["columns"]
        return [{**row, "together": ",".join(row["together"]), "follows": ",".join(row["follows"])} for row in rows]


def show_profile(source: Source) -> ShownProfile:
    """Return the profile of opened DATA. Raises InputError, DataError."""
    return ShownProfile(source.name, len(source.table), source.profile)
