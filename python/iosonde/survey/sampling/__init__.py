"""Estimates of a population from a sample: sample size, shares, means and totals, with design effects."""
