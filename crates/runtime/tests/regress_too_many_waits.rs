//! Nested waits, more than there are threads for. Such a program hung silently: no thread was left
//! to run the innermost call, and a thousand threads waited for it.
//!
//! A program of its own, because the test replaces the panic hook of the process.

#![cfg(not(any(loom, shuttle)))]

#[path = "common/checks.rs"]
mod checks;
#[path = "common/nesting.rs"]
mod nesting;

use std::mem::forget;
use std::panic;
use std::sync::{Arc, mpsc};
use std::thread;

use raddle_runtime::Runtime;

use checks::{PATIENCE, panic_text};
use nesting::nest;

/// The compensating threads of a runtime. With the default of 1,024, the test would take a minute.
const COMPENSATING_MAX: usize = 100;
/// More levels than there are threads for.
const DEPTH: usize = COMPENSATING_MAX + 30;

/// Returns a runtime with one worker and few compensating threads.
fn runtime() -> Arc<Runtime> {
    let builder = Runtime::builder().workers(1);
    let built = builder.max_compensating_threads(COMPENSATING_MAX).build();
    Arc::new(built.expect("the runtime starts"))
}

/// Makes the workers of two runtimes wait for each other, `depth` levels deep.
fn bounce(here: &Arc<Runtime>, there: &Arc<Runtime>, depth: usize) {
    if depth > 0 {
        let (next, after) = (Arc::clone(there), Arc::clone(here));
        there.install(move || bounce(&next, &after, depth - 1));
    }
}

/// Checks two cases in one test, because they share the panic hook.
#[test]
fn panics_say_that_a_program_stands_still() {
    let (report, reports) = mpsc::channel();
    panic::set_hook(Box::new(move |panic| drop(report.send(panic.to_string()))));

    // A wait for a handle can end early.
    let own = runtime();
    let inside = Arc::clone(&own);
    let text = panic_text(|| own.install(move || nest(&inside, DEPTH)));
    assert!(
        text.contains("stands still, which will never end"),
        "{text}"
    );
    assert!(
        text.contains("the 100 compensating threads that replace them; there can be no more"),
        "{text}"
    );
    // The runtime can still be used.
    assert_eq!(own.install(|| 7), 7);
    assert_eq!(nest(&own, 10), 10);
    while reports.try_recv().is_ok() {}

    // Calls between two runtimes borrow from the caller's stack, so their waits cannot end early.
    let (here, there) = (runtime(), runtime());
    let (first, second) = (Arc::clone(&here), Arc::clone(&there));
    forget(thread::spawn(move || {
        here.install(move || bounce(&first, &second, 2 * DEPTH));
    }));
    let text = reports.recv_timeout(PATIENCE);
    let text = text.expect("the hook receives the message");
    assert!(text.contains("which may never end"), "{text}");
}
