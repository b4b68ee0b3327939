//! More waits, each inside of the one before, than there are threads for. Such a program stood
//! still without a word: a call that nobody was left to run, and a thousand threads that waited for
//! it.

mod nesting;

use std::mem::forget;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use nesting::{nest, runtime};
use raddle_runtime::Runtime;

/// More than the 1,024 threads that stand in for workers.
const DEPTH: usize = 1_100;

/// Workers of two runtimes wait for each other.
fn bounce(here: &Arc<Runtime>, there: &Arc<Runtime>, depth: usize) {
    if depth > 0 {
        let (next, after) = (Arc::clone(there), Arc::clone(here));
        there.install(move || bounce(&next, &after, depth - 1));
    }
}

/// In one test, because they share the hook for panics.
#[test]
fn panics_say_that_a_program_stands_still() {
    let (say, said) = mpsc::channel();
    panic::set_hook(Box::new(move |panic| drop(say.send(panic.to_string()))));

    // The wait for a handle can end early.
    let runtime = runtime(1);
    let inside = Arc::clone(&runtime);
    let call = || runtime.install(move || nest(&inside, DEPTH));
    let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("too many levels");
    let text = panic.downcast_ref::<String>().expect("a text");
    assert!(
        text.contains("stands still, which will never end"),
        "{text}"
    );
    assert!(
        text.contains("the 1024 threads that stand in for them"),
        "{text}"
    );
    // The runtime goes on.
    assert_eq!(runtime.install(|| 7), 7);
    assert_eq!(nest(&runtime, 10), 10);
    while said.try_recv().is_ok() {}

    // Calls of two runtimes lend memory to each other, and cannot.
    let (here, there) = (nesting::runtime(1), nesting::runtime(1));
    let (first, second) = (Arc::clone(&here), Arc::clone(&there));
    forget(thread::spawn(move || {
        here.install(move || bounce(&first, &second, 2 * DEPTH));
    }));
    let text = said.recv_timeout(Duration::from_secs(60));
    let text = text.expect("the hook hears of it");
    assert!(text.contains("which may never end"), "{text}");
}
