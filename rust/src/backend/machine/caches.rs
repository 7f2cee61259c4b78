//! Pages that a scripted machine holds.

use std::collections::{BTreeMap, HashMap, HashSet};

pub const PAGE: u64 = 4096;

/// A cache without an end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pages {
    all: bool,
    held: HashSet<u64>,
    /// Brought before anybody asked for them.
    ahead: HashSet<u64>,
}

fn pages_of(offset: u64, bytes: u64) -> std::ops::Range<u64> {
    offset / PAGE..(offset + bytes).div_ceil(PAGE)
}

impl Pages {
    pub fn all() -> Self {
        Self { all: true, ..Self::default() }
    }

    pub fn has(&self, offset: u64, bytes: u64) -> bool {
        self.all || pages_of(offset, bytes).all(|page| self.held.contains(&page))
    }

    /// Bring what is missing; how many bytes that was.
    pub fn add(&mut self, offset: u64, bytes: u64, ahead: bool) -> u64 {
        if self.all {
            return 0;
        }
        let new: Vec<_> = pages_of(offset, bytes).filter(|page| self.held.insert(*page)).collect();
        if ahead {
            self.ahead.extend(&new);
        }
        new.len() as u64 * PAGE
    }

    /// Whether any of these was brought ahead and is used for the first time now.
    pub fn were_ahead(&mut self, offset: u64, bytes: u64) -> bool {
        pages_of(offset, bytes).filter(|page| self.ahead.remove(page)).count() > 0
    }
}

/// What an access found: bytes that were missing, and of these those that had been here before.
pub struct Touched {
    pub missing: u64,
    pub known: u64,
}

/// A cache of so many pages that lets go of the least recently used one.
pub struct Lru {
    capacity: u64,
    clock: u64,
    by_page: HashMap<u64, u64>,
    by_time: BTreeMap<u64, u64>,
    seen: HashSet<u64>,
}

impl Lru {
    pub fn new(capacity: u64) -> Self {
        let (by_page, by_time) = (HashMap::new(), BTreeMap::new());
        Self { capacity: capacity.max(1), clock: 0, by_page, by_time, seen: HashSet::new() }
    }

    /// As after the whole file was read from its begin to its end.
    pub fn hold_last_of(&mut self, file_size: u64) {
        let end = file_size.div_ceil(PAGE);
        (end.saturating_sub(self.capacity)..end).for_each(|page| self.use_page(page));
    }

    pub fn touch(&mut self, offset: u64, bytes: u64) -> Touched {
        let mut touched = Touched { missing: 0, known: 0 };
        for page in pages_of(offset, bytes) {
            if !self.by_page.contains_key(&page) {
                touched.missing += PAGE;
                touched.known += if self.seen.contains(&page) { PAGE } else { 0 };
            }
            self.use_page(page);
        }
        touched
    }

    fn use_page(&mut self, page: u64) {
        self.clock += 1;
        self.seen.insert(page);
        if let Some(before) = self.by_page.insert(page, self.clock) {
            self.by_time.remove(&before);
        }
        self.by_time.insert(self.clock, page);
        if self.by_page.len() as u64 > self.capacity
            && let Some((_, oldest)) = self.by_time.pop_first()
        {
            self.by_page.remove(&oldest);
        }
    }
}
