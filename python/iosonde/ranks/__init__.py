"""Start and synchronise processes: launchers, barrier, clocks, watchdog, machine facts."""
