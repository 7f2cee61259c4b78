//! What one thread of a walk does just now, so that somebody else can say what does not answer.

use super::tree::Node;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// A thread at work: its number, a count that changes whenever it gets on, and the path, from the root of the walk on,
/// of the directory or entry that it looks at.
pub type ThreadStep = (usize, u64, Vec<u8>);

/// Only its thread writes it, so that counts need no read-modify-write.
#[derive(Default)]
pub struct Slot {
    steps: AtomicU64,
    /// Whether it waits for the tree: not for work, nor for its turn.
    at_work: AtomicBool,
    place: Mutex<Place>,
}

#[derive(Default)]
struct Place {
    directory: Option<Arc<Node>>,
    /// The entry that is looked at; empty: the directory itself.
    name: Vec<u8>,
}

impl Slot {
    pub fn begin(&self, directory: &Arc<Node>) {
        let mut place = self.place();
        place.directory = Some(Arc::clone(directory));
        place.name.clear();
        drop(place);
        self.at_work.store(true, Ordering::Relaxed);
        self.advance();
    }

    pub fn end(&self) {
        self.at_work.store(false, Ordering::Relaxed);
        self.place().directory = None;
    }

    pub fn advance(&self) {
        self.steps.store(self.advanced() + 1, Ordering::Relaxed);
    }

    pub fn advanced(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    pub fn enter(&self, name: &CStr) {
        self.place().name.extend_from_slice(name.to_bytes());
        self.advance();
    }

    pub fn leave(&self) {
        self.place().name.clear();
    }

    /// None where its thread waits for nothing of the tree.
    pub fn step(&self, thread: usize) -> Option<ThreadStep> {
        let steps = self.advanced();
        let place = self.place();
        let directory = place.directory.as_ref().filter(|_| self.at_work.load(Ordering::Relaxed))?;
        let path = directory.path_to(&place.name);
        Some((thread, steps, path))
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(|poison| poison.into_inner())
    }
}
