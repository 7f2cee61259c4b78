//! Where the next operation goes: in a file, or in a worker's buffer. Computed before the clock is read.

use crate::json::{MANY, Whole};
use crate::rng::{Rng, mix};
use serde::{Deserialize, Deserializer};

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// Always the first block.
    Off0,
    Seq,
    /// Uniform over all whole blocks.
    Rnd,
    /// Every whole block once, in a random order that is another one in each sweep.
    Shuffled,
    /// Blocks with `hole` bytes between them, each moved by up to ± `jitter` bytes.
    Stride {
        #[serde(default, deserialize_with = "up_to::<_, { MANY >> 1 }>")]
        hole: u64,
        #[serde(default, deserialize_with = "up_to::<_, { MANY >> 2 }>")]
        jitter: u64,
    },
    /// Uniform over the whole blocks within ± `distance` bytes of the last one.
    RndNear {
        #[serde(deserialize_with = "up_to::<_, MANY>")]
        distance: u64,
    },
    Reverse,
}

fn up_to<'de, D: Deserializer<'de>, const MOST: u64>(reader: D) -> Result<u64, D::Error> {
    Whole::<0, MOST>::deserialize(reader).map(|bytes| bytes.0)
}

/// `size` bytes from `base`, in transfers of `transfer` bytes; `size` >= `transfer` > 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub base: u64,
    pub size: u64,
    pub transfer: u32,
}

impl Pattern {
    /// How many different places the pattern has in a range: a sweep visits each once.
    ///
    /// `seq` and `reverse` cover a last block that is not whole with a shorter transfer; the others leave it out.
    pub fn positions(self, range: Range) -> u64 {
        let transfer = u64::from(range.transfer);
        match self {
            Pattern::Seq | Pattern::Reverse => range.size.div_ceil(transfer),
            Pattern::Stride { hole, .. } => (range.size - transfer) / (transfer + hole) + 1,
            Pattern::Off0 | Pattern::Rnd | Pattern::Shuffled | Pattern::RndNear { .. } => {
                range.size / transfer
            }
        }
    }
}

/// A pattern at work in a range.
#[derive(Clone, Debug)]
pub struct Walk {
    pattern: Pattern,
    range: Range,
    positions: u64,
    /// The number of the next operation modulo `positions`, or, for `RndNear`, the block of the last one.
    at: u64,
    /// Of the order of this sweep, for `Shuffled`.
    key: u64,
    rng: Rng,
}

impl Walk {
    pub fn new(pattern: Pattern, range: Range, rng: Rng) -> Self {
        let mut walk = Self { pattern, range, positions: pattern.positions(range), at: 0, key: 0, rng };
        walk.restart();
        walk
    }

    /// Begin anew (for the next file); random patterns go on with their sequence.
    pub fn restart(&mut self) {
        if self.pattern == Pattern::Shuffled {
            self.key = self.rng.next();
        }
        self.at = match self.pattern {
            Pattern::RndNear { .. } => self.rng.below(self.positions),
            _ => 0,
        };
    }

    /// Offset and length of the next operation.
    #[inline]
    pub fn next(&mut self) -> (u64, u32) {
        let transfer = u64::from(self.range.transfer);
        let (place, length) = match self.pattern {
            Pattern::Off0 => (0, self.range.transfer),
            Pattern::Rnd => (self.rng.below(self.positions) * transfer, self.range.transfer),
            Pattern::Shuffled => (self.shuffled() * transfer, self.range.transfer),
            Pattern::Seq => self.covering(|at, _| at),
            Pattern::Reverse => self.covering(|at, positions| positions - 1 - at),
            Pattern::Stride { hole, jitter } => (self.strided(hole, jitter), self.range.transfer),
            Pattern::RndNear { distance } => {
                let reach = distance / transfer;
                let low = self.at.saturating_sub(reach);
                let high = (self.at + reach).min(self.positions - 1);
                self.at = low + self.rng.below(high - low + 1);
                (self.at * transfer, self.range.transfer)
            }
        };
        (self.range.base + place, length)
    }

    #[inline]
    fn advance(&mut self) -> u64 {
        let at = self.at;
        self.at = if at + 1 == self.positions { 0 } else { at + 1 };
        at
    }

    #[inline]
    fn covering(&mut self, block: impl Fn(u64, u64) -> u64) -> (u64, u32) {
        let at = self.advance();
        let place = block(at, self.positions) * u64::from(self.range.transfer);
        (place, u64::from(self.range.transfer).min(self.range.size - place) as u32)
    }

    fn shuffled(&mut self) -> u64 {
        let block = shuffled(self.advance(), self.positions, self.key);
        if self.at == 0 {
            self.key = self.rng.next();
        }
        block
    }

    fn strided(&mut self, hole: u64, jitter: u64) -> u64 {
        let transfer = u64::from(self.range.transfer);
        let place = self.advance() * (transfer + hole);
        if jitter == 0 {
            return place;
        }
        (place + self.rng.below(2 * jitter + 1)).saturating_sub(jitter).min(self.range.size - transfer)
    }
}

/// Where number `at` of `0..count` stands in the order of `key`; nothing is kept of the others. Four rounds of a balanced
/// Feistel network over the next even number of bits, taken again until it is inside (J. Black and P. Rogaway, "Ciphers
/// with arbitrary finite domains", CT-RSA 2002, LNCS 2271, 114-130).
fn shuffled(at: u64, count: u64, key: u64) -> u64 {
    let half = (u64::BITS - (count - 1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1u64 << half) - 1;
    let mut block = at;
    loop {
        let (mut left, mut right) = (block >> half, block & mask);
        for round in 0..4 {
            (left, right) = (right, left ^ (mix(right ^ mix(key.wrapping_add(round))) & mask));
        }
        block = left << half | right;
        if block < count {
            return block;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn walk(pattern: Pattern, size: u64, transfer: u32, seed: u64) -> Walk {
        Walk::new(pattern, Range { base: 100, size, transfer }, Rng::stream(&[seed]))
    }

    fn offsets(walk: &mut Walk, count: usize) -> Vec<u64> {
        (0..count).map(|_| walk.next().0 - 100).collect()
    }

    #[test]
    fn random_patterns_reach_every_whole_block_and_no_other() {
        for seed in 0..50 {
            for blocks in 1..20u64 {
                for pattern in [Pattern::Rnd, Pattern::RndNear { distance: 16 }] {
                    let mut walk = walk(pattern, blocks * 8 + seed % 8, 8, seed);
                    let seen: BTreeSet<u64> = offsets(&mut walk, 4000).into_iter().collect();
                    assert_eq!(seen, (0..blocks).map(|block| block * 8).collect(), "{pattern:?} seed {seed}");
                }
            }
        }
    }

    #[test]
    fn a_shuffled_sweep_takes_every_whole_block_once_and_the_next_in_another_order() {
        for blocks in 1..70u64 {
            let mut walk = walk(Pattern::Shuffled, blocks * 8 + blocks % 8, 8, blocks);
            let first = offsets(&mut walk, blocks as usize);
            let second = offsets(&mut walk, blocks as usize);
            for sweep in [&first, &second] {
                let seen: BTreeSet<u64> = sweep.iter().copied().collect();
                assert_eq!(seen, (0..blocks).map(|block| block * 8).collect(), "{blocks} blocks");
            }
            if blocks > 20 {
                assert_ne!(first, second, "{blocks} blocks");
            }
        }
    }

    #[test]
    fn each_block_of_a_shuffled_sweep_is_first_equally_often() {
        let mut counts = [0u32; 10];
        for seed in 0..10_000 {
            counts[(offsets(&mut walk(Pattern::Shuffled, 80, 8, seed), 1)[0] / 8) as usize] += 1;
        }
        // Each is binomial, 1000 with a standard deviation of 30: five of them.
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn near_steps_stay_near() {
        let mut walk = walk(Pattern::RndNear { distance: 24 }, 8000, 8, 3);
        let places = offsets(&mut walk, 2000);
        assert!(places.windows(2).all(|pair| pair[0].abs_diff(pair[1]) <= 24));
    }

    #[test]
    fn sequential_and_reverse_cover_the_tail_and_wrap() {
        let mut forward = walk(Pattern::Seq, 20, 8, 0);
        let blocks: Vec<_> = (0..4).map(|_| forward.next()).collect();
        assert_eq!(blocks, [(100, 8), (108, 8), (116, 4), (100, 8)]);
        let mut backward = walk(Pattern::Reverse, 20, 8, 0);
        let blocks: Vec<_> = (0..4).map(|_| backward.next()).collect();
        assert_eq!(blocks, [(116, 4), (108, 8), (100, 8), (116, 4)]);
    }

    #[test]
    fn stride_leaves_holes_and_jitter_stays_in_range() {
        let mut plain = walk(Pattern::Stride { hole: 12, jitter: 0 }, 48, 8, 0);
        assert_eq!(offsets(&mut plain, 4), [0, 20, 40, 0]);
        let mut moved = walk(Pattern::Stride { hole: 12, jitter: 5 }, 48, 8, 9);
        for (turn, place) in offsets(&mut moved, 3000).into_iter().enumerate() {
            let plain = [0, 20, 40][turn % 3];
            assert!(place.abs_diff(plain) <= 5 && place <= 40);
        }
    }

    #[test]
    fn a_walk_restarts_where_it_began() {
        let mut walk = walk(Pattern::Seq, 64, 8, 0);
        offsets(&mut walk, 3);
        walk.restart();
        assert_eq!(offsets(&mut walk, 2), [0, 8]);
    }
}
