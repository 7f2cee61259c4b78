"""What pages share: their frame, the template environment, strips of figures, and the types of their content."""
