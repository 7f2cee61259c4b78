"""Text, figures, HTML page: lay out what they are given, compute nothing."""
