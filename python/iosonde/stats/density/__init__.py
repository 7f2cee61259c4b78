"""Density of values on a logarithmic axis, its modes, and their significance."""
