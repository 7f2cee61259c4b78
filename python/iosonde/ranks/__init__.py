"""Where processes come from and how they keep step: launchers, barrier, gather, clocks, watchdog, machine facts."""
