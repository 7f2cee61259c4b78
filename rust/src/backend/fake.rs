//! Scripted latencies and faults on a clock of its own: the truth is known, and a test takes milliseconds.
//!
//! ```json
//! {"name": "fake", "latency_ns": {"read": [1000, 2000], "default": 500}, "ns_per_byte": 0.1, "jitter": 0.05,
//!  "queue_depth": 1, "virtual_clock": true,
//!  "faults": [{"kind": "write", "at": 17, "errno": 28}, {"kind": "read", "at": 5, "latency_ns": 1000000}]}
//! ```
//!
//! With a `machine` its rules say how long operations take, and why (`machine/mod.rs`). A list of latencies is played in a circle. A fault hits the operations `at` … `at + count - 1` of its kind (of
//! each worker, from 0) and has an `errno`, a `latency_ns` (a stall), or `short` (so many bytes are moved).

use super::machine::{self, Machine};
use super::{Backend, Completion, Queue, Request};
use crate::clock;
use crate::json::{self, Keys, Number, Whole};
use crate::kind::{Kind, NAMES};
use crate::rng::Rng;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::fd::RawFd;

const MANY: u64 = 1 << 47;
/// 18 minutes: virtual time has room for many of these.
const LONGEST_NS: u64 = 1 << 40;
/// Where virtual time begins: not 0, which means "never".
const BEGIN_NS: u64 = 1_000_000_000;

type Series = Vec<Whole<0, LONGEST_NS>>;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// By kind; played in a circle.
    #[serde(default = "default_latencies", deserialize_with = "latencies")]
    latency_ns: Vec<Series>,
    #[serde(default)]
    ns_per_byte: Number,
    /// At most 1 is taken.
    #[serde(default)]
    jitter: Number,
    #[serde(default)]
    queue_depth: Whole<1, 4096>,
    virtual_clock: Option<bool>,
    #[serde(default)]
    faults: Vec<Fault>,
    machine: Option<machine::Script>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    kind: Kind,
    #[serde(default)]
    at: Whole<0, MANY>,
    #[serde(default)]
    count: Whole<1, MANY>,
    errno: Option<Whole<1, 4095>>,
    latency_ns: Option<Whole<0, LONGEST_NS>>,
    short: Option<Whole<0, MANY>>,
}

fn default_latencies() -> Vec<Series> {
    vec![vec![Whole(1000)]; NAMES.len()]
}

/// A series or one latency, of all kinds or of each.
fn latencies<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<Series>, D::Error> {
    let by_kind = match Value::deserialize(reader)? {
        Value::Object(by_kind) => by_kind,
        value => Keys::from_iter([("default".to_owned(), value)]),
    };
    let as_list = |value: Value| if value.is_array() { value } else { vec![value].into() };
    let lists: Keys = by_kind.into_iter().map(|(name, value)| (name, as_list(value))).collect();
    let mut by_kind: BTreeMap<String, Series> = json::read(lists).map_err(D::Error::custom)?;
    if by_kind.values().any(Vec::is_empty) {
        return Err(D::Error::custom("an empty list of latencies"));
    }
    let default = by_kind.remove("default").unwrap_or(vec![Whole(1000)]);
    let latencies = NAMES.iter().map(|name| by_kind.remove(*name).unwrap_or_else(|| default.clone()));
    let latencies = latencies.collect();
    match by_kind.keys().next() {
        Some(name) => {
            Err(D::Error::custom(format_args!("unknown field `{name}`, expected a kind or `default`")))
        }
        None => Ok(latencies),
    }
}

pub struct Fake {
    script: Script,
    /// Virtual time; unused with a real clock.
    now_ns: u64,
    counts: [u64; NAMES.len()],
    rng: Rng,
    next_fd: RawFd,
    in_flight: Vec<Completion>,
    machine: Option<Machine>,
    truth: Vec<u8>,
}

impl Fake {
    pub fn new(script: Script, rng: Rng) -> Self {
        let counts = [0; NAMES.len()];
        let machine = script.machine.clone().map(Machine::new);
        let (in_flight, truth) = (Vec::new(), Vec::new());
        Self { script, now_ns: BEGIN_NS, counts, rng, next_fd: 1 << 20, in_flight, machine, truth }
    }

    fn is_virtual(&self) -> bool {
        self.script.virtual_clock != Some(false)
    }

    /// How long the next operation of this kind takes, and what comes out.
    fn play(&mut self, request: &Request) -> (u64, i64) {
        let (kind, now_ns) = (request.kind, self.now());
        let number = self.counts[kind as usize];
        self.counts[kind as usize] += 1;
        let series = &self.script.latency_ns[kind as usize];
        let mut latency = series[(number % series.len() as u64) as usize].0 as f64;
        if kind.is_data() {
            latency += self.script.ns_per_byte.0 * f64::from(request.length);
        }
        let jitter = self.script.jitter.0.min(1.0);
        if jitter > 0.0 {
            latency *= 1.0 + jitter * (2.0 * self.rng.unit() - 1.0);
        }
        if let Some(machine) = &mut self.machine {
            let (ns, class) = machine.play(now_ns, request, &mut self.rng);
            latency = ns;
            self.truth.push(class as u8);
        }
        let mut result = match kind {
            _ if kind.is_data() => i64::from(request.length),
            Kind::Create | Kind::Open => {
                self.next_fd += 1;
                i64::from(self.next_fd)
            }
            Kind::Compute => {
                latency = request.extent as f64;
                0
            }
            _ => 0,
        };
        let hits =
            |fault: &&Fault| fault.kind == kind && (fault.at.0..fault.at.0 + fault.count.0).contains(&number);
        for fault in self.script.faults.iter().filter(hits) {
            latency = fault.latency_ns.map_or(latency, |ns| ns.0 as f64);
            result = fault.short.map_or(result, |bytes| bytes.0 as i64);
            result = fault.errno.map_or(result, |errno| -(errno.0 as i64));
        }
        ((latency.round() as u64).min(LONGEST_NS * 4), result)
    }
}

impl Backend for Fake {
    const REAL: bool = false;

    fn now(&self) -> u64 {
        if self.is_virtual() { self.now_ns } else { clock::monotonic_ns() }
    }

    fn wait_until(&mut self, time_ns: u64, give_up: &dyn Fn() -> bool) -> bool {
        if !self.is_virtual() {
            return clock::wait_until(time_ns, give_up);
        }
        self.now_ns = self.now_ns.max(time_ns);
        true
    }

    fn execute(&mut self, request: &Request) -> i64 {
        let end = self.now();
        let (latency_ns, result) = self.play(request);
        self.wait_until(end + latency_ns, &|| false);
        result
    }

    fn open_untimed(&mut self, _: &Request) -> i64 {
        self.next_fd += 1;
        i64::from(self.next_fd)
    }

    fn close_untimed(&mut self, _: RawFd) {}

    fn take_truth(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.truth)
    }

    fn queue(&mut self) -> Option<&mut dyn Queue> {
        if self.script.queue_depth.0 > 1 { Some(self) } else { None }
    }
}

impl Queue for Fake {
    fn depth(&self) -> usize {
        self.script.queue_depth.0 as usize
    }

    fn submit(&mut self, token: usize, request: &Request) {
        let begin = self.now();
        let (latency_ns, result) = self.play(request);
        self.in_flight.push(Completion { token, result, end_ns: begin + latency_ns });
    }

    fn reap(&mut self, wait: bool, done: &mut Vec<Completion>) {
        if wait && let Some(first) = self.in_flight.iter().map(|completion| completion.end_ns).min() {
            self.wait_until(first, &|| false);
        }
        let now = self.now();
        let before = done.len();
        done.extend(self.in_flight.extract_if(.., |completion| completion.end_ns <= now));
        done[before..].sort_by_key(|completion| completion.end_ns);
    }

    fn take_mean_blind_ns(&mut self) -> u64 {
        0
    }
}
