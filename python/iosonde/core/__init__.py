"""The words of the house: types, units, table schemas, errors. Imports nothing else of ours."""
