//! Allocator settings for programs with long messages.

use std::hint::black_box;

/// The size of the block that is allocated and freed.
const BYTES: usize = 8 << 20;

/// Makes the allocator keep freed memory for the next message.
///
/// Each message between nodes needs memory on its way and at its destination. If more than 128 KB
/// at the end of an arena are free, glibc returns them to the system, and gets them back page by
/// page for the next message. That took four fifths of the time of kNeighbor with 64 KB between
/// processes. The limit adapts to the largest block that was ever freed (`mallopt(3)`, the dynamic
/// threshold). So one large block is allocated and freed, without being touched, at the cost of two
/// system calls. From then on 16 MB per arena may stay. Other allocators are not affected.
pub(super) fn keep_freed_memory() {
    let mut block = Vec::<u8>::new();
    // Ignored: without that much memory there is nothing to keep.
    let _ = block.try_reserve_exact(BYTES);
    drop(black_box(block));
}
