"""What the answers of several commands share: caveats, families of tests, cells, learned models, single operations."""
