//! A limit on the number of threads, for tests of programs that start threads.
//!
//! A thread beyond the limit is started with a stack that is too large for any machine, so that the
//! system refuses it.

use std::cell::RefCell;
use std::sync::Arc;
use std::thread;

use raddle_sync::prim::{AtomicU32, Relaxed};

use super::*;

std::thread_local! {
    /// The number of threads that this thread, and the threads that it has started, may still
    /// start. `None` means that there is no limit.
    static LEFT: RefCell<Option<Arc<AtomicU32>>> = const { RefCell::new(None) };
}

/// Calls `run`. It and the threads that it starts can start `count` threads in total. Further
/// threads are refused.
pub(crate) fn with_threads<R>(count: u32, run: impl FnOnce() -> R) -> R {
    LEFT.set(Some(Arc::new(AtomicU32::new(count))));
    let result = run();
    LEFT.set(None);
    result
}

pub(super) fn named(name: &str) -> Builder {
    let builder = Builder::new().name(name.to_owned());
    let left = LEFT.with_borrow(Clone::clone);
    // Relaxed: only a counter.
    let is_refused = left.is_some_and(|left| {
        left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1))
            .is_err()
    });
    match is_refused {
        true => builder.stack_size(usize::MAX / 4),
        false => builder,
    }
}

/// Wraps the function of a new thread, so that the thread shares the limit of this one.
pub(super) fn inherit_limit<R>(run: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let left = LEFT.with_borrow(Clone::clone);
    move || {
        LEFT.set(left);
        run()
    }
}

#[test]
fn either_all_threads_begin_or_none_of_them() {
    for count in 0..3 {
        let start = Start::default();
        let begun = with_threads(count, || {
            thread::scope(|scope| {
                let threads = [(); 2].map(|()| spawn_in(scope, "one", || start.wait()));
                start.announce(threads.iter().all(Result::is_ok));
                let threads = threads.into_iter().flatten();
                threads
                    .map(|thread| thread.join().expect("the thread ends"))
                    .collect::<Vec<_>>()
            })
        });
        assert_eq!(begun, vec![count == 2; count as usize]);
    }
    let refused = with_threads(0, || spawn("none", || ()).expect_err("it is refused"));
    let text = refused.to_string();
    assert!(text.starts_with("the system refused a thread: "), "{text}");
}
