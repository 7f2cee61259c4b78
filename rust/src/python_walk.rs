//! The seam to Python of the walk of a tree; no logic. Documented in `_native.pyi`.

use crate::walk::{AGE_EDGES_DAYS, Asked, BottomK, By, Drawn, SNAPSHOTS, Totals, Walk};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::time::Duration;

type Column = fn(&Drawn) -> u64;

const BETWEEN_SIGNALS: Duration = Duration::from_millis(100);

#[pyfunction]
#[pyo3(signature = (path, *, threads, seed, by_count, by_size, now_s, allocated=false, other_file_systems=false, snapshots=false, by_owner=false, by_depth=None, rate=0, share=(0, 1), on_progress=None))]
#[allow(clippy::too_many_arguments)]
fn walk_tree<'py>(
    py: Python<'py>,
    path: &[u8],
    threads: usize,
    seed: u64,
    by_count: usize,
    by_size: usize,
    now_s: i64,
    allocated: bool,
    other_file_systems: bool,
    snapshots: bool,
    by_owner: bool,
    by_depth: Option<u32>,
    rate: u32,
    share: (u32, u32),
    on_progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let by = if by_owner { By::Owner } else { by_depth.map_or(By::None, By::Directory) };
    let asked = Asked {
        threads,
        seed,
        by_count,
        by_size,
        allocated,
        other_file_systems,
        snapshots,
        by,
        share,
        rate,
        now_s,
    };
    let walk = py.detach(|| Walk::start(path, asked))?;
    let part = loop {
        if let Some(part) = py.detach(|| walk.wait(BETWEEN_SIGNALS)) {
            break part?;
        }
        let heard = py.check_signals().and_then(|()| match &on_progress {
            Some(told) => {
                let steps = walk.steps().into_iter();
                let steps = steps.map(|(thread, step, path)| (thread, step, PyBytes::new(py, &path)));
                told.call1((walk.files(), walk.advanced(), steps.collect::<Vec<_>>())).map(drop)
            }
            None => Ok(()),
        });
        if let Err(error) = heard {
            walk.stop();
            return Err(error);
        }
    };
    let found = of_totals(py, part.totals)?;
    found.set_item("by_count", of_drawn(py, part.by_count)?)?;
    found.set_item("by_size", of_drawn(py, part.by_size)?)?;
    found.set_item("strata", of_strata(py, &walk)?)?;
    Ok(found)
}

fn of_strata<'py>(py: Python<'py>, walk: &Walk) -> PyResult<Option<Bound<'py, PyList>>> {
    let Some(strata) = walk.strata() else { return Ok(None) };
    let rows = PyList::empty(py);
    for one in strata {
        let row = PyDict::new(py);
        row.set_item("name", PyBytes::new(py, &one.name))?;
        for (name, number) in ["files", "bytes", "allocated_bytes"].iter().zip(one.row()) {
            row.set_item(name, number)?;
        }
        let (by_count, by_size) = one.take();
        row.set_item("by_count", of_drawn(py, by_count)?)?;
        row.set_item("by_size", of_drawn(py, by_size)?)?;
        rows.append(row)?;
    }
    Ok(Some(rows))
}

fn of_totals<'py>(py: Python<'py>, totals: Totals) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let numbers = [
        ("files", totals.whole[0]),
        ("bytes", totals.whole[1]),
        ("allocated_bytes", totals.whole[2]),
        ("empty", totals.empty),
        ("released", totals.released[0]),
        ("released_bytes", totals.released[1]),
        ("directories", totals.directories),
        ("links", totals.links),
        ("others", totals.others),
        ("hard_links", totals.hard_links),
        ("links_unchecked", totals.links_unchecked),
        ("linked_elsewhere", totals.linked_elsewhere),
        ("vanished", totals.vanished),
        ("unreadable_directories", totals.unreadable_directories),
        ("unknown_entries", totals.unknown_entries),
        ("mounts", totals.mounts),
        ("deepest", totals.deepest.into()),
    ];
    for (name, number) in numbers {
        found.set_item(name, number)?;
    }
    let snapshots = PyDict::new(py);
    for (name, count) in SNAPSHOTS.iter().zip(totals.snapshots) {
        snapshots.set_item(name, count)?;
    }
    found.set_item("snapshots", snapshots)?;
    let tables: [(&str, &[[u64; 3]]); 4] = [
        ("sizes", &totals.sizes),
        ("modified", &totals.modified),
        ("accessed", &totals.accessed),
        ("depths", &totals.depths),
    ];
    for (name, rows) in tables {
        found.set_item(name, rows.as_flattened().to_vec().into_pyarray(py).reshape([rows.len(), 3])?)?;
    }
    found.set_item("owners", totals.owners.into_iter().collect::<std::collections::BTreeMap<_, _>>())?;
    found.set_item("errors", totals.errors)?;
    Ok(found)
}

fn of_drawn<'py>(py: Python<'py>, sample: BottomK) -> PyResult<Bound<'py, PyDict>> {
    let (keys, files): (Vec<f64>, Vec<Drawn>) = sample.into_drawn().into_iter().unzip();
    let found = PyDict::new(py);
    found.set_item("path", PyList::new(py, files.iter().map(|file| PyBytes::new(py, &file.path())))?)?;
    found.set_item("key", keys.into_pyarray(py))?;
    let columns: [(&str, Column); 5] = [
        ("size", |file| file.stat.size),
        ("allocated", |file| file.stat.allocated),
        ("device", |file| file.stat.device),
        ("inode", |file| file.stat.inode),
        ("owner", |file| file.stat.owner.into()),
    ];
    for (name, column) in columns {
        found.set_item(name, files.iter().map(column).collect::<Vec<_>>().into_pyarray(py))?;
    }
    let nanoseconds = |file: &Drawn| {
        file.stat.modified_s.saturating_mul(1_000_000_000).saturating_add(file.stat.modified_ns.into())
    };
    found.set_item("modified_ns", files.iter().map(nanoseconds).collect::<Vec<_>>().into_pyarray(py))?;
    found.set_item(
        "accessed_s",
        files.iter().map(|file| file.stat.accessed_s).collect::<Vec<_>>().into_pyarray(py),
    )?;
    Ok(found)
}

/// Of this thread, and of those that it will start.
#[pyfunction]
fn give_way() -> bool {
    const LEAST_NICE: i32 = 19;
    const WHO_PROCESS: i32 = 1;
    const IDLE_CLASS: i32 = 3 << 13;
    // SAFETY: system calls on numbers.
    unsafe {
        let cpu = libc::setpriority(libc::PRIO_PROCESS, 0, LEAST_NICE) == 0;
        libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, IDLE_CLASS) == 0 && cpu
    }
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("AGE_EDGES_DAYS", PyList::new(module.py(), AGE_EDGES_DAYS)?)?;
    module.add_function(wrap_pyfunction!(give_way, module)?)?;
    module.add_function(wrap_pyfunction!(walk_tree, module)?)
}
