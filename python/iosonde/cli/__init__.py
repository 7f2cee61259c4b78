"""One file per command: the only place that prints, asks or exits."""
