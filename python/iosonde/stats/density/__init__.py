"""How values lie: their density on a logarithmic axis, its hills, and whether these are more than chance."""
