//! Seeded random numbers whose sequence is part of the product: the same seed gives the same offsets in every
//! version, which library generators do not promise.
//!
//! SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
//! Unbiased range: Lemire, "Fast random integer generation in an interval", ACM TOMACS 2019.

/// The finaliser of SplitMix64: a bijection of 64 bits that mixes well.
#[inline]
pub fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A hash of a text, for seeds only.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(GOLDEN, |state, &byte| mix(state ^ u64::from(byte)))
}

#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A stream of its own for every list of numbers (seed, rank, worker, phase, purpose, …).
    pub fn stream(parts: &[u64]) -> Self {
        Self(
            parts
                .iter()
                .fold(0, |state, &part| mix(state.wrapping_add(GOLDEN) ^ mix(part.wrapping_add(GOLDEN)))),
        )
    }

    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// Uniform over `0..bound`; `bound` > 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.next()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.next()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Uniform over the open interval (0, 1).
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal: Box and Muller, Annals of Mathematical Statistics 29 (1958).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Gamma with scale 1, for a shape of 1 or more: Marsaglia and Tsang, ACM TOMS 26 (2000).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.unit().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    pub fn shuffle(&mut self, items: &mut [u32]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_reaches_every_value_about_equally() {
        for bound in [1u64, 2, 3, 7, 10, 100] {
            let mut rng = Rng::stream(&[bound]);
            let mut seen = vec![0u32; bound as usize];
            for _ in 0..bound * 1000 {
                seen[rng.below(bound) as usize] += 1;
            }
            assert!(seen.iter().all(|&n| (800..1200).contains(&n)), "{bound}: {seen:?}");
        }
    }

    #[test]
    fn streams_differ_and_repeat() {
        assert_eq!(Rng::stream(&[1, 2]).next(), Rng::stream(&[1, 2]).next());
        assert_ne!(Rng::stream(&[1, 2]).next(), Rng::stream(&[2, 1]).next());
    }
}
