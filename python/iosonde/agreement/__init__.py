"""Published numbers against measured ones: whether they agree is computed, by one rule a kind of claim."""
