"""What the ranks left → the phases, results and operations of a Run."""
