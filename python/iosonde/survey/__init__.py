"""Estimates of the contents of a file tree from a sample: a full walk that draws files, of which few are read."""
