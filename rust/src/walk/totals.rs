//! What is counted of every file: three numbers for each row of a table, files, bytes and allocated bytes.

use super::stat::Stat;
use std::collections::{BTreeMap, HashMap};

/// Directories under which file systems show what they were.
pub const SNAPSHOTS: [&str; 3] = [".snapshot", ".zfs", ".snap"];
/// Ages below so many days, and one row more for what is older.
pub const AGE_EDGES_DAYS: [i64; 8] = [1, 7, 30, 90, 365, 730, 1825, 3650];
const DAY_S: i64 = 86_400;
/// Rows of sizes: 0, then one for each number of binary digits.
pub const SIZES: usize = 65;
pub const AGES: usize = AGE_EDGES_DAYS.len() + 1;
/// The last row holds what is deeper.
pub const DEPTHS: usize = 65;

pub type Row = [u64; 3];

pub struct Totals {
    pub whole: Row,
    pub empty: u64,
    /// Files without a block that have a size: released to an archive, nothing but a hole, or kept in the inode.
    pub released: Row,
    pub directories: u64,
    pub links: u64,
    pub others: u64,
    /// Further names of files that were counted.
    pub hard_links: u64,
    pub links_unchecked: u64,
    /// Files with names that are not in the tree.
    pub linked_elsewhere: u64,
    pub vanished: u64,
    pub unreadable_directories: u64,
    pub unknown_entries: u64,
    pub mounts: u64,
    pub snapshots: [u64; SNAPSHOTS.len()],
    pub deepest: u32,
    pub sizes: [Row; SIZES],
    pub modified: [Row; AGES],
    pub accessed: [Row; AGES],
    pub depths: [Row; DEPTHS],
    pub owners: HashMap<u32, Row>,
    /// Of directories and entries that could not be looked at.
    pub errors: BTreeMap<i32, u64>,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            whole: [0; 3],
            empty: 0,
            released: [0; 3],
            directories: 0,
            links: 0,
            others: 0,
            hard_links: 0,
            links_unchecked: 0,
            linked_elsewhere: 0,
            vanished: 0,
            unreadable_directories: 0,
            unknown_entries: 0,
            mounts: 0,
            snapshots: [0; SNAPSHOTS.len()],
            deepest: 0,
            sizes: [[0; 3]; SIZES],
            modified: [[0; 3]; AGES],
            accessed: [[0; 3]; AGES],
            depths: [[0; 3]; DEPTHS],
            owners: HashMap::new(),
            errors: BTreeMap::new(),
        }
    }
}

/// At u64::MAX a sum stays: only sizes that no disk holds add up to more.
fn sum(row: &mut Row, other: &Row) {
    row.iter_mut().zip(other).for_each(|(total, more)| *total = total.saturating_add(*more));
}

fn sums(rows: &mut [Row], others: &[Row]) {
    rows.iter_mut().zip(others).for_each(|(row, other)| sum(row, other));
}

fn age_row(then_s: i64, now_s: i64) -> usize {
    let days = now_s.saturating_sub(then_s).div_euclid(DAY_S);
    AGE_EDGES_DAYS.iter().position(|&edge| days < edge).unwrap_or(AGE_EDGES_DAYS.len())
}

impl Totals {
    pub fn file(&mut self, stat: &Stat, depth: u32, now_s: i64) {
        let row = [1, stat.size, stat.allocated];
        sum(&mut self.whole, &row);
        sum(&mut self.sizes[(u64::BITS - stat.size.leading_zeros()) as usize], &row);
        sum(&mut self.modified[age_row(stat.modified_s, now_s)], &row);
        sum(&mut self.accessed[age_row(stat.accessed_s, now_s)], &row);
        sum(&mut self.depths[(depth as usize).min(DEPTHS - 1)], &row);
        sum(self.owners.entry(stat.owner).or_default(), &row);
        if stat.size == 0 {
            self.empty += 1;
        } else if stat.allocated == 0 {
            sum(&mut self.released, &row);
        }
    }

    pub fn directory(&mut self, depth: u32) {
        self.directories += 1;
        self.deepest = self.deepest.max(depth);
    }

    pub fn unreadable_directory(&mut self, errno: i32) {
        match errno {
            libc::ENOENT => self.vanished += 1,
            _ => self.unreadable_directories += 1,
        }
        *self.errors.entry(errno).or_default() += 1;
    }

    pub fn unknown_entry(&mut self, errno: i32) {
        self.unknown_entries += 1;
        *self.errors.entry(errno).or_default() += 1;
    }

    pub fn add(&mut self, other: Totals) {
        sum(&mut self.whole, &other.whole);
        sum(&mut self.released, &other.released);
        self.empty += other.empty;
        self.directories += other.directories;
        self.links += other.links;
        self.others += other.others;
        self.hard_links += other.hard_links;
        self.links_unchecked += other.links_unchecked;
        self.vanished += other.vanished;
        self.unreadable_directories += other.unreadable_directories;
        self.unknown_entries += other.unknown_entries;
        self.mounts += other.mounts;
        self.deepest = self.deepest.max(other.deepest);
        self.snapshots.iter_mut().zip(other.snapshots).for_each(|(one, more)| *one += more);
        sums(&mut self.sizes, &other.sizes);
        sums(&mut self.modified, &other.modified);
        sums(&mut self.accessed, &other.accessed);
        sums(&mut self.depths, &other.depths);
        for (owner, row) in other.owners {
            sum(self.owners.entry(owner).or_default(), &row);
        }
        for (errno, count) in other.errors {
            *self.errors.entry(errno).or_default() += count;
        }
    }
}
