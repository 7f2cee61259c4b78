"""Values in, Estimates out; findings about data; stopping rules. Reads no file."""
