"""The version of iosonde: what `--version`, every run and every machine's facts name."""

__version__ = "0.1.0"
