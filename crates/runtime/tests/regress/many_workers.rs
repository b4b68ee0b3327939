//! Starting 4,096 workers took half a minute. Before it slept, each worker searched all others 32
//! times, with one fence per victim. The total work grew with the square of the number of workers
//! and did not fit into the caches. Now a worker looks at a bounded number of victims per search.

use std::time::Duration;

use raddle_runtime::{IdlePolicy, PoolKind};

use crate::common::runtime_with;

#[test]
fn one_of_many_workers_searches_few_victims() {
    const WORKERS: usize = 512;
    let runtime = runtime_with(WORKERS, |builder| {
        builder.pool(PoolKind::Deque).idle(IdlePolicy::Park)
    });
    assert_eq!(runtime.install(|| 7), 7);
    let total = loop {
        let total = runtime.report().total;
        if total.parks >= WORKERS as u64 {
            break total;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    // One search precedes each sleep: a few looks at each victim, and a last one. Some workers may
    // be in the middle of another search.
    let searches = total.parks + WORKERS as u64;
    let looks_per_search = total.steals_tried / searches;
    // With 32 looks at every other worker it would be 16,863.
    assert!(
        looks_per_search <= 2_048 + 2 * WORKERS as u64,
        "{looks_per_search} victims in a search"
    );
}
