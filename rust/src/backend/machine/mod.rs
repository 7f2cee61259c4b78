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
use crate::error::Result;
use crate::json::{Node, Object};
use crate::kind::Kind;
use crate::rng::Rng;
use caches::{Lru, Pages};
use costs::Costs;
use locks::Locks;

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
const MOST_BYTES: u64 = 1 << 40;
const MOST_NS: u64 = 1 << 40;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Discard,
    Cached,
    Uncached,
    /// A file that has nothing yet.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rules {
    TwoComponents { miss: f64 },
    ReadAhead { window: u64 },
    WriteBehind { limit: u64 },
    Stripe { servers: u64, size: u64, slow_factor: f64 },
    Lock(Locks),
    SmallCache { capacity: u64 },
}

/// A machine as the workload describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    rules: Rules,
    state: State,
    file_size: u64,
    outliers: f64,
    costs: Costs,
}

impl Script {
    pub fn from_json(node: &Node) -> Result<Self> {
        let object = node.object()?;
        let script = Self {
            rules: rules(&object)?,
            state: state(&object)?,
            file_size: object.whole("file_size", 1, MOST_BYTES)?.unwrap_or(1 << 30),
            outliers: share(&object, "outliers", 0.0)?,
            costs: Costs::from_json(&object)?,
        };
        object.no_other_keys()?;
        Ok(script)
    }
}

fn rules(object: &Object) -> Result<Rules> {
    let kind = object.need("kind")?;
    let bytes =
        |key, default| Ok::<_, crate::error::Error>(object.whole(key, 4096, MOST_BYTES)?.unwrap_or(default));
    let ns = |key, default| Ok::<_, crate::error::Error>(object.whole(key, 1, MOST_NS)?.unwrap_or(default));
    Ok(match kind.text()? {
        "two_components" => Rules::TwoComponents { miss: share(object, "miss", 0.2)? },
        "read_ahead" => Rules::ReadAhead { window: bytes("window", 128 << 10)? },
        "write_behind" => Rules::WriteBehind { limit: bytes("dirty_limit", 4 << 20)? },
        "stripe" => Rules::Stripe {
            servers: object.whole("servers", 2, 4096)?.unwrap_or(4),
            size: bytes("stripe_size", 1 << 20)?,
            slow_factor: object.get("slow_factor").map_or(Ok(5.0), |node| node.number())?,
        },
        "lock" => Rules::Lock(Locks {
            every_ns: ns("every_ns", 2_000_000)?,
            held_ns: ns("held_ns", 300_000)?,
            extent: bytes("extent", 1 << 20)?,
        }),
        "small_cache" => Rules::SmallCache { capacity: bytes("capacity", 16 << 20)? },
        other => {
            return kind.fail(format_args!(
                "no machine {other:?}; there are two_components, read_ahead, write_behind, stripe, lock, small_cache"
            ));
        }
    })
}

fn state(object: &Object) -> Result<State> {
    let Some(node) = object.get("state") else { return Ok(State::Uncached) };
    Ok(match node.text()? {
        "discard" => State::Discard,
        "cached" => State::Cached,
        "uncached" => State::Uncached,
        "none" => State::None,
        other => return node.fail(format_args!("{other:?} is none of discard, cached, uncached, none")),
    })
}

fn share(object: &Object, key: &'static str, default: f64) -> Result<f64> {
    let Some(node) = object.get(key) else { return Ok(default) };
    match node.number()? {
        share if share <= 1.0 => Ok(share),
        _ => node.fail("a share lies between 0 and 1"),
    }
}

/// A machine at work.
pub struct Machine {
    script: Script,
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
            Rules::SmallCache { capacity } => capacity / caches::PAGE,
            _ => 1,
        });
        if script.state == State::Cached && matches!(script.rules, Rules::SmallCache { .. }) {
            lru.hold_last_of(script.file_size);
        }
        let pages = if script.state == State::Cached { Pages::all() } else { Pages::default() };
        Self {
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
        let costs = self.script.costs;
        if !request.kind.is_data() {
            return (self.script.costs.noisy(self.plain(now_ns, request.kind), rng), Class::None);
        }
        let (ns, class) = if self.script.state == State::Discard {
            (costs.discard(bytes), Class::Discarded)
        } else {
            self.data(now_ns, request, rng)
        };
        let noisy = if matches!(class, Class::Fast | Class::Slow) { ns } else { costs.noisy(ns, rng) };
        if self.script.outliers > 0.0 && rng.unit() < self.script.outliers {
            return (noisy * OUTLIER_FACTOR, Class::Outlier);
        }
        (noisy, class)
    }

    /// An operation that moves no data: what was buffered goes to the device.
    fn plain(&mut self, now_ns: u64, kind: Kind) -> f64 {
        let costs = self.script.costs;
        if !matches!(kind, Kind::Fsync | Kind::Fdatasync) {
            return costs.mode_switch_ns;
        }
        self.drain(now_ns);
        let left = std::mem::take(&mut self.dirty_bytes);
        costs.mode_switch_ns + left * costs.device_ns_per_byte
    }

    fn data(&mut self, now_ns: u64, request: &Request, rng: &mut Rng) -> (f64, Class) {
        let (bytes, costs) = (u64::from(request.length), self.script.costs);
        let reads = matches!(request.kind, Kind::Read | Kind::MmapRead);
        let cached = costs.cached(bytes);
        match self.script.rules {
            Rules::TwoComponents { miss } => costs.two_components(bytes, rng.unit() < miss, rng),
            Rules::ReadAhead { window } if reads => self.read_ahead(request.offset, bytes, window),
            Rules::SmallCache { .. } => self.small_cache(request.offset, bytes, reads),
            Rules::WriteBehind { limit } if !reads => self.write_behind(now_ns, bytes, limit),
            Rules::Stripe { servers, size, slow_factor }
                if !(reads && self.script.state == State::Cached) =>
            {
                let (ns, slow) = costs.stripes(request.offset, bytes, servers, size, slow_factor);
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
        let costs = self.script.costs;
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
        let costs = self.script.costs;
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
        let drained = (now_ns - self.dirty_at_ns) as f64 / self.script.costs.device_ns_per_byte.max(1e-9);
        self.dirty_bytes = (self.dirty_bytes - drained).max(0.0);
        self.dirty_at_ns = now_ns;
    }

    fn write_behind(&mut self, now_ns: u64, bytes: u64, limit: u64) -> (f64, Class) {
        self.drain(now_ns);
        let costs = self.script.costs;
        self.dirty_bytes += bytes as f64;
        if self.dirty_bytes <= limit as f64 {
            return (costs.cached(bytes), Class::Buffered);
        }
        let wait = (self.dirty_bytes - 0.75 * limit as f64) * costs.device_ns_per_byte;
        (costs.cached(bytes) + wait, Class::Throttled)
    }

    fn lock(&mut self, now_ns: u64, offset: u64, bytes: u64, locks: Locks) -> (f64, Class) {
        let round_trip = self.script.costs.network_ns;
        let (period, wait) = locks.at(now_ns);
        if period != self.lock_period {
            (self.lock_period, self.locked) = (period, Pages::default());
        }
        let first = offset / locks.extent;
        let extents = (offset + bytes - 1) / locks.extent - first + 1;
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
