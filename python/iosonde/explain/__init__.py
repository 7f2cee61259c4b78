"""From models and bounds to words: what limits, which setting to choose, what an upgrade would bring."""
