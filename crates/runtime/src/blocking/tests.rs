//! What becomes of calls that get no thread.

use std::sync::mpsc::{Sender, channel};

use super::*;

/// Says that it was dropped, if nobody holds the lock that destructors may want.
struct Dropped(Arc<Threads>, Sender<bool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let is_free = self.0.state.try_lock().is_ok();
        self.1.send(is_free).expect("somebody listens");
    }
}

/// The standard library ended the process in the new thread, where the system had given the thread and no memory maps for it. What was to
/// be called was dropped under the lock.
#[test]
fn a_thread_too_many_is_refused() {
    let mut threads = BlockingThreads::new("full", || false);
    Arc::get_mut(&mut threads.0)
        .expect("no thread has it")
        .capacity = 1;
    let (end, ended) = channel();
    let waits = move || ended.recv().expect("it is told");
    threads.run_now(Box::new(waits)).expect("there is room");
    let (told, dropped) = channel();
    let call = Dropped(Arc::clone(&threads.0), told);
    let refused = threads.run_now(Box::new(move || drop(call)));
    let refused = refused.expect_err("there is no room");
    assert_eq!(refused.kind(), io::ErrorKind::OutOfMemory);
    assert_eq!(dropped.recv(), Ok(true), "not under the lock");
    end.send(()).expect("it waits");
    threads.end();
    threads.join();
}

/// Any call that was not yet taken made the next one start a thread, whoever waited: programs of eight threads, one after the other, had ten thousand
/// after some seconds.
#[test]
fn threads_that_wait_are_taken_before_new_ones_start() {
    const ROUNDS: usize = 200;
    const TOGETHER: usize = 4;
    let threads = BlockingThreads::new("taken", || false);
    for _ in 0..ROUNDS {
        let (told, done) = channel();
        for _ in 0..TOGETHER {
            let told = told.clone();
            let call = move || told.send(()).expect("the round waits");
            threads.run_now(Box::new(call)).expect("there is room");
        }
        (0..TOGETHER).for_each(|_| done.recv().expect("each is called"));
        let all_wait = |state: &State| state.waiting.len() == state.thread_count;
        while !all_wait(&threads.state()) {
            thread::yield_now();
        }
    }
    let started = threads.state().thread_count;
    assert!(started <= TOGETHER, "{started} threads");
    threads.end();
    threads.join();
}
