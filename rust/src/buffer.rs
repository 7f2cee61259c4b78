//! Aligned memory for data, one region for each operation that can be in flight.

use crate::content::Stamp;
use crate::error::{Error, Result};
use std::alloc::{Layout, alloc, dealloc};

/// Of this machine: 4 KiB, or up to 64 KiB on some.
pub fn page_size() -> usize {
    // SAFETY: touches no memory of ours; async-signal-safe.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

/// Whether this much may be taken and touched: no more than half of the machine's memory, because the kernel
/// promises more than it has and then ends a process.
pub fn fits_memory(bytes: usize) -> bool {
    // SAFETY: touches no memory of ours.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    usize::try_from(pages).is_ok_and(|pages| bytes / page_size() <= pages / 2)
}

pub struct Buffer {
    start: *mut u8,
    layout: Layout,
    region_size: usize,
    region_step: usize,
}

// SAFETY: the memory belongs to this value alone; the pointer is not shared.
unsafe impl Send for Buffer {}

impl Buffer {
    /// `regions` regions of `region_size` bytes, each aligned, filled (and so touched) with `stamp`'s content.
    pub fn new(region_size: usize, alignment: usize, regions: usize, stamp: Stamp) -> Result<Self> {
        let no_memory = || Error::os(libc::ENOMEM, format!("{regions} buffers of {region_size} bytes"));
        let region_step = region_size.max(1).next_multiple_of(alignment);
        let size =
            region_step.checked_mul(regions).filter(|&size| fits_memory(size)).ok_or_else(no_memory)?;
        let layout = Layout::from_size_align(size, alignment).map_err(|_| no_memory())?;
        // SAFETY: the size is not zero.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return Err(no_memory());
        }
        let mut buffer = Self { start, layout, region_size, region_step };
        for region in 0..regions {
            // SAFETY: the region lies inside the allocation.
            unsafe { buffer.pointer(region, 0).write_bytes(1, region_size) };
            stamp.fill(buffer.slice(region, 0, region_size), (region * region_step) as u64);
        }
        Ok(buffer)
    }

    #[inline]
    pub fn pointer(&self, region: usize, offset: usize) -> *mut u8 {
        debug_assert!(region * self.region_step + offset <= self.layout.size());
        // SAFETY: inside the allocation.
        unsafe { self.start.add(region * self.region_step + offset) }
    }

    #[inline]
    pub fn slice(&mut self, region: usize, offset: usize, length: usize) -> &mut [u8] {
        assert!(offset + length <= self.region_size && (region + 1) * self.region_step <= self.layout.size());
        // SAFETY: inside the allocation (asserted), initialised, and borrowed as long as `self`.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(region, offset), length) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.start, self.layout) };
    }
}
