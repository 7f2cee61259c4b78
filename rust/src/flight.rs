//! Operations in flight: which buffer region each one uses, and what was begun in it.

use crate::backend::{Completion, Request};
use crate::plan::Planned;

/// An operation that was started.
#[derive(Clone, Copy)]
pub struct Begun {
    pub planned: Planned,
    pub request: Request,
    pub start_ns: u64,
}

pub struct Flight {
    begun: Vec<Option<Begun>>,
    free: Vec<usize>,
    /// Of the operations in flight: only one step's may overlap.
    pub stage: u64,
    /// Memory that is used again for every look at the queue.
    pub done: Vec<Completion>,
}

impl Flight {
    pub fn new(depth: usize) -> Self {
        Self {
            begun: vec![None; depth],
            free: (0..depth).rev().collect(),
            stage: 0,
            done: Vec::with_capacity(depth),
        }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.begun.len() - self.free.len()
    }

    /// A region that nobody uses; there is one while `len()` is below the depth.
    pub fn free_region(&self) -> usize {
        *self.free.last().expect("the queue is not full")
    }

    pub fn add(&mut self, region: usize, stage: u64, begun: Begun) {
        let taken = self.free.pop();
        debug_assert_eq!(taken, Some(region));
        self.stage = stage;
        self.begun[region] = Some(begun);
    }

    pub fn remove(&mut self, region: usize) -> Begun {
        self.free.push(region);
        self.begun[region].take().expect("a completion of something begun")
    }
}
