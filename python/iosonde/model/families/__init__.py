"""The kinds of models, each a module: ``NAME``, ``fit(examples, options, seed) -> form``, ``predict(form, x) -> y``.

A form is plain JSON data that a person can read; a prediction is computed from it by our own few lines, so that
loading a model executes nothing.
"""
