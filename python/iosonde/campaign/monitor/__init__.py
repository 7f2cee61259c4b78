"""A monitor: looks at a mount in production for weeks, each kept as a run."""
