"""Networks of queues, closed and open, and the wait for the slowest rank."""
