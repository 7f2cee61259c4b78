"""Design → ordered trials; trial → Run: prepare, barrier, engine or command, collect."""
