"""Summaries of a trial's operations: classes, sums, places, common properties of slow ones, data for plots."""
