//! Somebody else's locks: taken regularly, held for a while.

/// Every `every_ns` all locks are taken away and held for `held_ns`; one lock is of `extent` bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Locks {
    pub every_ns: u64,
    pub held_ns: u64,
    pub extent: u64,
}

impl Locks {
    /// The number of the period, and how long is to be waited until the locks are free again.
    pub fn at(self, now_ns: u64) -> (u64, u64) {
        let into = now_ns % self.every_ns;
        (now_ns / self.every_ns, self.held_ns.min(self.every_ns - 1).saturating_sub(into))
    }
}
