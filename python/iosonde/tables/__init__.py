"""Tables in files as people have them: cells and units, no meaning of columns."""
