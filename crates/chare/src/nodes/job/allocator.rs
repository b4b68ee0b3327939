//! What the allocator is told of a program whose messages are long.

use std::hint::black_box;

/// The block that is freed.
const BYTES: usize = 8 << 20;

/// Has the allocator keep memory that is freed, for the next message.
///
/// Each message between nodes needs memory on its way, and at its end. Of an arena of which more than 128 KB are free at its end, glibc gives these back to the system, and has them again for the
/// next message, page by page: that took four fifths of the time of kNeighbor with 64 KB between processes. How much may stay it learns from the largest block that was ever freed (`mallopt(3)`, the
/// dynamic threshold): so one is, which nobody touches, so that it costs two system calls. From then on 16 MB an arena may stay. To other allocators it means nothing.
pub(super) fn keep_freed_memory() {
    let mut block = Vec::<u8>::new();
    // Without so much memory there is nothing to keep.
    let _ = block.try_reserve_exact(BYTES);
    drop(black_box(block));
}
