//! Tests of calls for which there is no thread, and of the reuse of threads.

use std::sync::mpsc::{Sender, channel};

use super::*;

/// A value that reports when it is dropped, and whether the lock of the threads was free then.
/// Destructors may need this lock.
struct Dropped(Arc<Threads>, Sender<bool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let is_free = self.0.state.try_lock().is_ok();
        self.1.send(is_free).expect("the test waits");
    }
}

/// Checks that the error for a thread too many is returned to the caller. Once, the process ended
/// instead: the system had created the thread, but had no memory maps left for it, and the standard
/// library aborted in the new thread. The refused call was dropped under the lock.
#[test]
fn thread_beyond_the_capacity_is_refused() {
    let threads = BlockingThreads::new("full", || false);
    threads.state().capacity = Some(1);
    let (end, ended) = channel();
    let waits = move || ended.recv().expect("the test sends");
    threads.run_now(Box::new(waits)).expect("there is capacity");
    let (report, dropped) = channel();
    let call = Dropped(Arc::clone(&threads.0), report);
    let refused = threads.run_now(Box::new(move || drop(call)));
    let refused = refused.expect_err("there is no capacity");
    assert_eq!(refused.kind(), io::ErrorKind::OutOfMemory);
    assert_eq!(dropped.recv(), Ok(true), "not under the lock");
    end.send(()).expect("it waits");
    threads.end();
    threads.join();
}

/// Reproduces a bug: any call that had not been taken yet made the next call start a thread, even
/// if threads waited for calls. Programs that started eight threads again and again had ten
/// thousand after a few seconds.
#[test]
fn waiting_threads_are_used_before_new_ones_start() {
    const ROUNDS: usize = 200;
    const TOGETHER: usize = 4;
    let threads = BlockingThreads::new("taken", || false);
    for _ in 0..ROUNDS {
        let (report, done) = channel();
        for _ in 0..TOGETHER {
            let report = report.clone();
            let call = move || report.send(()).expect("the round waits");
            threads.run_now(Box::new(call)).expect("there is capacity");
        }
        (0..TOGETHER).for_each(|_| done.recv().expect("each is called"));
        let all_wait = |state: &BlockingState| state.waiting.len() == state.thread_count;
        while !all_wait(&threads.state()) {
            thread::yield_now();
        }
    }
    let started = threads.state().thread_count;
    assert!(started <= TOGETHER, "{started} threads");
    threads.end();
    threads.join();
}
