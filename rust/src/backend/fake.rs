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
use crate::error::Result;
use crate::json::{Node, Object};
use crate::kind::{Kind, NAMES};
use crate::rng::Rng;
use std::os::fd::RawFd;

const MANY: u64 = 1 << 47;
/// 18 minutes: virtual time has room for many of these.
const LONGEST_NS: u64 = 1 << 40;
/// Where virtual time begins: not 0, which means "never".
const BEGIN_NS: u64 = 1_000_000_000;

#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// By kind; played in a circle.
    latency_ns: Vec<Vec<u64>>,
    ns_per_byte: f64,
    jitter: f64,
    queue_depth: usize,
    virtual_clock: bool,
    faults: Vec<Fault>,
    machine: Option<machine::Script>,
}

#[derive(Clone, Debug, PartialEq)]
struct Fault {
    kind: Kind,
    at: u64,
    count: u64,
    errno: Option<i64>,
    latency_ns: Option<u64>,
    short: Option<i64>,
}

impl Script {
    pub fn from_json(object: &Object) -> Result<Self> {
        Ok(Self {
            latency_ns: latencies(object)?,
            ns_per_byte: object.get("ns_per_byte").map_or(Ok(0.0), |node| node.number())?,
            jitter: object.get("jitter").map_or(Ok(0.0), |node| node.number())?.min(1.0),
            queue_depth: object.whole("queue_depth", 1, 4096)?.unwrap_or(1) as usize,
            virtual_clock: object.get("virtual_clock").map_or(Ok(true), |node| node.boolean())?,
            faults: match object.get("faults") {
                Some(node) => node.list()?.iter().map(fault).collect::<Result<_>>()?,
                None => Vec::new(),
            },
            machine: object.get("machine").map(|node| machine::Script::from_json(&node)).transpose()?,
        })
    }
}

fn latencies(object: &Object) -> Result<Vec<Vec<u64>>> {
    const DEFAULT_NS: u64 = 1000;
    let Some(node) = object.get("latency_ns") else { return Ok(vec![vec![DEFAULT_NS]; NAMES.len()]) };
    if !node.value.is_object() {
        return Ok(vec![series(&node)?; NAMES.len()]);
    }
    let by_kind = node.object()?;
    let default = by_kind.get("default").map_or(Ok(vec![DEFAULT_NS]), |node| series(&node))?;
    let latencies =
        NAMES.iter().map(|name| by_kind.get(name).map_or(Ok(default.clone()), |node| series(&node)));
    let latencies = latencies.collect::<Result<_>>()?;
    by_kind.no_other_keys()?;
    Ok(latencies)
}

fn series(node: &Node) -> Result<Vec<u64>> {
    if !node.value.is_array() {
        return Ok(vec![node.whole(0, LONGEST_NS)?]);
    }
    let items: Vec<_> = node.list()?.iter().map(|item| item.whole(0, LONGEST_NS)).collect::<Result<_>>()?;
    if items.is_empty() { node.fail("an empty list of latencies") } else { Ok(items) }
}

fn fault(node: &Node) -> Result<Fault> {
    let object = node.object()?;
    let fault = Fault {
        kind: Kind::parse(&object.need("kind")?)?,
        at: object.whole("at", 0, MANY)?.unwrap_or(0),
        count: object.whole("count", 1, MANY)?.unwrap_or(1),
        errno: object.whole("errno", 1, 4095)?.map(|errno| errno as i64),
        latency_ns: object.whole("latency_ns", 0, LONGEST_NS)?,
        short: object.whole("short", 0, MANY)?.map(|bytes| bytes as i64),
    };
    object.no_other_keys()?;
    Ok(fault)
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

    /// How long the next operation of this kind takes, and what comes out.
    fn play(&mut self, request: &Request) -> (u64, i64) {
        let (kind, now_ns) = (request.kind, self.now());
        let number = self.counts[kind as usize];
        self.counts[kind as usize] += 1;
        let series = &self.script.latency_ns[kind as usize];
        let mut latency = series[(number % series.len() as u64) as usize] as f64;
        if kind.is_data() {
            latency += self.script.ns_per_byte * f64::from(request.length);
        }
        if self.script.jitter > 0.0 {
            latency *= 1.0 + self.script.jitter * (2.0 * self.rng.unit() - 1.0);
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
            |fault: &&Fault| fault.kind == kind && (fault.at..fault.at + fault.count).contains(&number);
        for fault in self.script.faults.iter().filter(hits) {
            latency = fault.latency_ns.map_or(latency, |ns| ns as f64);
            result = fault.short.unwrap_or(result);
            result = fault.errno.map_or(result, |errno| -errno);
        }
        ((latency.round() as u64).min(LONGEST_NS * 4), result)
    }
}

impl Backend for Fake {
    const REAL: bool = false;

    fn now(&self) -> u64 {
        if self.script.virtual_clock { self.now_ns } else { clock::monotonic_ns() }
    }

    fn wait_until(&mut self, time_ns: u64, give_up: &dyn Fn() -> bool) -> bool {
        if !self.script.virtual_clock {
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
        if self.script.queue_depth > 1 { Some(self) } else { None }
    }
}

impl Queue for Fake {
    fn depth(&self) -> usize {
        self.script.queue_depth
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
