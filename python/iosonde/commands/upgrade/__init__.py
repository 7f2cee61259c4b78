"""``iosonde upgrade``: what to buy, by gain, by money and by watt."""

from iosonde.commands.about import About

ABOUT = About("Decide", 4, "what to buy: gain by money and by watt", ("upgrade",))
