//! One step of a phase: JSON → Step.

use crate::json::{self, Keys, MANY, Number, Whole, keys};
use crate::kind::Kind;
use crate::pattern::{Pattern, Range};
use crate::sieve::Sieve;
use crate::workload::{Action, Compute, Detail, Operation, Step};
use serde::Deserialize;

const COMPUTE_MAX_NS: u64 = 3_600_000_000_000;
/// The most that Linux moves in one call.
const TRANSFER_MAX: u64 = 0x7fff_f000;

#[derive(Deserialize)]
pub struct StepKeys {
    kind: String,
    count: Option<Whole<1, MANY>>,
    /// The keys of this kind.
    #[serde(flatten)]
    keys: Keys,
}

impl TryFrom<StepKeys> for Step {
    type Error = String;

    fn try_from(StepKeys { kind, count, keys }: StepKeys) -> Result<Self, String> {
        let count = count.map(|count| count.0);
        if kind == "mix" {
            return json::read::<MixKeys>(keys)?.step(count.ok_or("missing field `count`")?);
        }
        let kind = Kind::try_from(kind).map_err(|text| format!(".kind: {text}"))?;
        if kind.is_data() {
            return json::read::<DataKeys>(keys)?.step(kind, count);
        }
        Ok(Step {
            count: count.unwrap_or(1),
            action: Action::One(Operation { kind, detail: other_detail(kind, keys)? }),
            think: None,
        })
    }
}

type Bytes = Option<Whole<0, MANY>>;
type Ns = Option<Whole<0, MANY>>;

keys! {
    NoKeys {}
    RenameKeys { to: String }
    CreateKeys { to: Option<String> }
    TruncateKeys { to: Bytes }
    DontneedKeys { base: Bytes, size: Bytes }
    ComputeKeys { transfer_size: Option<Whole<0, TRANSFER_MAX>>, ns: Ns, ns_per_byte: Option<Number> }
    MixKeys { of: Vec<MixPart>, ns: Ns, ns_per_byte: Option<Number> }
    MixPart { weight: Whole<1, { u32::MAX as u64 }>, step: Step }
    DataKeys {
        transfer_size: Whole<1, TRANSFER_MAX>,
        size: Option<Whole<1, MANY>>,
        base: Bytes,
        offsets: Option<Pattern>,
        memory: Option<Pattern>,
        sieve: Option<SieveKeys>,
        ns: Ns,
        ns_per_byte: Option<Number>,
    }
    SieveKeys { buffer: Whole<1, TRANSFER_MAX> }
}

fn suffix(to: String) -> Result<String, &'static str> {
    if to.is_empty() || to.contains(['/', '\0']) {
        return Err(".to: must be a suffix: not empty, and without \"/\"");
    }
    Ok(to)
}

/// Read the keys of a kind that moves no data.
fn other_detail(kind: Kind, keys: Keys) -> Result<Detail, String> {
    Ok(match kind {
        Kind::Rename => Detail::Rename { suffix: suffix(json::read::<RenameKeys>(keys)?.to)? },
        Kind::Create => match json::read::<CreateKeys>(keys)?.to {
            Some(to) => Detail::Beside { suffix: suffix(to)? },
            None => Detail::Plain,
        },
        Kind::Truncate => {
            Detail::Truncate { length: json::read::<TruncateKeys>(keys)?.to.unwrap_or_default().0 }
        }
        Kind::Dontneed => {
            let DontneedKeys { base, size } = json::read(keys)?;
            Detail::Advise { base: base.unwrap_or_default().0, size: size.unwrap_or_default().0 }
        }
        Kind::Compute => {
            let ComputeKeys { transfer_size, ns, ns_per_byte } = json::read(keys)?;
            let compute = compute(ns, ns_per_byte, transfer_size.unwrap_or_default().0 as u32)?;
            Detail::Compute(compute.ok_or("compute needs \"ns\" or \"ns_per_byte\"")?)
        }
        _ => {
            let NoKeys {} = json::read(keys)?;
            Detail::Plain
        }
    })
}

fn compute(ns: Ns, ns_per_byte: Option<Number>, bytes: u32) -> Result<Option<Compute>, String> {
    if ns.is_none() && ns_per_byte.is_none() {
        return Ok(None);
    }
    let (ns, ns_per_byte) = (ns.unwrap_or_default().0, ns_per_byte.unwrap_or_default().0);
    let compute = Compute { ns, ns_per_byte, bytes };
    if compute.duration_ns() > COMPUTE_MAX_NS {
        return Err("computing for more than an hour: it cannot be interrupted".into());
    }
    Ok(Some(compute))
}

impl MixKeys {
    fn step(self, count: u64) -> Result<Step, String> {
        let mut cumulated = 0;
        let mut drawn = Vec::with_capacity(self.of.len());
        for (index, part) in self.of.into_iter().enumerate() {
            cumulated += part.weight.0;
            match part.step {
                Step { action: Action::One(operation), think: None, count }
                    if operation.kind.is_data() || count == 1 =>
                {
                    drawn.push((cumulated, operation));
                }
                _ => {
                    let text =
                        "one operation is drawn: no mix, and without \"count\", \"ns\", \"ns_per_byte\"";
                    return Err(format!(".of[{index}].step: {text}"));
                }
            }
        }
        let largest = drawn.iter().map(|(_, operation)| operation.transfer_size()).max();
        let largest = largest.ok_or(".of: there must be at least one step to draw")?;
        let think = compute(self.ns, self.ns_per_byte, largest)?;
        Ok(Step { count, action: Action::Mix(drawn), think })
    }
}

impl DataKeys {
    fn step(self, kind: Kind, count: Option<u64>) -> Result<Step, String> {
        let range = self.range(count)?;
        let (offsets, memory) = (self.offsets.unwrap_or(Pattern::Seq), self.memory.unwrap_or(Pattern::Off0));
        let transfer = u64::from(range.transfer);
        for (key, pattern) in [("offsets", offsets), ("memory", memory)] {
            if matches!(pattern, Pattern::RndNear { distance } if distance < transfer) {
                let text = "must be at least the transfer size, else the position never moves";
                return Err(format!(".{key}.rnd_near.distance: {text}"));
            }
        }
        if range.size < transfer && !matches!(offsets, Pattern::Seq | Pattern::Reverse) {
            let size = range.size;
            return Err(format!(
                ".transfer_size: {transfer} is larger than \"size\" {size}: no whole block fits"
            ));
        }
        let (detail, sweep) = match &self.sieve {
            Some(keys) => {
                let sieve = self.sieve(kind, range, offsets, keys.buffer.0)?;
                (Detail::Sieve(sieve), count.unwrap_or_else(|| sieve.windows()))
            }
            None => (Detail::Data { range, offsets, memory }, offsets.positions(range)),
        };
        let operation = Operation { kind, detail };
        let think = compute(self.ns, self.ns_per_byte, operation.transfer_size())?;
        Ok(Step { count: count.unwrap_or(sweep), action: Action::One(operation), think })
    }

    fn range(&self, count: Option<u64>) -> Result<Range, String> {
        let (base, transfer) = (self.base.unwrap_or_default().0, self.transfer_size.0);
        let size = self.size.map(|size| size.0).or(count.map(|count| count.saturating_mul(transfer)));
        let size = size.ok_or("\"size\" or \"count\" is needed")?;
        if base.checked_add(size).is_none_or(|end| end > i64::MAX as u64) {
            return Err("\"base\" + \"size\" is beyond the largest file".into());
        }
        Ok(Range { base, size, transfer: transfer as u32 })
    }

    /// Pieces by way of a buffer; the count is of windows.
    fn sieve(&self, kind: Kind, range: Range, offsets: Pattern, buffer: u64) -> Result<Sieve, &'static str> {
        // They are counted one by one.
        const MOST_WINDOWS: u64 = 1 << 28;
        if !matches!(kind, Kind::Read | Kind::Write) {
            return Err(".sieve: only read and write have one");
        }
        if self.size.ok_or("missing field `size`")?.0 / buffer > MOST_WINDOWS {
            return Err(".sieve.buffer: too small for \"size\": more than 2^28 windows");
        }
        if self.memory.is_some() {
            return Err(".memory: a sieve packs its pieces together: it has no pattern of its own");
        }
        match offsets {
            Pattern::Stride { hole, jitter: 0 } => Ok(Sieve { range, hole, buffer: buffer as u32 }),
            _ => Err("a sieve needs \"offsets\": {\"stride\": {\"hole\": …}}, without jitter"),
        }
    }
}
