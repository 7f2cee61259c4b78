//! Before and after the timed call: what an operation needs is made ready, what came out is judged and recorded.

use crate::backend::{Backend, Request};
use crate::content::{Content, Stamp, make_unique};
use crate::control::Control;
use crate::error::errno_text;
use crate::flight::Begun;
use crate::kind::Kind;
use crate::mapping::{Mapping, Wanted};
use crate::plan::Planned;
use crate::record::{self, STATUS_MISMATCH, STATUS_OK, STATUS_OTHER, STATUS_SHORT};
use crate::worker::{Failure, State, Worker};
use crate::workload::Phase;
use std::os::fd::RawFd;

const FAILURES_KEPT: usize = 100;

/// How an operation ended.
struct Verdict {
    status: u8,
    moved: u32,
    /// The first wrong byte, for a mismatch.
    bad_offset: Option<u64>,
}

impl<B: Backend> Worker<B> {
    pub(crate) fn bare_request(&self, state: &State, planned: &Planned) -> Request {
        let visit = state.visits[planned.visit as usize];
        Request {
            flags: state.flags,
            offset: planned.offset,
            extent: planned.extent,
            length: planned.length,
            ..self.files.slots[visit.slot as usize].request(planned.kind)
        }
    }

    /// Everything that the call needs; not timed. Err is the errno of what could not be made ready.
    #[inline]
    pub(crate) fn request(
        &mut self,
        phase: &Phase,
        state: &mut State,
        planned: &Planned,
        region: usize,
    ) -> Result<Request, i64> {
        let visit = state.visits[planned.visit as usize];
        let kind = planned.kind;
        if matches!(kind, Kind::Open | Kind::Create) {
            // A descriptor that no step closed would be lost.
            self.files.slots[visit.slot as usize].close(&mut self.backend);
        }
        let mut request = self.bare_request(state, planned);
        match kind {
            // Who makes a file may write it, whatever comes next.
            Kind::Create => {
                request.flags |= libc::O_RDWR;
                if state.beside {
                    request.name = request.new_name;
                }
            }
            Kind::Open => request.flags &= !libc::O_EXCL,
            _ => {}
        }
        if kind.is_data() {
            request.buffer = state.buffer.pointer(region, planned.memory);
            if kind.puts_content() {
                self.put_content(phase, state, planned, region);
            }
            if let Some(window) = planned.window {
                request.mapped = state
                    .buffer
                    .slice(region, phase.memory_size.0 as usize / 2, window.length as usize)
                    .as_mut_ptr();
            }
            if kind.is_mmap() && B::REAL {
                request.mapped = mapped(state, planned, visit.slot, request.fd)?;
            }
        }
        Ok(request)
    }

    #[inline]
    fn put_content(&self, phase: &Phase, state: &mut State, planned: &Planned, region: usize) {
        let stamp = phase.verify.then(|| self.stamp(phase, state, planned));
        let bytes = state.buffer.slice(region, planned.memory, planned.length as usize);
        match stamp {
            Some(stamp) => each_run(planned, |offset, run| stamp.fill(&mut bytes[run], offset)),
            None if phase.content == Content::Zeros => {}
            None => {
                state.writes += 1;
                make_unique(bytes, state.content_seed.wrapping_add(state.writes));
            }
        }
    }

    fn stamp(&self, phase: &Phase, state: &State, planned: &Planned) -> Stamp {
        let visit = state.visits[planned.visit as usize];
        let file = self.files.slots[visit.slot as usize].content_key;
        Stamp::of_file(phase.content, self.workload.seed.0, file)
    }

    /// Judge and record one operation; not timed.
    #[inline]
    pub(crate) fn finish(
        &mut self,
        phase: &Phase,
        state: &mut State,
        control: &Control,
        begun: Begun,
        result: i64,
        end_ns: u64,
    ) {
        let Begun { planned, request, start_ns } = begun;
        let visit = state.visits[planned.visit as usize];
        let slot = &mut self.files.slots[visit.slot as usize];
        match planned.kind {
            Kind::Open | Kind::Create if result >= 0 => slot.set_fd(result as RawFd),
            // Linux gives the descriptor back whatever close returns.
            Kind::Close => slot.set_fd(-1),
            Kind::Rename if result >= 0 => slot.renamed(),
            _ => {}
        }
        let verdict = self.judge(phase, state, &planned, &request, result);
        state.done += 1;
        if state.recorder.enabled() {
            let duration_ns = end_ns.saturating_sub(start_ns);
            if state.started_ns == 0 || start_ns < state.started_ns {
                state.started_ns = start_ns;
            }
            state.ended_ns = state.ended_ns.max(end_ns);
            let (kind, status, offset) = (planned.kind, verdict.status, planned.offset);
            state.recorder.push(record::pack(
                kind,
                status,
                start_ns,
                duration_ns,
                offset,
                verdict.moved,
                visit.number,
            ));
        } else {
            state.recorder.count_only(planned.kind, verdict.moved, verdict.status != STATUS_OK);
        }
        control.set_done(self.index, state.done);
        if verdict.status != STATUS_OK {
            self.note_failure(state, &planned, result, &verdict);
        }
    }

    #[inline]
    fn judge(
        &self,
        phase: &Phase,
        state: &mut State,
        planned: &Planned,
        request: &Request,
        result: i64,
    ) -> Verdict {
        let kind = planned.kind;
        if result < 0 {
            let status = u8::try_from(-result).unwrap_or(STATUS_OTHER).min(STATUS_OTHER);
            return Verdict { status, moved: 0, bad_offset: None };
        }
        let moved = match kind {
            Kind::Readdir => result as u32,
            Kind::Compute => planned.length,
            _ if kind.is_data() => result as u32,
            _ => 0,
        };
        let mut verdict = Verdict { status: STATUS_OK, moved, bad_offset: None };
        if kind.is_mmap() && state.mapping.as_ref().is_some_and(Mapping::is_broken) {
            state.mapping = None;
            return Verdict { status: libc::EIO as u8, moved: 0, bad_offset: None };
        }
        if kind.is_data() && moved < planned.length {
            verdict.status = STATUS_SHORT;
        } else if phase.verify && matches!(kind, Kind::Read | Kind::MmapRead) {
            // SAFETY: the call filled `length` bytes of this region of the worker's buffer.
            let bytes = unsafe { std::slice::from_raw_parts(request.buffer, planned.length as usize) };
            let stamp = self.stamp(phase, state, planned);
            each_run(planned, |offset, run| {
                verdict.bad_offset = verdict.bad_offset.or_else(|| stamp.first_mismatch(&bytes[run], offset));
            });
            if verdict.bad_offset.is_some() {
                verdict.status = STATUS_MISMATCH;
            }
        }
        verdict
    }

    #[cold]
    #[inline(never)]
    fn note_failure(&self, state: &mut State, planned: &Planned, result: i64, verdict: &Verdict) {
        state.failed = true;
        if state.failures.len() == FAILURES_KEPT {
            return;
        }
        let offset = verdict.bad_offset.unwrap_or(planned.offset);
        let (errno, text) = match verdict.status {
            STATUS_SHORT => (STATUS_SHORT.into(), format!("{} of {} bytes", verdict.moved, planned.length)),
            STATUS_MISMATCH => (STATUS_MISMATCH.into(), format!("byte {offset} is not what was written")),
            status if result >= 0 => (i32::from(status), "nothing behind the mapped page".to_owned()),
            _ => (-result as i32, errno_text(-result as i32)),
        };
        let path = self.files.path(state.visits[planned.visit as usize].slot);
        state.failures.push(Failure { kind: planned.kind, path, offset, errno, text });
    }
}

/// Every run of an operation's bytes that lies together in the file: its offset there, and its place in memory.
#[inline]
fn each_run(planned: &Planned, mut visit: impl FnMut(u64, std::ops::Range<usize>)) {
    match planned.window {
        None => visit(planned.offset, 0..planned.length as usize),
        Some(window) => window.pieces().for_each(|piece| {
            visit(window.offset + piece.at as u64, piece.packed..piece.packed + piece.length);
        }),
    }
}

/// The address of the operation's place in the mapped file; maps the step's range on its first operation.
fn mapped(state: &mut State, planned: &Planned, slot: u32, fd: RawFd) -> Result<*mut u8, i64> {
    let range = planned.range.expect("data kinds have a range");
    let wanted = Wanted { fd, slot, stage: planned.stage, range, write: planned.kind == Kind::MmapWrite };
    if state.mapping.as_ref().is_none_or(|mapping| mapping.wanted != wanted) {
        state.mapping = None;
        state.mapping = Some(Mapping::new(wanted)?);
    }
    Ok(state.mapping.as_ref().expect("just mapped").address(planned.offset))
}
