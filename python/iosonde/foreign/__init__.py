"""Access to directory trees that belong to others: targets, surveyed trees, imported files, what is removed.

Such a tree may hang, lie, change or lead elsewhere. ``child`` does in a process of its own what may hang; ``removal``
never leaves its tree; ``reading`` takes regular files alone, and all bytes that they promise; ``walking`` follows no
link.
"""
