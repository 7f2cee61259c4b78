//! What is kept of every operation: 32 bytes into memory that was touched before the clock starts.
//!
//! Up to the budget every operation is kept. Beyond it the buffer becomes a uniform sample (reservoir sampling,
//! algorithm L: Li, "Reservoir-sampling algorithms of time complexity O(n(1+log(N/n)))", ACM TOMS 1994), and what
//! leaves it, or never enters it, goes into exact totals and histograms. What stays is added to them at the end, so
//! that the timed loop does no more than store a record.

use crate::buffer::fits_memory;
use crate::error::{Error, Result};
use crate::histogram::Histogram;
use crate::kind::{Kind, NAMES};
use crate::rng::Rng;

pub const STATUS_OK: u8 = 0;
/// An errno that does not fit below the two codes that follow.
pub const STATUS_OTHER: u8 = 249;
/// Fewer bytes than asked for, no errno.
pub const STATUS_SHORT: u8 = 250;
/// Verification: the content is not what was written.
pub const STATUS_MISMATCH: u8 = 251;

/// start_ns, offset, packed (kind 0-7, status 8-15, duration_ns 16-63), size (0-31) and file (32-63):
/// `iosonde.core.schema.RECORD`.
pub type Record = [u64; 4];

const DURATION_MAX_NS: u64 = (1 << 48) - 1;

#[inline(always)]
pub fn pack(
    kind: Kind,
    status: u8,
    start_ns: u64,
    duration_ns: u64,
    offset: u64,
    size: u32,
    file: u32,
) -> Record {
    [
        start_ns,
        offset,
        kind as u64 | u64::from(status) << 8 | duration_ns.min(DURATION_MAX_NS) << 16,
        u64::from(size) | u64::from(file) << 32,
    ]
}

/// Exact sums of one kind of operation.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Total {
    pub count: u64,
    pub bytes: u64,
    pub errors: u64,
    pub first_start_ns: u64,
    pub last_end_ns: u64,
    pub sum_duration_ns: u64,
}

/// What one worker did in one phase, ready to be handed over.
pub struct Recording {
    pub operations: Vec<Record>,
    pub complete: bool,
    pub totals: Vec<(Kind, Total)>,
    /// Empty when `operations` is complete.
    pub histograms: Vec<(Kind, Histogram)>,
}

pub struct Recorder {
    records: Vec<Record>,
    capacity: usize,
    enabled: bool,
    seen: u64,
    /// The next operation (counted by `seen`) that enters the sample, and algorithm L's weight.
    next_in_sample: u64,
    weight: f64,
    rng: Rng,
    totals: Vec<Total>,
    histograms: Vec<Option<Histogram>>,
    kinds: [Kind; NAMES.len()],
}

impl Recorder {
    pub fn new(capacity: usize, enabled: bool, rng: Rng) -> Result<Self> {
        let capacity = if enabled { capacity } else { 0 };
        let mut records: Vec<Record> = Vec::new();
        let bytes = capacity.saturating_mul(size_of::<Record>());
        if !fits_memory(bytes) || records.try_reserve_exact(capacity).is_err() {
            return Err(Error::os(libc::ENOMEM, format!("{capacity} records")));
        }
        touch(&mut records);
        Ok(Self {
            records,
            capacity,
            enabled,
            seen: 0,
            next_in_sample: 0,
            weight: 1.0,
            rng,
            totals: vec![Total::default(); NAMES.len()],
            histograms: vec![None; NAMES.len()],
            kinds: std::array::from_fn(|index| {
                Kind::from_name(NAMES[index]).expect("every kind has its name")
            }),
        })
    }

    pub fn enabled(&self) -> bool {
        self.enabled
    }

    #[inline(always)]
    pub fn push(&mut self, record: Record) {
        self.seen += 1;
        if self.records.len() < self.capacity {
            self.records.push(record);
        } else {
            self.push_beyond_budget(record);
        }
    }

    /// Counts without times, for `record=False`.
    #[inline(always)]
    pub fn count_only(&mut self, kind: Kind, size: u32, failed: bool) {
        let total = &mut self.totals[kind as usize];
        total.count += 1;
        total.errors += u64::from(failed);
        if kind.is_data() {
            total.bytes += u64::from(size);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_beyond_budget(&mut self, record: Record) {
        if self.capacity == 0 {
            return self.sum(&record, true);
        }
        if self.next_in_sample == 0 {
            self.next_in_sample = self.capacity as u64;
            self.skip();
        }
        if self.seen == self.next_in_sample {
            let slot = self.rng.below(self.capacity as u64) as usize;
            let evicted = std::mem::replace(&mut self.records[slot], record);
            self.sum(&evicted, true);
            self.skip();
        } else {
            self.sum(&record, true);
        }
    }

    fn skip(&mut self) {
        self.weight *= (self.rng.unit().ln() / self.capacity as f64).exp();
        let gap = (self.rng.unit().ln() / (1.0 - self.weight).ln()).floor();
        self.next_in_sample = self.next_in_sample.saturating_add(1).saturating_add(gap as u64);
    }

    fn sum(&mut self, record: &Record, into_histogram: bool) {
        let kind = (record[2] & 0xff) as usize;
        let status = (record[2] >> 8 & 0xff) as u8;
        let duration_ns = record[2] >> 16;
        let total = &mut self.totals[kind];
        if total.count == 0 || record[0] < total.first_start_ns {
            total.first_start_ns = record[0];
        }
        total.count += 1;
        total.errors += u64::from(status != STATUS_OK);
        total.last_end_ns = total.last_end_ns.max(record[0] + duration_ns);
        total.sum_duration_ns += duration_ns;
        if self.kinds[kind].is_data() {
            total.bytes += record[3] & 0xffff_ffff;
        }
        if into_histogram {
            self.histograms[kind].get_or_insert_default().add(duration_ns);
        }
    }

    /// Close the books: nothing can be pushed any more. Gives back the memory that was not used.
    pub fn finish(&mut self) -> Recording {
        let complete = self.enabled && self.seen <= self.capacity as u64;
        let mut operations = std::mem::take(&mut self.records);
        for record in &operations {
            self.sum(record, !complete);
        }
        if !complete {
            operations.sort_unstable_by_key(|record| record[0] + (record[2] >> 16));
        }
        operations.shrink_to_fit();
        let kinds = self.kinds;
        let totals =
            std::mem::take(&mut self.totals).into_iter().enumerate().filter(|(_, total)| total.count > 0);
        let histograms = std::mem::take(&mut self.histograms).into_iter().enumerate();
        Recording {
            operations,
            complete,
            totals: totals.map(|(kind, total)| (kinds[kind], total)).collect(),
            histograms: histograms.filter_map(|(kind, found)| Some((kinds[kind], found?))).collect(),
        }
    }
}

/// Make the kernel give us the pages now: a first touch inside the timed loop doubles a cached read.
fn touch(records: &mut Vec<Record>) {
    const PAGE: usize = 4096 / size_of::<Record>();
    let spare = records.spare_capacity_mut();
    for index in (0..spare.len()).step_by(PAGE) {
        // SAFETY: inside the spare capacity; volatile, so that the store is not optimised away.
        unsafe { std::ptr::write_volatile(spare[index].as_mut_ptr(), [0; 4]) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(number: u64) -> Record {
        pack(Kind::Read, 0, 1000 + number, number % 977, number, 4096, 3)
    }

    #[test]
    fn packs_every_field_in_its_place() {
        let record = pack(Kind::Unlink, 28, 7, 9, 11, u32::MAX, 13);
        assert_eq!(record, [7, 11, Kind::Unlink as u64 | 28 << 8 | 9 << 16, 0xffff_ffff | 13 << 32]);
        assert_eq!(pack(Kind::Read, 0, 0, u64::MAX, 0, 0, 0)[2] >> 16, DURATION_MAX_NS);
    }

    #[test]
    fn within_the_budget_everything_is_kept() {
        let mut recorder = Recorder::new(100, true, Rng::stream(&[1])).unwrap();
        (0..100).for_each(|number| recorder.push(operation(number)));
        let recording = recorder.finish();
        assert!(recording.complete && recording.histograms.is_empty());
        assert_eq!(recording.operations, (0..100).map(operation).collect::<Vec<_>>());
        assert_eq!(recording.totals[0].1.bytes, 409_600);
    }

    #[test]
    fn beyond_the_budget_totals_and_histograms_are_exact() {
        for capacity in [0, 1, 10] {
            let mut small = Recorder::new(capacity, true, Rng::stream(&[2])).unwrap();
            let mut large = Recorder::new(1000, true, Rng::stream(&[2])).unwrap();
            let mut expected = Histogram::default();
            for number in 0..1000 {
                small.push(operation(number));
                large.push(operation(number));
                expected.add(number % 977);
            }
            let (small, large) = (small.finish(), large.finish());
            assert!(!small.complete && large.complete);
            assert_eq!(small.operations.len(), capacity);
            assert_eq!(small.totals, large.totals);
            assert_eq!(small.histograms[0].1.filled(), expected.filled());
        }
    }

    #[test]
    fn the_sample_is_uniform() {
        // 4000 samples of 10 out of 100: each operation is expected 400 times, sd 19.
        let mut taken = [0u32; 100];
        for seed in 0..4000 {
            let mut recorder = Recorder::new(10, true, Rng::stream(&[seed])).unwrap();
            (0..100).for_each(|number| recorder.push(operation(number)));
            recorder.finish().operations.iter().for_each(|record| taken[record[1] as usize] += 1);
        }
        assert_eq!(taken.iter().sum::<u32>(), 40_000);
        let chi2: f64 = taken.iter().map(|&n| (f64::from(n) - 400.0).powi(2) / 400.0).sum();
        assert!(chi2 < 99.0 * 1.6, "chi2 {chi2} with 99 degrees of freedom: {taken:?}");
    }
}
