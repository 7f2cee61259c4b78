//! Aligned memory for data, one region for each operation that can be in flight.

use crate::content::Stamp;
use crate::error::{Error, Result};
use std::alloc::{Layout, alloc_zeroed, dealloc};

pub struct Buffer {
    start: *mut u8,
    layout: Layout,
    region_step: usize,
}

// SAFETY: the memory belongs to this value alone; the pointer is not shared.
unsafe impl Send for Buffer {}

impl Buffer {
    /// `regions` regions of `region_size` bytes, each aligned, filled (and so touched) with `stamp`'s content.
    pub fn new(region_size: usize, alignment: usize, regions: usize, stamp: Stamp) -> Result<Self> {
        let no_memory = || Error::os(libc::ENOMEM, format!("{regions} buffers of {region_size} bytes"));
        let region_step = region_size.max(1).next_multiple_of(alignment);
        let size = region_step.checked_mul(regions).ok_or_else(no_memory)?;
        let layout = Layout::from_size_align(size, alignment).map_err(|_| no_memory())?;
        // SAFETY: the size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            return Err(no_memory());
        }
        let mut buffer = Self { start, layout, region_step };
        for region in 0..regions {
            let bytes = buffer.slice(region, 0, region_size);
            bytes.fill(1);
            stamp.fill(bytes, (region * region_step) as u64);
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
        assert!(offset + length <= self.region_step && (region + 1) * self.region_step <= self.layout.size());
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
