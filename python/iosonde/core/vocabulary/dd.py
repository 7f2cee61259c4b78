"""dd. It prints none of its settings."""

from .tool import Style, ValueKind, Vocabulary, declare_others, path, size

DD = Vocabulary(
    "dd",
    (
        path("of"),
        size("", "bs"),
        *declare_others("count seek skip ibs obs cbs", ValueKind.SIZE),
        *declare_others("if conv iflag oflag status"),
    ),
    Style.OPERANDS,
)
