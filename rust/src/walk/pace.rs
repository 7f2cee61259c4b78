//! Not more looks at entries a second than asked, over all threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const NAP: Duration = Duration::from_millis(100);

pub struct Pace {
    every: Duration,
    next: Mutex<Instant>,
}

impl Pace {
    /// `rate` looks a second; 0: no limit.
    pub fn new(rate: u32) -> Option<Self> {
        (rate > 0).then(|| Self { every: Duration::from_secs(1) / rate, next: Mutex::new(Instant::now()) })
    }

    /// Wait for one's turn, or until it is stopped. Turns that nobody took are lost: no bursts.
    pub fn wait(&self, stop: &AtomicBool) {
        let turn = {
            let mut next = self.next.lock().expect("no thread panics with the lock");
            let turn = (*next).max(Instant::now());
            *next = turn + self.every;
            turn
        };
        while !stop.load(Ordering::Relaxed) {
            let left = turn.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(NAP));
        }
    }
}
