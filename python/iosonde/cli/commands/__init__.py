"""One file a command: options → one call → print. ``cli/main.py`` finds them by their name."""
