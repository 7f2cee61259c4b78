"""What a page is about: DATA and its selection, cells, terms, hardware, choices; the command that asks for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from iosonde.commands.advise.for_page import Choosing
from iosonde.core.questions import DeclaredQuestion
from iosonde.data.query import LAST_DONE, ResponseQuery
from iosonde.store import Store


@dataclass(frozen=True)
class ReportQuery:
    """Options of a page. ``response``: of a table; for a store it makes a table of its rows. ``by``: columns of the
    cells. ``on``: terms of the regressions, by default what varies. ``bound``: the hardware, as
    ``servers=4,net=117MB/s``, or a probe. ``choosing``: settings to choose from. ``clock``: of a store's rates;
    ``metric``: its metrics. ``again``: the command that reproduces the page. ``part``: the selected runs of DATA, a
    store, if not all. ``questions``: questions to a store, None: those of its experiment. ``constraints``: restrictions
    on suggested settings."""

    data: str
    response: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    by: tuple[str, ...] | None = None
    bound: str | None = None
    choosing: Choosing | None = None
    experiment: str | None = None
    where: tuple[str, ...] = ()
    level: float = 0.95
    clock: str = LAST_DONE
    metric: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    part: Store | None = None
    questions: Sequence[DeclaredQuestion] | None = None
    constraints: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)

    @property
    def cells(self) -> ResponseQuery:
        """Return the query of its cells."""
        return ResponseQuery(self.response, self.by or (), self.clock, self.level, self.metric)

    def list_campaign_options(self) -> list[str]:
        """Return the given options that only the page of a campaign has."""
        words = {
            "by": self.by,
            "bound": self.bound,
            "choose": self.choosing,
            "questions": self.questions,
            "constraint": self.constraints,
        }
        return [word for word, value in words.items() if value]

    def with_command(self, output: str, questions: str = "") -> "ReportQuery":
        """Return it with the command that reproduces its page; ``questions``: the file that they were read from."""
        choosing = self.choosing or Choosing(())
        texts: dict[str, Sequence[str | None]] = {
            "response": [",".join(self.response)],
            "on": [",".join(self.on)],
            "by": [",".join(self.by or ())],
            "bound": [self.bound],
            "choose": [",".join(choosing.choose)],
            "given": [",".join(choosing.workload_columns or ())],
            "current": [_join_pairs(choosing.current or {})],
            "metric": [",".join(self.metric)],
            "questions": [questions],
            "roles": [_join_pairs(self.roles)],
            "experiment": [self.experiment],
            "clock": [self.clock if self.clock != LAST_DONE else ""],
            "level": [f"{self.level:g}" if self.level != 0.95 else ""],
            "where": self.where,
            "constraint": self.constraints,
        }
        words = [word for name, some in texts.items() for text in some if text for word in (f"--{name}", text)]
        return replace(self, again=("iosonde", "report", self.data, "-o", output, *words))


def _join_pairs(values: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in values.items())
