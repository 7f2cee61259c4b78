"""Experiment files: their form, checks beyond the schema, and conversion to a ``measure.spec.Spec`` and back."""
