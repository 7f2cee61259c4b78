"""How a rate grows with the number of nodes: laws with intervals, where they break, and what they say beyond."""
