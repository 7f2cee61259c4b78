//! For tests: a directory that goes when it is dropped.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub struct TempDir(PathBuf);

impl TempDir {
    pub fn new(name: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("iosonde-test-{}-{number}-{name}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A data operation as a back end gets it, without a file or memory behind it.
pub fn request(kind: crate::kind::Kind, offset: u64, length: u32) -> crate::backend::Request {
    crate::backend::Request {
        kind,
        dir: -1,
        name: std::ptr::null(),
        new_name: std::ptr::null(),
        fd: -1,
        flags: 0,
        buffer: std::ptr::null_mut(),
        mapped: std::ptr::null_mut(),
        length,
        offset,
        extent: 0,
    }
}
