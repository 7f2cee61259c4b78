"""IOzone 3.x. A size without a letter is in KiB."""

from .tool import ValueKind, Vocabulary, count, declare_others, flag, path, size

_KIB = 1024

IOZONE = Vocabulary(
    "iozone",
    (
        size("file_size", "s", unit=_KIB),
        size("record_size", "r", unit=_KIB),
        count("ranks", "t"),
        count("stride_records", "j", is_read=True),
        count("percent_read", "+p"),
        flag("direct", "I", is_read=True),
        flag("sync", "o", is_read=True),
        path("f"),
        path("F", has_list=True),
        *declare_others("n g y q", ValueKind.SIZE),
        *declare_others("b H i J k l u L P S U V X Y +A +m"),
        *declare_others(
            "a A B c C D e E G K m M N O p Q R T v w W x z Z +B +d +D +E +l +L +n +N +q +r +T +u",
            ValueKind.FLAG,
        ),
    ),
)
