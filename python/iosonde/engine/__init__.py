"""The native engine: the compiled module ``_native``, built from ``rust/`` and described in ``_native.pyi``.

It runs workers and records their operations, removes trees and inspects the page cache. It computes no statistics, and
imports no other room of iosonde.
"""
