"""Access to directory trees of other owners: targets, surveyed trees, imported files, trees to remove.

Such a tree may hang, lie, change or lead elsewhere. ``child`` runs in its own process whatever may hang. ``removal``
never leaves its tree. ``reading`` accepts only regular files, and checks that they are complete. ``walking`` follows no
link.
"""
