//! Starting 4,096 workers took half a minute: each looked through all others 32 times before it
//! slept, each time with a fence per victim, so that the work of all grew with the square of their
//! number and left the caches. What a worker looks at in one search is bounded now.

use std::time::Duration;

use raddle_runtime::{IdlePolicy, PoolKind, Runtime};

#[test]
fn search_of_one_among_many_workers_is_short() {
    const WORKERS: usize = 512;
    let runtime = Runtime::builder()
        .workers(WORKERS)
        .pool(PoolKind::Deque)
        .idle(IdlePolicy::Park)
        .build()
        .expect("a runtime");
    assert_eq!(runtime.install(|| 7), 7);
    let total = loop {
        let total = runtime.report().total;
        if total.parks >= WORKERS as u64 {
            break total;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    // Each sleep has one search before it: a few looks, and a last one. Some workers may be in
    // another one.
    let searches = total.parks + WORKERS as u64;
    let looks_per_search = total.steals_tried / searches;
    // With 32 looks at everybody it would be 16,863.
    assert!(
        looks_per_search <= 2_048 + 2 * WORKERS as u64,
        "{looks_per_search} victims in a search"
    );
}
