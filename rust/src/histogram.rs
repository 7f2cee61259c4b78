//! A log-linear histogram of durations: 64 buckets per octave, so a bucket is at most 1/64 (1.6 %) wide; below
//! 64 ns every ns has its own. Two histograms are merged by adding (the layout of HdrHistogram, Tene 2012).

const SUB_BITS: u32 = 6;
const SUB: u64 = 1 << SUB_BITS;
/// Durations are stored in 48 bits.
const MAX_BITS: u32 = 48;
pub const BUCKETS: usize = ((MAX_BITS - SUB_BITS + 1) as usize) << SUB_BITS;

#[inline]
pub fn bucket_of(duration_ns: u64) -> usize {
    let value = duration_ns.min((1 << MAX_BITS) - 1);
    if value < SUB {
        return value as usize;
    }
    let shift = 63 - SUB_BITS - value.leading_zeros();
    (((shift as usize) + 1) << SUB_BITS) + ((value >> shift) - SUB) as usize
}

/// The least duration that falls into a bucket; for `BUCKETS`, the upper end of the last one.
pub fn lower_edge_ns(bucket: usize) -> u64 {
    let octave = bucket >> SUB_BITS;
    if octave == 0 {
        return bucket as u64;
    }
    (SUB + (bucket as u64 & (SUB - 1))) << (octave - 1)
}

#[derive(Clone)]
pub struct Histogram(Vec<u64>);

impl Default for Histogram {
    fn default() -> Self {
        Self(vec![0; BUCKETS])
    }
}

impl Histogram {
    #[inline]
    pub fn add(&mut self, duration_ns: u64) {
        self.0[bucket_of(duration_ns)] += 1;
    }

    /// Bucket numbers and counts of the buckets that hold something.
    pub fn filled(&self) -> (Vec<u32>, Vec<u64>) {
        self.0.iter().enumerate().filter(|&(_, &n)| n > 0).map(|(bucket, &n)| (bucket as u32, n)).unzip()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn every_bucket_begins_where_the_one_before_ends_and_is_narrow() {
        for bucket in 0..BUCKETS {
            let (low, high) = (lower_edge_ns(bucket), lower_edge_ns(bucket + 1));
            assert_eq!((bucket_of(low), bucket_of(high - 1)), (bucket, bucket));
            assert!(high - low == 1 || ((high - low) as f64) < 0.02 * low as f64);
        }
        assert_eq!(lower_edge_ns(BUCKETS), 1 << MAX_BITS);
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn adding_two_histograms_equals_one_over_both() {
        let mut rng = Rng::stream(&[7]);
        let (mut left, mut right, mut both) =
            (Histogram::default(), Histogram::default(), Histogram::default());
        for turn in 0..5000 {
            let value = rng.next() >> (rng.below(60) as u32);
            both.add(value);
            if turn % 3 == 0 { left.add(value) } else { right.add(value) }
        }
        let sum: Vec<u64> = left.0.iter().zip(&right.0).map(|(a, b)| a + b).collect();
        assert_eq!(sum, both.0);
        assert_eq!(both.filled().1.iter().sum::<u64>(), 5000);
    }
}
