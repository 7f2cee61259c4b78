"""A user's request in terms of the options: not yet checked; None means the value of a file or a default."""

from __future__ import annotations

from dataclasses import dataclass, field

from iosonde.core.option_words import RepeatableOptions

from .options import (
    CacheOptions,
    DesignOptions,
    EnvelopeOptions,
    ExperimentOptions,
    ExtentOptions,
    LauncherOptions,
    LimitOptions,
    PairOptions,
    SubjectOptions,
    TurnOptions,
)


@dataclass
class Request(  # fields of the last base come first
    TurnOptions,
    LimitOptions,
    CacheOptions,
    EnvelopeOptions,
    ExperimentOptions,
    LauncherOptions,
    ExtentOptions,
    PairOptions,
    DesignOptions,
    SubjectOptions,
    RepeatableOptions,
):
    """The options of ``iosonde run`` (docs/commands/run.md). Sizes in bytes, times in seconds.

    ``in_lab``: the caller brings up the lab of the file.
    """

    in_lab: bool = field(default=False, kw_only=True)
