"""Code that runs on a node: one rank of a trial, its phases, its commands, its caches."""
