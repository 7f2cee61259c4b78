//! What the parts of the path cost in a scripted machine: t = m + p(size) + n(size) + c(size) + d(size).

use crate::rng::Rng;

use super::Class;

/// Times in ns, of bytes in ns for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    pub mode_switch_ns: f64,
    pub copy_ns_per_byte: f64,
    pub network_ns: f64,
    pub device_ns_per_byte: f64,
    pub prepare_ns: f64,
}

/// Discarding looks at nothing: so many times faster than copying.
const DISCARD: f64 = 20.0;
/// Gamma noise of this shape and mean 1: 5 %.
const SHAPE: f64 = 400.0;
const NORMAL_NS: f64 = 10.0;
/// Of the two components, with scale 1: their means.
const SHAPE_A: f64 = 12.0;
const SHAPE_B: f64 = 30.0;

impl Costs {
    pub fn discard(self, bytes: u64) -> f64 {
        self.mode_switch_ns + self.copy_ns_per_byte / DISCARD * bytes as f64
    }

    pub fn cached(self, bytes: u64) -> f64 {
        self.mode_switch_ns + self.copy_ns_per_byte * bytes as f64
    }

    /// Where the device goes on, on top of the copy.
    pub fn fetch(self, bytes: u64) -> f64 {
        self.network_ns + self.device_ns_per_byte * bytes as f64
    }

    /// Where it has to prepare.
    pub fn device(self, bytes: u64) -> f64 {
        self.prepare_ns + self.fetch(bytes)
    }

    /// The slowest of the servers that hold a part of these bytes, and whether the slow one, the last, was asked.
    pub fn stripes(self, offset: u64, bytes: u64, servers: u64, size: u64, slow_factor: f64) -> (f64, bool) {
        let mut each = vec![0u64; servers as usize];
        let mut at = offset;
        while at < offset + bytes {
            let end = ((at / size + 1) * size).min(offset + bytes);
            each[(at / size % servers) as usize] += end - at;
            at = end;
        }
        let slow = each[servers as usize - 1] > 0;
        let time = |(server, &bytes): (usize, &u64)| {
            let factor = if server as u64 == servers - 1 { slow_factor } else { 1.0 };
            if bytes == 0 { 0.0 } else { factor * self.fetch(bytes) }
        };
        (each.iter().enumerate().map(time).fold(0.0, f64::max), slow)
    }

    /// Kunkel, "Analysis of Input/Output Phenomena using Statistics and Machine Learning" (2017): either A or B does
    /// the transfer; two gamma distributions of scale 1 and a normal one, in units of each component's mean.
    pub fn two_components(self, bytes: u64, miss: bool, rng: &mut Rng) -> (f64, Class) {
        let normal = NORMAL_NS * rng.normal();
        let (mean, shape, class) = if miss {
            (self.cached(bytes) + self.device(bytes), SHAPE_B, Class::Slow)
        } else {
            (self.cached(bytes), SHAPE_A, Class::Fast)
        };
        ((mean * rng.gamma(shape) / shape + normal).max(1.0), class)
    }

    pub fn noisy(self, ns: f64, rng: &mut Rng) -> f64 {
        (ns * rng.gamma(SHAPE) / SHAPE + NORMAL_NS * rng.normal()).max(1.0)
    }
}
