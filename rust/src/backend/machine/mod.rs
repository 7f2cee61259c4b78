//! Scripted machines: storage whose optimisations hit or miss by rules that we wrote, in virtual time, so that it is
//! known of every operation why it took as long as it did.
//!
//! ```json
//! {"name": "fake", "machine": {"kind": "read_ahead", "state": "uncached", "file_size": 67108864, "window": 131072}}
//! ```
//!
//! | kind | what happens | its own keys |
//! |---|---|---|
//! | `two_components` | A has it, or, with the share `miss`, B: gamma, gamma, and a little normal | `miss` |
//! | `read_ahead` | a read that goes on where the last one ended brings a whole window | `window` |
//! | `write_behind` | writes are buffered up to a limit; who passes it waits until 3/4 of it are left | `dirty_limit` |
//! | `stripe` | blocks on `servers` servers in turn, of which one is `slow_factor` times slower | `servers`, `stripe_size`, `slow_factor` |
//! | `lock` | every `every_ns` somebody else takes all locks for `held_ns`; each extent is then locked anew | `every_ns`, `held_ns`, `extent` |
//! | `small_cache` | the least recently used pages leave a cache of `capacity` bytes | `capacity` |
//!
//! Shared keys: `state` of the data at the start (`discard`, `cached`, `uncached`, `none`: a new file), `file_size`,
//! the share of `outliers` (20 times longer, whatever they are), and the costs of the path t = m + p + n + c + d:
//! `mode_switch_ns`, `copy_ns_per_byte` (p), `network_ns` and `device_ns_per_byte` (n, c and d of each byte),
//! `prepare_ns` (d where the device has to seek).

mod caches;
mod costs;
mod locks;

use super::Request;
use crate::json::{self, Number, Share, Whole};
use crate::kind::Kind;
use crate::rng::Rng;
use caches::{Lru, Pages};
use costs::Costs;
use locks::Locks;
use serde::Deserialize;

macro_rules! classes {
    ($($variant:ident $name:literal),+ $(,)?) => {
        /// Why an operation took its time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Class { $($variant),+ }

        #[cfg_attr(not(feature = "python"), allow(dead_code))]
        pub const CLASSES: &[&str] = &[$($name),+];
    };
}

classes! {
    None "none", Discarded "discarded", Fast "fast", Slow "slow", Cached "cached", ReadAhead "read_ahead",
    Fetch "fetch", Miss "miss", Evicted "evicted", Buffered "buffered", Throttled "throttled",
    FastServer "fast_server", SlowServer "slow_server", Held "held", Granted "granted", Contended "contended",
    Outlier "outlier",
}

const OUTLIER_FACTOR: f64 = 20.0;

type Bytes<const DEFAULT: u64> = Whole<4096, { 1 << 40 }, DEFAULT>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Discard,
    Cached,
    #[default]
    Uncached,
    /// A file that has nothing yet.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Rules {
    TwoComponents {
        miss: Option<Share>,
    },
    ReadAhead {
        #[serde(default)]
        window: Bytes<{ 128 << 10 }>,
    },
    WriteBehind {
        #[serde(default)]
        dirty_limit: Bytes<{ 4 << 20 }>,
    },
    Stripe {
        #[serde(default)]
        servers: Whole<2, 4096, 4>,
        #[serde(default)]
        stripe_size: Bytes<{ 1 << 20 }>,
        slow_factor: Option<Number>,
    },
    Lock(Locks),
    SmallCache {
        #[serde(default)]
        capacity: Bytes<{ 16 << 20 }>,
    },
}

/// A machine as the workload describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Script {
    #[serde(default)]
    state: State,
    #[serde(default)]
    file_size: Whole<1, { 1 << 40 }, { 1 << 30 }>,
    #[serde(default)]
    outliers: Share,
    mode_switch_ns: Option<Number>,
    copy_ns_per_byte: Option<Number>,
    network_ns: Option<Number>,
    device_ns_per_byte: Option<Number>,
    prepare_ns: Option<Number>,
    /// The kind, and its own keys.
    #[serde(flatten, deserialize_with = "json::by_kind")]
    rules: Rules,
}

impl Script {
    fn costs(&self) -> Costs {
        let number_or = |number: Option<Number>, default| number.map_or(default, |number| number.0);
        Costs {
            mode_switch_ns: number_or(self.mode_switch_ns, 300.0),
            copy_ns_per_byte: number_or(self.copy_ns_per_byte, 0.1),
            network_ns: number_or(self.network_ns, 20_000.0),
            device_ns_per_byte: number_or(self.device_ns_per_byte, 5.0),
            prepare_ns: number_or(self.prepare_ns, 100_000.0),
        }
    }
}

/// A machine at work.
pub struct Machine {
    script: Script,
    costs: Costs,
    pages: Pages,
    lru: Lru,
    /// Where a read would go on.
    next_offset: u64,
    /// Not yet written to the device, and when that was.
    dirty_bytes: f64,
    dirty_at_ns: u64,
    /// Extents whose lock is ours, since the period of that number began.
    locked: Pages,
    lock_period: u64,
}

impl Machine {
    pub fn new(script: Script) -> Self {
        let mut lru = Lru::new(match script.rules {
            Rules::SmallCache { capacity } => capacity.0 / caches::PAGE,
            _ => 1,
        });
        if script.state == State::Cached && matches!(script.rules, Rules::SmallCache { .. }) {
            lru.hold_last_of(script.file_size.0);
        }
        let pages = if script.state == State::Cached { Pages::all() } else { Pages::default() };
        Self {
            costs: script.costs(),
            script,
            pages,
            lru,
            next_offset: 0,
            dirty_bytes: 0.0,
            dirty_at_ns: 0,
            locked: Pages::default(),
            lock_period: 0,
        }
    }

    /// How long an operation that starts now takes, and why.
    pub fn play(&mut self, now_ns: u64, request: &Request, rng: &mut Rng) -> (f64, Class) {
        let bytes = u64::from(request.length);
        let costs = self.costs;
        if !request.kind.is_data() {
            return (self.costs.noisy(self.plain(now_ns, request.kind), rng), Class::None);
        }
        let (ns, class) = if self.script.state == State::Discard {
            (costs.discard(bytes), Class::Discarded)
        } else {
            self.data(now_ns, request, rng)
        };
        let noisy = if matches!(class, Class::Fast | Class::Slow) { ns } else { costs.noisy(ns, rng) };
        if self.script.outliers.0 > 0.0 && rng.unit() < self.script.outliers.0 {
            return (noisy * OUTLIER_FACTOR, Class::Outlier);
        }
        (noisy, class)
    }

    /// An operation that moves no data: what was buffered goes to the device.
    fn plain(&mut self, now_ns: u64, kind: Kind) -> f64 {
        let costs = self.costs;
        if !matches!(kind, Kind::Fsync | Kind::Fdatasync) {
            return costs.mode_switch_ns;
        }
        self.drain(now_ns);
        let left = std::mem::take(&mut self.dirty_bytes);
        costs.mode_switch_ns + left * costs.device_ns_per_byte
    }

    fn data(&mut self, now_ns: u64, request: &Request, rng: &mut Rng) -> (f64, Class) {
        let (bytes, costs) = (u64::from(request.length), self.costs);
        let reads = matches!(request.kind, Kind::Read | Kind::MmapRead);
        let cached = costs.cached(bytes);
        match self.script.rules {
            Rules::TwoComponents { miss } => {
                costs.two_components(bytes, rng.unit() < miss.map_or(0.2, |miss| miss.0), rng)
            }
            Rules::ReadAhead { window } if reads => self.read_ahead(request.offset, bytes, window.0),
            Rules::SmallCache { .. } => self.small_cache(request.offset, bytes, reads),
            Rules::WriteBehind { dirty_limit } if !reads => self.write_behind(now_ns, bytes, dirty_limit.0),
            Rules::Stripe { servers, stripe_size, slow_factor }
                if !(reads && self.script.state == State::Cached) =>
            {
                let slow_factor = slow_factor.map_or(5.0, |factor| factor.0);
                let (ns, slow) = costs.stripes(request.offset, bytes, servers.0, stripe_size.0, slow_factor);
                (cached + ns, if slow { Class::SlowServer } else { Class::FastServer })
            }
            Rules::Lock(locks) => {
                let (ns, class) = self.lock(now_ns, request.offset, bytes, locks);
                (cached + ns, class)
            }
            _ if reads && self.script.state == State::Uncached => {
                let missing = self.pages.add(request.offset, bytes, false);
                if missing == 0 {
                    (cached, Class::Cached)
                } else {
                    (cached + costs.device(missing), Class::Miss)
                }
            }
            _ => (cached, Class::Cached),
        }
    }

    fn read_ahead(&mut self, offset: u64, bytes: u64, window: u64) -> (f64, Class) {
        let costs = self.costs;
        let goes_on = offset == self.next_offset;
        self.next_offset = offset + bytes;
        let cached = costs.cached(bytes);
        if self.pages.has(offset, bytes) {
            let ahead = self.pages.were_ahead(offset, bytes);
            return (cached, if ahead { Class::ReadAhead } else { Class::Cached });
        }
        if goes_on {
            self.pages.add(offset, bytes, false);
            let brought = bytes.max(window);
            self.pages.add(offset + bytes, brought - bytes, true);
            return (cached + costs.fetch(brought), Class::Fetch);
        }
        let missing = self.pages.add(offset, bytes, false);
        (cached + costs.device(missing), Class::Miss)
    }

    fn small_cache(&mut self, offset: u64, bytes: u64, reads: bool) -> (f64, Class) {
        let costs = self.costs;
        let touched = self.lru.touch(offset, bytes);
        let cached = costs.cached(bytes);
        if !reads || touched.missing == 0 {
            return (cached, Class::Cached);
        }
        // Of a file that was read whole before, everything has been here once.
        let known = touched.known > 0 || self.script.state == State::Cached;
        (cached + costs.device(touched.missing), if known { Class::Evicted } else { Class::Miss })
    }

    fn drain(&mut self, now_ns: u64) {
        let drained = (now_ns - self.dirty_at_ns) as f64 / self.costs.device_ns_per_byte.max(1e-9);
        self.dirty_bytes = (self.dirty_bytes - drained).max(0.0);
        self.dirty_at_ns = now_ns;
    }

    fn write_behind(&mut self, now_ns: u64, bytes: u64, limit: u64) -> (f64, Class) {
        self.drain(now_ns);
        let costs = self.costs;
        self.dirty_bytes += bytes as f64;
        if self.dirty_bytes <= limit as f64 {
            return (costs.cached(bytes), Class::Buffered);
        }
        let wait = (self.dirty_bytes - 0.75 * limit as f64) * costs.device_ns_per_byte;
        (costs.cached(bytes) + wait, Class::Throttled)
    }

    fn lock(&mut self, now_ns: u64, offset: u64, bytes: u64, locks: Locks) -> (f64, Class) {
        let round_trip = self.costs.network_ns;
        let (period, wait) = locks.at(now_ns);
        if period != self.lock_period {
            (self.lock_period, self.locked) = (period, Pages::default());
        }
        let first = offset / locks.extent.0;
        let extents = (offset + bytes - 1) / locks.extent.0 - first + 1;
        let missing = self.locked.add(first * caches::PAGE, extents * caches::PAGE, false) / caches::PAGE;
        match (wait, missing) {
            (0, 0) => (0.0, Class::Held),
            (0, _) => (round_trip * missing as f64, Class::Granted),
            _ => (wait as f64 + round_trip * missing as f64, Class::Contended),
        }
    }
}

#[cfg(test)]
mod tests;
