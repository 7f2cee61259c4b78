"""A look at a mount in production: a few operations on small files that no recent look touched."""
