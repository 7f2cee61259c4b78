"""Amounts: the bytes and files that commands of known tools write, from their options. One file a tool.

A tool's function returns an upper bound, or raises UnknownAmountError: an amount is never guessed.
"""
