//! Parts of a tree that have samples of their own: its directories down to a depth, or the files of each owner.

use super::sample::{BottomK, Drawn};
use super::stat::Stat;
use super::totals::Row;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Each keeps samples; of more it would not be said that memory does not grow.
const MOST: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    None,
    /// Each directory so many levels down, and each above it with the files that are in it directly.
    Directory(u32),
    Owner,
}

pub struct Stratum {
    /// From the root of the walk on, or the number of the owner.
    pub name: Vec<u8>,
    row: [AtomicU64; 3],
    kept: Mutex<(BottomK, BottomK)>,
}

impl Stratum {
    fn new(name: Vec<u8>, by_count: usize, by_size: usize) -> Self {
        let kept = Mutex::new((BottomK::new(by_count), BottomK::new(by_size)));
        Self { name, row: Default::default(), kept }
    }

    pub fn row(&self) -> Row {
        [0, 1, 2].map(|column| self.row[column].load(Ordering::Relaxed))
    }

    /// Count a file; it is drawn by these keys (none by size: it has no mass).
    pub fn add(&self, stat: &Stat, by_count: f64, by_size: Option<f64>, file: impl Fn() -> Drawn) {
        for (total, more) in self.row.iter().zip([1, stat.size, stat.allocated]) {
            let _ = total
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |sum| Some(sum.saturating_add(more)));
        }
        let mut kept = self.kept.lock().expect("no thread panics with the lock");
        kept.0.offer(by_count, &file);
        if let Some(key) = by_size {
            kept.1.offer(key, &file);
        }
    }

    /// The samples by count and by size.
    pub fn take(&self) -> (BottomK, BottomK) {
        let mut kept = self.kept.lock().expect("no thread panics with the lock");
        std::mem::replace(&mut *kept, (BottomK::new(0), BottomK::new(0)))
    }
}

pub struct Strata {
    by: By,
    draws: (usize, usize),
    known: Mutex<HashMap<Vec<u8>, Arc<Stratum>>>,
    too_many: AtomicBool,
}

impl Strata {
    pub fn new(by: By, by_count: usize, by_size: usize) -> Self {
        Self { by, draws: (by_count, by_size), known: Mutex::default(), too_many: AtomicBool::new(false) }
    }

    pub fn by_owner(&self) -> bool {
        self.by == By::Owner
    }

    /// Whether a directory at this depth is one of its own.
    pub fn begins_at(&self, depth: u32) -> bool {
        matches!(self.by, By::Directory(deepest) if depth <= deepest)
    }

    /// The one of that name; beyond the most that there may be, None.
    pub fn of(&self, name: &[u8]) -> Option<Arc<Stratum>> {
        let mut known = self.known.lock().expect("no thread panics with the lock");
        if let Some(one) = known.get(name) {
            return Some(Arc::clone(one));
        }
        if known.len() == MOST {
            self.too_many.store(true, Ordering::Relaxed);
            return None;
        }
        let new = Arc::new(Stratum::new(name.to_vec(), self.draws.0, self.draws.1));
        known.insert(name.to_vec(), Arc::clone(&new));
        Some(new)
    }

    pub fn too_many(&self) -> bool {
        self.too_many.load(Ordering::Relaxed)
    }

    /// Those with a file, in the order of their names.
    pub fn all(&self) -> Vec<Arc<Stratum>> {
        let known = self.known.lock().expect("no thread panics with the lock");
        let mut all: Vec<_> = known.values().filter(|one| one.row()[0] > 0).cloned().collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }
}
