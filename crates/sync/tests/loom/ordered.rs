//! Models of data in pieces: two handles of the whole, on two threads, never wait for each other.
//! Each handle puts a request into the FIFO of each piece. If these steps could interleave, one
//! handle would be first in one FIFO, and the other in another one. A deadlock fails the model.

use std::task::{Wake, Waker};
use std::time::Duration;

use loom::model::Builder;
use loom::thread;
use raddle_sync::ordered::{Handle, Ordered, Then, Write, split};
use raddle_sync::wait::WaitCell;

/// A thread that sleeps until it is notified.
struct Sleeper(WaitCell);

impl Wake for Sleeper {
    fn wake(self: std::sync::Arc<Self>) {
        let _ = self.0.notify();
    }
}

/// Writes the whole once its handle is granted.
fn write(handle: &mut Handle<[u32], Write>, then: Then) {
    let sleeper = std::sync::Arc::new(Sleeper(WaitCell::new()));
    let waker = Waker::from(std::sync::Arc::clone(&sleeper));
    loop {
        if let Some(mut items) = handle.enter(then) {
            items.iter_mut().for_each(|item| *item += 1);
            return;
        }
        if handle.register_waker(&waker) {
            sleeper.0.wait(Duration::ZERO);
        }
    }
}

fn check(preemptions: usize, run: impl Fn(&Ordered<[u32]>) + Clone + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        let (whole, pieces) = split(vec![0; 2].into_boxed_slice(), &[1, 1]);
        let other = {
            let (whole, run) = (whole.clone(), run.clone());
            thread::spawn(move || run(&whole))
        };
        run(&whole);
        other.join().expect("no panic");
        drop(pieces);
    });
}

#[test]
fn simultaneous_requests_for_the_whole_do_not_wait_for_each_other() {
    check(2, |whole| {
        let mut handle = Handle::new(whole);
        handle.put_in();
        write(&mut handle, Then::GiveBack);
    });
}

#[test]
fn a_renewed_whole_does_not_wait_for_a_requesting_one() {
    check(1, |whole| {
        let mut handle = Handle::new(whole);
        handle.put_in();
        write(&mut handle, Then::Renew);
        write(&mut handle, Then::GiveBack);
    });
}
