//! Monotonic time in ns, and what it costs to read it.

/// CLOCK_MONOTONIC now, through the vDSO (no system call where the kernel's clock source is the TSC).
#[inline(always)]
pub fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; CLOCK_MONOTONIC always exists on Linux, so the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Cost of one reading in ns: the least of several averages, because what disturbs it only adds.
pub fn cost_ns() -> f64 {
    const READINGS: u32 = 2000;
    (0..9)
        .map(|_| {
            let first = monotonic_ns();
            for _ in 1..READINGS {
                std::hint::black_box(monotonic_ns());
            }
            (monotonic_ns() - first) as f64 / f64::from(READINGS)
        })
        .fold(f64::INFINITY, f64::min)
}

/// Sleep while the time is far, spin the last part: a sleeper wakes tens of microseconds late.
/// Returns early with `false` when `give_up` says so.
pub fn wait_until(time_ns: u64, give_up: impl Fn() -> bool) -> bool {
    const SPIN_NS: u64 = 200_000;
    const LONGEST_SLEEP_NS: u64 = 20_000_000;
    loop {
        let now = monotonic_ns();
        if now >= time_ns {
            return true;
        }
        if give_up() {
            return false;
        }
        let left = time_ns - now;
        if left > SPIN_NS {
            std::thread::sleep(std::time::Duration::from_nanos((left - SPIN_NS).min(LONGEST_SLEEP_NS)));
        } else {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_and_gives_up() {
        let goal = monotonic_ns() + 300_000;
        assert!(wait_until(goal, || false));
        assert!(monotonic_ns() >= goal);
        assert!(!wait_until(monotonic_ns() + 10_000_000_000, || true));
        assert!(cost_ns() > 0.0);
    }
}
