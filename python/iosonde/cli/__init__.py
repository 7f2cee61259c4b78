"""The terminal: parsers made from the declared options, progress, output; the only place that prints."""
