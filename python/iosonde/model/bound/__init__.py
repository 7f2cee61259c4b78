"""The analytic ceiling of a system: what limits a transfer, and what share of the bound was delivered."""
