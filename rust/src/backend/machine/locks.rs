//! Somebody else's locks: taken regularly, held for a while.

use super::Bytes;
use crate::json::Whole;
use serde::Deserialize;

type Ns<const DEFAULT: u64> = Whole<1, { 1 << 40 }, DEFAULT>;

/// Every `every_ns` all locks are taken away and held for `held_ns`; one lock is of `extent` bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Locks {
    every_ns: Ns<2_000_000>,
    held_ns: Ns<300_000>,
    pub extent: Bytes<{ 1 << 20 }>,
}

impl Locks {
    /// The number of the period, and how long is to be waited until the locks are free again.
    pub fn at(self, now_ns: u64) -> (u64, u64) {
        let (every_ns, held_ns) = (self.every_ns.0, self.held_ns.0);
        (now_ns / every_ns, held_ns.min(every_ns - 1).saturating_sub(now_ns % every_ns))
    }
}
