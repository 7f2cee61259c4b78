"""Least squares and analysis of variance: fits, their assumptions, contrasts."""
