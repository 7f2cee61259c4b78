//! One step of a phase: JSON → Step.

use crate::error::Result;
use crate::json::{Node, Object};
use crate::kind::Kind;
use crate::pattern::{Pattern, Range};
use crate::sieve::Sieve;
use crate::workload::{Action, Compute, Detail, Operation, Step};

const MANY: u64 = u64::MAX >> 1;
const COMPUTE_MAX_NS: u64 = 3_600_000_000_000;
/// The most that Linux moves in one call.
const TRANSFER_MAX: u64 = 0x7fff_f000;

pub fn step(node: &Node) -> Result<Step> {
    let object = node.object()?;
    let step = if object.need("kind")?.text()? == "mix" { mix(&object)? } else { plain(&object)? };
    object.no_other_keys()?;
    Ok(step)
}

fn plain(object: &Object) -> Result<Step> {
    let operation = operation(object)?;
    let given = object.whole("count", 1, MANY)?;
    let count = match (&operation.detail, given) {
        (_, Some(count)) => count,
        (Detail::Data { range, offsets, .. }, None) => offsets.positions(*range),
        (Detail::Sieve(sieve), None) => sieve.windows(),
        _ => 1,
    };
    let think = if operation.kind.is_data() { compute(object, operation.transfer_size())? } else { None };
    Ok(Step { count, action: Action::One(operation), think })
}

fn mix(object: &Object) -> Result<Step> {
    let of = object.need("of")?;
    let mut cumulated = 0;
    let mut drawn = Vec::new();
    for item in of.list()? {
        let item_object = item.object()?;
        cumulated += item_object.need("weight")?.whole(1, u64::from(u32::MAX))?;
        let inner = item_object.need("step")?.object()?;
        if inner.need("kind")?.text()? == "mix" {
            return inner.fail("a mix cannot be drawn from a mix");
        }
        drawn.push((cumulated, operation(&inner)?));
        inner.no_other_keys()?;
        item_object.no_other_keys()?;
    }
    if drawn.is_empty() {
        return of.fail("there must be at least one step to draw");
    }
    let largest = drawn.iter().map(|(_, operation)| operation.transfer_size()).max().unwrap_or(0);
    Ok(Step {
        count: object.need("count")?.whole(1, MANY)?,
        think: compute(object, largest)?,
        action: Action::Mix(drawn),
    })
}

fn operation(object: &Object) -> Result<Operation> {
    let kind = Kind::parse(&object.need("kind")?)?;
    let detail = match kind {
        Kind::Read | Kind::Write => match object.get("sieve") {
            Some(node) => sieve(object, &node)?,
            None => data(object)?,
        },
        _ if kind.is_data() => data(object)?,
        Kind::Rename => Detail::Rename { suffix: suffix(&object.need("to")?)? },
        Kind::Create => match object.get("to") {
            Some(to) => Detail::Beside { suffix: suffix(&to)? },
            None => Detail::Plain,
        },
        Kind::Truncate => Detail::Truncate { length: object.whole("to", 0, MANY)?.unwrap_or(0) },
        Kind::Dontneed => Detail::Advise {
            base: object.whole("base", 0, MANY)?.unwrap_or(0),
            size: object.whole("size", 0, MANY)?.unwrap_or(0),
        },
        Kind::Compute => {
            match compute(object, object.whole("transfer_size", 0, TRANSFER_MAX)?.unwrap_or(0) as u32)? {
                Some(compute) => Detail::Compute(compute),
                None => return object.fail("compute needs \"ns\" or \"ns_per_byte\""),
            }
        }
        _ => Detail::Plain,
    };
    Ok(Operation { kind, detail })
}

fn suffix(to: &Node) -> Result<String> {
    let suffix = to.text()?;
    if suffix.is_empty() || suffix.contains(['/', '\0']) {
        return to.fail("must be a suffix: not empty, and without \"/\"");
    }
    Ok(suffix.to_owned())
}

/// Pieces by way of a buffer; `count` is of windows.
fn sieve(object: &Object, node: &Node) -> Result<Detail> {
    // They are counted one by one.
    const MOST_WINDOWS: u64 = 1 << 28;
    let inner = node.object()?;
    let buffer_node = inner.need("buffer")?;
    let buffer = buffer_node.whole(1, TRANSFER_MAX)?;
    inner.no_other_keys()?;
    if object.need("size")?.whole(1, MANY)? / buffer > MOST_WINDOWS {
        return buffer_node.fail("too small for \"size\": more than 2^28 windows");
    }
    if let Some(node) = object.get("memory") {
        return node.fail("a sieve packs its pieces together: it has no pattern of its own");
    }
    match data(object)? {
        Detail::Data { range, offsets: Pattern::Stride { hole, jitter: 0 }, .. } => {
            Ok(Detail::Sieve(Sieve { range, hole, buffer: buffer as u32 }))
        }
        _ => object.fail("a sieve needs \"offsets\": {\"stride\": {\"hole\": …}}, without jitter"),
    }
}

fn data(object: &Object) -> Result<Detail> {
    let transfer_node = object.need("transfer_size")?;
    let transfer = transfer_node.whole(1, TRANSFER_MAX)?;
    let count = object.whole("count", 1, MANY)?;
    let size = match (object.whole("size", 1, MANY)?, count) {
        (Some(size), _) => size,
        (None, Some(count)) => count.saturating_mul(transfer),
        (None, None) => return object.fail("\"size\" or \"count\" is needed"),
    };
    let base = object.whole("base", 0, MANY)?.unwrap_or(0);
    let range = Range { base, size, transfer: transfer as u32 };
    if base.checked_add(size).is_none_or(|end| end > i64::MAX as u64) {
        return object.fail("\"base\" + \"size\" is beyond the largest file");
    }
    let offsets = pattern(object, "offsets", Pattern::Seq, range)?;
    if size < transfer && !matches!(offsets, Pattern::Seq | Pattern::Reverse) {
        return transfer_node
            .fail(format_args!("{transfer} is larger than \"size\" {size}: no whole block fits"));
    }
    Ok(Detail::Data { range, offsets, memory: pattern(object, "memory", Pattern::Off0, range)? })
}

fn pattern(object: &Object, key: &'static str, default: Pattern, range: Range) -> Result<Pattern> {
    let Some(node) = object.get(key) else { return Ok(default) };
    if let Some(name) = node.value.as_str() {
        return match name {
            "off0" => Ok(Pattern::Off0),
            "seq" => Ok(Pattern::Seq),
            "rnd" => Ok(Pattern::Rnd),
            "shuffled" => Ok(Pattern::Shuffled),
            "reverse" => Ok(Pattern::Reverse),
            _ => node.fail(format_args!(
                "{name:?} is none of off0, seq, rnd, shuffled, reverse, {{stride}}, {{rnd_near}}"
            )),
        };
    }
    let outer = node.object()?;
    let pattern = if let Some(stride) = outer.get("stride") {
        let inner = stride.object()?;
        let hole = inner.whole("hole", 0, MANY >> 1)?.unwrap_or(0);
        let jitter = inner.whole("jitter", 0, MANY >> 2)?.unwrap_or(0);
        inner.no_other_keys()?;
        Pattern::Stride { hole, jitter }
    } else {
        let inner = outer.need("rnd_near")?.object()?;
        let distance = inner.need("distance")?;
        let bytes = distance.whole(0, MANY)?;
        if bytes < u64::from(range.transfer) {
            return distance.fail("must be at least the transfer size, else the position never moves");
        }
        inner.no_other_keys()?;
        Pattern::RndNear { distance: bytes }
    };
    outer.no_other_keys()?;
    Ok(pattern)
}

fn compute(object: &Object, bytes: u32) -> Result<Option<Compute>> {
    let ns = object.whole("ns", 0, MANY)?;
    let ns_per_byte = object.get("ns_per_byte").map(|node| node.number()).transpose()?;
    if ns.is_none() && ns_per_byte.is_none() {
        return Ok(None);
    }
    let compute = Compute { ns: ns.unwrap_or(0), ns_per_byte: ns_per_byte.unwrap_or(0.0), bytes };
    if compute.duration_ns() > COMPUTE_MAX_NS {
        return object.fail("computing for more than an hour: it cannot be interrupted");
    }
    Ok(Some(compute))
}
