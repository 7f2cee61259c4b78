"""The page about a store or a table: one module for each of its sections."""
