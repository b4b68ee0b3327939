//! A program of its own, since what one test frees changes what the allocator does in another.

use std::hint::black_box;

use raddle_chare::nodes::Job;

/// Pages that this process has had to be given so far: the tenth field of `/proc/self/stat`.
fn faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("the system tells");
    let after_name = stat.rsplit(')').next().expect("there is a name");
    let field = after_name.split_whitespace().nth(7);
    field.and_then(|field| field.parse().ok()).expect(&stat)
}

/// Messages of 64 KB between processes had their memory page by page, each time: glibc gave it back in between.
#[test]
fn memory_of_long_messages_is_kept() {
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
    let found = found.expect("the nodes come up");
    // Six messages are 96 pages.
    assert!(found < 10_000, "{found}");
}
