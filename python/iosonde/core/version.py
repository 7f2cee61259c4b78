"""The version of iosonde, as in `--version`, every run and every machine's facts."""

__version__ = "0.1.0"
