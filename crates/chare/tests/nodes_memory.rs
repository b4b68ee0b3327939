//! A separate test program, because the memory that one test frees changes what the allocator does
//! in another test.

use std::hint::black_box;

use raddle_chare::nodes::Job;

/// Returns the number of minor page faults of this process: the tenth field of `/proc/self/stat`.
fn faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("`/proc/self/stat` is readable");
    let after_name = stat.rsplit(')').next().expect("the line has a name");
    let field = after_name.split_whitespace().nth(7);
    field.and_then(|field| field.parse().ok()).expect(&stat)
}

// Regression: glibc returned the memory of 64 KB messages between processes to the system after
// each message, so that every message caused a page fault for each of its pages.
#[test]
fn memory_of_long_messages_is_reused() {
    let found = Job::new(2).run_within(
        |_| (),
        |_, ()| {
            let before = faults();
            for _ in 0..1_000 {
                let messages = [(); 6].map(|()| black_box(vec![1_u8; 64 << 10]));
                drop(messages);
            }
            faults() - before
        },
    );
    let found = found.expect("the nodes start");
    // Six messages are 96 pages.
    assert!(found < 10_000, "{found}");
}
