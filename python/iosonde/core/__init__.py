"""Shared vocabulary: types, units, table schemas, errors. Imports no other room of iosonde."""
