"""Where processes come from and how they keep step: launchers, barrier, clocks, watchdog, machine facts."""
