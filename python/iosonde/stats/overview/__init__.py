"""Rows → cells → the summary that the terminal and the page show, and the same numbers computed a second time."""
