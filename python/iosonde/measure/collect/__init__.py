"""The ranks' spooled files → the phases, results and operations of a Run."""
