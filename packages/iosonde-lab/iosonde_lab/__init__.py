"""Labs: emulated clusters with real file systems on them. ``api`` has what others use of it; nothing is loaded here."""
