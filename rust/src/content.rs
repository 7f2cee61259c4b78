//! What is written, and how it is known again.
//!
//! Every 8-byte word of a file is a function of (seed, name of the file, offset), so that any read of any size can
//! be checked, by another rank, without keeping what was written. Where a share is to compress away, that share of
//! each 4 KiB of the file is zeros.

use crate::json::{Number, Share};
#[cfg(feature = "python")]
use crate::rng::hash;
use crate::rng::{GOLDEN, Rng, mix};
use serde::Deserialize;

const BLOCK: u64 = 4096;
const WORD: u64 = 8;
const WORDS_PER_BLOCK: u64 = BLOCK / WORD;

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    Zeros,
    #[default]
    Incompressible,
    /// The share that compresses away.
    Compressible(Share),
}

#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    key: u64,
    /// So many words of each block are random, the others zero.
    random_words: u64,
}

impl Stamp {
    pub fn new(content: Content, key: u64) -> Self {
        let random_words = match content {
            Content::Zeros => 0,
            Content::Incompressible => WORDS_PER_BLOCK,
            Content::Compressible(Number(share)) => ((1.0 - share) * WORDS_PER_BLOCK as f64).round() as u64,
        };
        Self { key, random_words }
    }

    /// Of what is verified: the seed of the workload, and the hash of the file's name as the workload spells it.
    pub fn of_file(content: Content, seed: u64, name_hash: u64) -> Self {
        Self::new(content, Rng::stream(&[seed, name_hash]).next())
    }

    #[inline]
    fn word(self, index: u64) -> [u8; 8] {
        let random = index % WORDS_PER_BLOCK < self.random_words;
        (if random { mix(self.key.wrapping_add(index.wrapping_mul(GOLDEN))) } else { 0 }).to_le_bytes()
    }

    /// Write what belongs at `offset` of the file into `buffer`.
    pub fn fill(self, buffer: &mut [u8], offset: u64) {
        let (head, body) = buffer.split_at_mut(head_length(offset, buffer.len()));
        if !head.is_empty() {
            let skip = (offset % WORD) as usize;
            head.copy_from_slice(&self.word(offset / WORD)[skip..skip + head.len()]);
        }
        let first = offset.div_ceil(WORD);
        for (index, word) in body.chunks_mut(WORD as usize).enumerate() {
            word.copy_from_slice(&self.word(first + index as u64)[..word.len()]);
        }
    }

    /// The offset in the file of the first byte that is not what belongs there.
    pub fn first_mismatch(self, buffer: &[u8], offset: u64) -> Option<u64> {
        let (head, body) = buffer.split_at(head_length(offset, buffer.len()));
        let skip = (offset % WORD) as usize;
        let differs = |found: &[u8], expected: &[u8]| found.iter().zip(expected).position(|(a, b)| a != b);
        if let Some(at) = differs(head, &self.word(offset / WORD)[skip..]) {
            return Some(offset + at as u64);
        }
        let first = offset.div_ceil(WORD);
        for (index, found) in body.chunks(WORD as usize).enumerate() {
            let expected = self.word(first + index as u64);
            if found != &expected[..found.len()] {
                let at = differs(found, &expected).expect("the words differ");
                return Some((first + index as u64) * WORD + at as u64);
            }
        }
        None
    }
}

/// Bytes before the first whole word of the file.
fn head_length(offset: u64, length: usize) -> usize {
    ((WORD - offset % WORD) % WORD).min(length as u64) as usize
}

/// Pieces of `piece` bytes, packed in `buffer`, that lie `hole` bytes apart in the file from `offset` on: each with
/// its offset in the file. For who writes or reads by other means than this engine.
#[cfg(feature = "python")]
pub struct Packed {
    pub stamp: Stamp,
    pub offset: u64,
    pub piece: usize,
    pub hole: u64,
}

#[cfg(feature = "python")]
impl Packed {
    pub fn new(seed: u64, name: &str, offset: u64, piece: usize, hole: u64) -> Self {
        let stamp = Stamp::of_file(Content::Incompressible, seed, hash(name.as_bytes()));
        Self { stamp, offset, piece, hole }
    }

    fn place(&self, index: usize) -> u64 {
        self.offset + index as u64 * (self.piece as u64 + self.hole)
    }

    pub fn fill(&self, buffer: &mut [u8]) {
        for (index, piece) in buffer.chunks_mut(self.piece).enumerate() {
            self.stamp.fill(piece, self.place(index));
        }
    }

    pub fn first_mismatch(&self, buffer: &[u8]) -> Option<u64> {
        let pieces = buffer.chunks(self.piece).enumerate();
        pieces.filter_map(|(index, piece)| self.stamp.first_mismatch(piece, self.place(index))).next()
    }
}

/// Make a buffer's content differ from all that was written before, so that a store that removes duplicates gains
/// nothing: a counter into each 4 KiB (the same idea as fio's `scramble_buffers`).
#[inline]
pub fn make_unique(buffer: &mut [u8], number: u64) {
    for block in buffer.chunks_mut(BLOCK as usize) {
        if let Some(start) = block.first_chunk_mut::<8>() {
            *start = mix(number).to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_cut_equal_the_whole() {
        let stamp = Stamp::new(Content::Compressible(Number(0.5)), 77);
        let mut whole = vec![0; 10_000];
        stamp.fill(&mut whole, 0);
        for start in [0usize, 1, 7, 8, 9, 4093, 4096] {
            for length in [1usize, 3, 8, 13, 4096] {
                let mut piece = vec![1; length];
                stamp.fill(&mut piece, start as u64);
                assert_eq!(piece, whole[start..start + length]);
                assert_eq!(stamp.first_mismatch(&piece, start as u64), None);
                piece[length - 1] ^= 1;
                assert_eq!(stamp.first_mismatch(&piece, start as u64), Some((start + length - 1) as u64));
            }
        }
    }

    #[test]
    fn the_share_that_compresses_away_is_zeros() {
        for (content, expected) in [
            (Content::Zeros, 4096),
            (Content::Incompressible, 0),
            (Content::Compressible(Number(0.25)), 1024),
        ] {
            let mut block = vec![1; 4096];
            Stamp::new(content, 5).fill(&mut block, 8192);
            let zeros = block.iter().filter(|&&byte| byte == 0).count() as i64;
            assert!((zeros - expected).abs() < 60, "{content:?}: {zeros} zeros");
        }
    }

    #[test]
    fn a_counter_makes_blocks_unique() {
        let mut buffer = vec![0; 8192];
        make_unique(&mut buffer, 1);
        let first = buffer.clone();
        make_unique(&mut buffer, 2);
        assert!(first[..8] != buffer[..8] && first[4096..4104] != buffer[4096..4104]);
    }
}
