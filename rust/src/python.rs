//! The seam to Python: arguments, GIL, errors; no logic. Documented in `_native.pyi`.

use crate::backend::machine;
use crate::content::Packed;
use crate::control::Control;
use crate::engine::Engine;
use crate::error::Error;
use crate::histogram::{BUCKETS, lower_edge_ns};
use crate::worker::{Outcome, Stopped};
use crate::{cache, clock, kind, remove};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::{PyException, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pyo3::create_exception!(_native, EngineError, PyException);

impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        match error {
            Error::Workload(text) => EngineError::new_err(text),
            // Three arguments make Python choose FileNotFoundError, PermissionError, ….
            Error::Os { errno, path } => PyOSError::new_err((errno, crate::error::errno_text(errno), path)),
        }
    }
}

#[pyclass(frozen, module = "iosonde.engine._native")]
struct Session {
    engine: Mutex<Engine>,
    control: Arc<Control>,
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (workload, max_operations, record=true))]
    fn new(workload: &str, max_operations: u64, record: bool) -> PyResult<Self> {
        let engine = Engine::new(workload, max_operations, record)?;
        Ok(Self { control: engine.control(), engine: Mutex::new(engine) })
    }

    fn prepare(&self, py: Python<'_>, phase: usize) -> PyResult<()> {
        self.with_engine(|engine| Ok(py.detach(|| engine.prepare(phase))?))
    }

    #[pyo3(signature = (phase, start_at_ns=0))]
    fn run(&self, py: Python<'_>, phase: usize, start_at_ns: u64) -> PyResult<Vec<Py<PhaseRecord>>> {
        self.with_engine(|engine| {
            engine.start(phase, start_at_ns)?;
            self.finish(py, engine)
        })
    }

    fn wear_out(&self, py: Python<'_>, phase: usize, count: u64) -> PyResult<Vec<Py<PhaseRecord>>> {
        self.with_engine(|engine| {
            py.detach(|| engine.prepare_wear_out(phase, count))?;
            engine.start(phase, 0)?;
            self.finish(py, engine)
        })
    }

    fn operations_done(&self) -> u64 {
        self.control.operations_done()
    }

    fn stop(&self) {
        self.control.stop();
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.with_engine(|engine| {
            py.detach(|| engine.close());
            Ok(())
        })
    }
}

impl Session {
    fn with_engine<T>(&self, action: impl FnOnce(&mut Engine) -> PyResult<T>) -> PyResult<T> {
        match self.engine.try_lock() {
            Ok(mut engine) => action(&mut engine),
            Err(_) => Err(EngineError::new_err("the session is busy in another thread")),
        }
    }

    /// Wait for the running phase without the GIL, but let Python's signal handlers run now and then.
    fn finish(&self, py: Python<'_>, engine: &mut Engine) -> PyResult<Vec<Py<PhaseRecord>>> {
        const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);
        let mut interrupted = None;
        while !py.detach(|| self.control.wait(BETWEEN_SIGNALS)) {
            if interrupted.is_none()
                && let Err(error) = py.check_signals()
            {
                self.control.stop();
                interrupted = Some(error);
            }
        }
        let outcomes = py.detach(|| engine.collect())?;
        match interrupted {
            Some(error) => Err(error),
            None => outcomes
                .into_iter()
                .enumerate()
                .map(|(worker, outcome)| Py::new(py, PhaseRecord::new(py, worker, outcome)?))
                .collect(),
        }
    }
}

#[pyclass(frozen, get_all, module = "iosonde.engine._native")]
struct PhaseRecord {
    worker: usize,
    started_ns: u64,
    ended_ns: u64,
    operations: Py<PyArray2<u64>>,
    complete: bool,
    stopped: &'static str,
    totals: Py<PyList>,
    histograms: Py<PyDict>,
    errors: Py<PyList>,
    end_error_ns: u64,
    extra_bytes: u64,
    truth: Py<PyBytes>,
}

impl PhaseRecord {
    fn new(py: Python<'_>, worker: usize, outcome: Outcome) -> PyResult<Self> {
        let recording = outcome.recording;
        let count = recording.operations.len();
        // The Vec's memory becomes the array's: nothing is copied.
        let operations = recording.operations.into_flattened().into_pyarray(py).reshape([count, 4])?;
        let totals = PyList::empty(py);
        for (kind, total) in &recording.totals {
            let entry = PyDict::new(py);
            entry.set_item("kind", *kind as u64)?;
            entry.set_item("count", total.count)?;
            entry.set_item("bytes", total.bytes)?;
            entry.set_item("errors", total.errors)?;
            entry.set_item("first_start_ns", total.first_start_ns)?;
            entry.set_item("last_end_ns", total.last_end_ns)?;
            entry.set_item("sum_duration_ns", total.sum_duration_ns)?;
            totals.append(entry)?;
        }
        let histograms = PyDict::new(py);
        for (kind, histogram) in &recording.histograms {
            let (buckets, counts) = histogram.filled();
            histograms.set_item(*kind as u64, (buckets.into_pyarray(py), counts.into_pyarray(py)))?;
        }
        let errors = PyList::empty(py);
        for failure in &outcome.failures {
            let entry = PyDict::new(py);
            entry.set_item("kind", failure.kind.name())?;
            entry.set_item("path", &failure.path)?;
            entry.set_item("offset", failure.offset)?;
            entry.set_item("errno", failure.errno)?;
            entry.set_item("text", &failure.text)?;
            errors.append(entry)?;
        }
        Ok(Self {
            worker,
            started_ns: outcome.started_ns,
            ended_ns: outcome.ended_ns,
            operations: operations.unbind(),
            complete: recording.complete,
            stopped: match outcome.stopped {
                Stopped::Count => "count",
                Stopped::TimeLimit => "time_limit",
                Stopped::Error => "error",
                Stopped::Stop => "stop",
            },
            totals: totals.unbind(),
            histograms: histograms.unbind(),
            errors: errors.unbind(),
            end_error_ns: outcome.end_error_ns,
            extra_bytes: outcome.extra_bytes,
            truth: PyBytes::new(py, &outcome.truth).unbind(),
        })
    }
}

#[pyfunction]
fn bucket_edges_ns(py: Python<'_>) -> Bound<'_, PyArray1<f64>> {
    (0..=BUCKETS).map(|bucket| lower_edge_ns(bucket) as f64).collect::<Vec<_>>().into_pyarray(py)
}

#[pyfunction]
fn monotonic_ns() -> u64 {
    clock::monotonic_ns()
}

#[pyfunction]
fn clock_cost_ns(py: Python<'_>) -> f64 {
    py.detach(clock::cost_ns)
}

#[pyfunction]
fn page_cache(py: Python<'_>, path: &str) -> PyResult<(u64, u64)> {
    Ok(py.detach(|| cache::page_cache(path))?)
}

#[pyfunction]
fn read_timed(
    py: Python<'_>,
    fd: i32,
    offset: u64,
    length: usize,
) -> PyResult<(Py<PyBytes>, u64, Option<bool>)> {
    let read = py.detach(|| cache::read_timed(fd, offset, length))?;
    Ok((PyBytes::new(py, &read.data).unbind(), read.ns, read.cached))
}

#[pyfunction]
fn drop_page_cache(py: Python<'_>, path: &str) -> PyResult<()> {
    Ok(py.detach(|| cache::drop_page_cache(path))?)
}

#[pyfunction]
fn sync_file_system(py: Python<'_>, path: &str) -> PyResult<()> {
    Ok(py.detach(|| cache::sync_file_system(path))?)
}

#[pyfunction]
#[pyo3(signature = (path, threads=4))]
fn remove_tree(py: Python<'_>, path: std::ffi::OsString, threads: usize) -> PyResult<(u64, u64)> {
    Ok(py.detach(|| remove::remove_tree(&path, threads))?)
}

#[pyfunction]
#[pyo3(signature = (directory, name, identity=None, threads=4))]
fn remove_tree_at(
    py: Python<'_>,
    directory: i32,
    name: std::ffi::OsString,
    identity: Option<(u64, u64)>,
    threads: usize,
) -> PyResult<(u64, u64)> {
    Ok(py.detach(|| remove::remove_tree_at(directory, &name, identity, threads))?)
}

#[pyfunction]
fn removed() -> u64 {
    remove::removed()
}

#[pyfunction]
fn fill_content(
    mut buffer: PyReadwriteArray1<'_, u8>,
    seed: u64,
    name: &str,
    offset: u64,
    piece: usize,
    hole: u64,
) -> PyResult<()> {
    packed(seed, name, offset, piece, hole)?.fill(buffer.as_slice_mut()?);
    Ok(())
}

#[pyfunction]
fn content_mismatch(
    buffer: PyReadonlyArray1<'_, u8>,
    seed: u64,
    name: &str,
    offset: u64,
    piece: usize,
    hole: u64,
) -> PyResult<Option<u64>> {
    Ok(packed(seed, name, offset, piece, hole)?.first_mismatch(buffer.as_slice()?))
}

fn packed(seed: u64, name: &str, offset: u64, piece: usize, hole: u64) -> PyResult<Packed> {
    if piece == 0 {
        return Err(PyValueError::new_err("a piece has at least one byte"));
    }
    Ok(Packed::new(seed, name, offset, piece, hole))
}

#[pymodule]
fn _native(py: Python<'_>, module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("KINDS", PyList::new(py, kind::NAMES)?)?;
    module.add("MACHINE_CLASSES", PyList::new(py, machine::CLASSES)?)?;
    module.add("EngineError", py.get_type::<EngineError>())?;
    module.add_class::<Session>()?;
    module.add_class::<PhaseRecord>()?;
    module.add_function(wrap_pyfunction!(bucket_edges_ns, module)?)?;
    module.add_function(wrap_pyfunction!(monotonic_ns, module)?)?;
    module.add_function(wrap_pyfunction!(clock_cost_ns, module)?)?;
    module.add_function(wrap_pyfunction!(page_cache, module)?)?;
    module.add_function(wrap_pyfunction!(read_timed, module)?)?;
    module.add_function(wrap_pyfunction!(drop_page_cache, module)?)?;
    module.add_function(wrap_pyfunction!(sync_file_system, module)?)?;
    module.add_function(wrap_pyfunction!(fill_content, module)?)?;
    module.add_function(wrap_pyfunction!(content_mismatch, module)?)?;
    module.add_function(wrap_pyfunction!(remove_tree, module)?)?;
    module.add_function(wrap_pyfunction!(remove_tree_at, module)?)?;
    module.add_function(wrap_pyfunction!(removed, module)?)?;
    crate::python_walk::add(module)
}
