"""The native engine: the compiled module ``_native``, made from ``rust/`` and described in ``_native.pyi``.

It runs workers and records their operations, removes trees and looks at the page cache. It knows no statistics, and
imports nothing of ours.
"""
