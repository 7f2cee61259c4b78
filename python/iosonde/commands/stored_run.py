"""A store, or a run of it, as the arguments of a command name them."""

from dataclasses import dataclass

from iosonde.core.options import Text


@dataclass
class StoreOptions:
    """The store that a command is about."""

    store: Text[str] = Text("STORE", "The store.", is_argument=True, is_required=True)


@dataclass
class StoredRunOptions(StoreOptions):
    """A run of a store."""

    run: Text[str] = Text(
        "RUN", "Its id, or a beginning of it that no other run has.", is_argument=True, is_required=True
    )
