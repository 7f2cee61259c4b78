"""Plug-ins for iosonde that few need; ``pyproject.toml`` lists them as entry points."""
