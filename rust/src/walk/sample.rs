//! Drawing files in one pass, by any number of threads, with the same result for the same seed and tree: each file has
//! a random number that follows from the seed and its inode, and the smallest keys are drawn.
//!
//! Key = that number: simple random sampling without replacement. Key = the number ÷ size: priority sampling, in which
//! a file larger than the threshold is certain (Duffield, Lund, Thorup, Journal of the ACM 54(6), 2007).

use super::stat::Stat;
use super::tree::Node;
use crate::rng::{GOLDEN, mix};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ffi::{CStr, CString};
use std::sync::Arc;

/// A number of (0, 1) that a seed gives to an inode.
pub fn chance(seed: u64, device: u64, inode: u64) -> f64 {
    let mixed = mix(mix(mix(seed.wrapping_add(GOLDEN)) ^ device).wrapping_add(GOLDEN) ^ inode);
    ((mixed >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

pub struct Drawn {
    pub stat: Stat,
    node: Arc<Node>,
    name: CString,
}

impl Drawn {
    pub fn new(node: &Arc<Node>, name: &CStr, stat: &Stat) -> Self {
        Self { stat: *stat, node: Arc::clone(node), name: name.into() }
    }

    /// From the root of the walk on.
    pub fn path(&self) -> Vec<u8> {
        self.node.path_of(&self.name)
    }
}

struct Kept {
    key: f64,
    file: Drawn,
}

impl Kept {
    /// Equal numbers are told apart by what does not depend on the order of threads.
    fn order(&self) -> (f64, u64, u64) {
        (self.key, self.file.stat.device, self.file.stat.inode)
    }
}

impl Ord for Kept {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.order(), other.order());
        a.0.total_cmp(&b.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2)))
    }
}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Kept {}

/// The files with the smallest keys, one more than was asked for: its key is the threshold.
pub struct BottomK {
    most: usize,
    kept: BinaryHeap<Kept>,
}

impl BottomK {
    pub fn new(asked: usize) -> Self {
        Self { most: if asked == 0 { 0 } else { asked.saturating_add(1) }, kept: BinaryHeap::new() }
    }

    #[inline]
    pub fn offer(&mut self, key: f64, file: impl FnOnce() -> Drawn) {
        if self.kept.len() < self.most || self.kept.peek().is_some_and(|largest| key <= largest.key) {
            self.keep(Kept { key, file: file() });
        }
    }

    pub fn add(&mut self, other: Self) {
        other.kept.into_iter().for_each(|one| self.keep(one));
    }

    fn keep(&mut self, one: Kept) {
        self.kept.push(one);
        if self.kept.len() > self.most {
            self.kept.pop();
        }
    }

    /// (key, file), the smallest first.
    pub fn into_drawn(self) -> Vec<(f64, Drawn)> {
        self.kept.into_sorted_vec().into_iter().map(|one| (one.key, one.file)).collect()
    }
}
