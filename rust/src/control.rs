//! What the threads of a session share while a phase runs: no locks in the timed loop.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// On a cache line of its own: each worker counts without disturbing the others.
#[repr(align(128))]
#[derive(Default)]
struct Counter(AtomicU64);

pub struct Control {
    stop: AtomicBool,
    done: Vec<Counter>,
    running: AtomicUsize,
    bell: (Mutex<()>, Condvar),
}

impl Control {
    pub fn new(workers: usize) -> Self {
        Self {
            stop: AtomicBool::new(false),
            done: (0..workers).map(|_| Counter::default()).collect(),
            running: AtomicUsize::new(0),
            bell: Default::default(),
        }
    }

    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    #[inline(always)]
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub fn set_done(&self, worker: usize, operations: u64) {
        self.done[worker].0.store(operations, Ordering::Relaxed);
    }

    pub fn operations_done(&self) -> u64 {
        self.done.iter().map(|counter| counter.0.load(Ordering::Relaxed)).sum()
    }

    /// Before the workers of a phase start.
    pub fn begin(&self, workers: usize) {
        self.stop.store(false, Ordering::Relaxed);
        self.running.store(workers, Ordering::Release);
    }

    /// Called by each worker when it is through, also when it panics.
    pub fn end_worker(&self) {
        self.running.fetch_sub(1, Ordering::AcqRel);
        let _held = self.bell.0.lock();
        self.bell.1.notify_all();
    }

    /// Wait until all workers are through, but not longer than `patience`; true if they are.
    pub fn wait(&self, patience: Duration) -> bool {
        let through = || self.running.load(Ordering::Acquire) == 0;
        if let Ok(guard) = self.bell.0.lock() {
            let _ = self.bell.1.wait_timeout_while(guard, patience, |()| !through());
        }
        through()
    }
}
