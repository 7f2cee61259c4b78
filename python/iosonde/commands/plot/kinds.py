"""Kinds of figures that ``iosonde plot`` draws."""

BY_SETTINGS = ("settings", "heatmap", "percentiles")
OVER_TIME = "time"
OF_PAGE = ("bars", "latency", "timeline")
PAGE = "page"  # all of OF_PAGE
FACTORS = "factors"
