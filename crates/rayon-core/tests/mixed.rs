//! Programs that use rayon's rule for waiting and Raddle's.

use std::sync::mpsc;

use raddle_runtime::Runtime;
use raddle_runtime::open::{self, OpenTasks};

fn runtime(workers: usize) -> Runtime {
    let runtime = Runtime::builder().workers(workers).build();
    runtime.expect("workers start")
}

/// Checks that rayon's work is done although the only worker waits for something else, and the
/// thread that asks for it is a compensating one. The work runs on the worker.
#[test]
fn work_of_a_compensating_thread_runs_on_the_worker_that_waits() {
    let (first, second) = (runtime(1), runtime(1));
    let (sender, receiver) = mpsc::channel();
    let tasks = first.open_tasks();
    let index = first.install(|| {
        let asked = first.spawn(move || {
            assert_eq!(rayon_core::current_thread_index(), None);
            let index = tasks.install(|_| open::worker_index());
            sender.send(index).expect("the receiver is alive");
        });
        // The other runtime waits, so this worker lends its place, and the task begins there.
        let index = second.install(move || receiver.recv().expect("the task sends"));
        asked.wait();
        index
    });
    assert_eq!(index, Some(0));
}

/// Checks that a join and a scope in a runtime of the program stay there.
#[test]
fn work_stays_in_the_runtime_of_its_thread() {
    let runtime = runtime(2);
    runtime.install(|| {
        let here = OpenTasks::current().expect("a worker");
        let is_here = || OpenTasks::current().is_some_and(|tasks| tasks.is_same(&here));
        let mut in_scope = false;
        rayon_core::scope(|scope| scope.spawn(|_| in_scope = is_here()));
        assert!(in_scope);
        assert_eq!(rayon_core::join(is_here, is_here), (true, true));
        assert_eq!(rayon_core::broadcast(|context| context.index()), [0, 1]);
    });
}
