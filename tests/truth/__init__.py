"""Sentences held against the truth: data with a known answer, every command that says a verdict, and a score."""
