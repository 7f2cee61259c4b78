"""Experiment files: their form, what no schema can tell, and the way to a ``measure.spec.Spec`` and back."""
