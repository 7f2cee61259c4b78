//! Placeholder until the queue is there.
