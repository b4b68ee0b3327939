//! Models of the FIFO of a location: readers share, a writer is alone, `renew` puts in the next
//! request before it releases, cancelled requests let later ones pass, and sleeping threads are
//! woken. A lost wake-up ends in a deadlock, which loom reports.

use std::sync::Arc as Shared;
use std::task::{Wake, Waker};
use std::time::Duration;

use loom::sync::Arc;
use loom::thread;
use raddle_sync::fifo::{Access, Fifo, Request, Standing};
use raddle_sync::prim::UnsafeCell;
use raddle_sync::wait::WaitCell;

/// A number that only granted threads may access. Loom reports any access at the same time as a
/// write.
struct Location {
    fifo: Fifo,
    number: UnsafeCell<u32>,
}

/// A thread that sleeps until it is notified.
struct Sleeper(WaitCell);

impl Wake for Sleeper {
    fn wake(self: Shared<Self>) {
        let _ = self.0.notify();
    }
}

impl Location {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            fifo: Fifo::new(),
            number: UnsafeCell::new(0),
        })
    }

    /// Sleeps until the request no longer waits.
    fn wait(&self, request: &Request) -> Standing {
        let sleeper = Shared::new(Sleeper(WaitCell::new()));
        let waker = Waker::from(Shared::clone(&sleeper));
        while self.fifo.register_waker(request, &waker) {
            sleeper.0.wait(Duration::ZERO);
        }
        self.fifo.standing(request)
    }

    /// Waits by spinning.
    fn spin(&self, request: &Request) {
        while self.fifo.standing(request) == Standing::Waiting {
            thread::yield_now();
        }
    }

    fn add(&self, number: u32) {
        self.number.with_mut(|found| unsafe { *found += number });
    }

    fn read(&self) -> u32 {
        self.number.with(|found| unsafe { *found })
    }
}

fn model(body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(body);
}

/// Checks F1 with two writers, of which one sleeps. The second sees the changes of the first, and
/// loom checks that they do not access the number at the same time.
#[test]
fn a_writer_is_alone_and_wakes_the_next_writer() {
    model(|| {
        let location = Location::new();
        let first = location.fifo.put_in(Access::Write);
        let second = location.fifo.put_in(Access::Write);
        let other = {
            let location = Arc::clone(&location);
            thread::spawn(move || {
                assert_eq!(location.wait(&second), Standing::Granted);
                assert_eq!(location.read(), 1);
                location.add(1);
                location.fifo.release(second);
            })
        };
        location.add(1);
        location.fifo.release(first);
        other.join().expect("no panic");
        assert_eq!(location.fifo.request_count(), 0);
    });
}

/// Checks F1 for hand-overs to a thread that spins on the word, in both directions, with the next
/// request put in before the release.
#[test]
fn two_owners_take_turns() {
    model(|| {
        let location = Location::new();
        let mut first = location.fifo.put_in(Access::Write);
        let mut second = location.fifo.put_in(Access::Write);
        let other = {
            let location = Arc::clone(&location);
            thread::spawn(move || {
                for turn in 0..2 {
                    location.spin(&second);
                    assert_eq!(location.read(), 2 * turn + 1);
                    location.add(1);
                    location.fifo.renew(&mut second);
                }
                location.fifo.cancel(second);
            })
        };
        for turn in 0..2 {
            location.spin(&first);
            assert_eq!(location.read(), 2 * turn);
            location.add(1);
            location.fifo.renew(&mut first);
        }
        location.fifo.cancel(first);
        other.join().expect("no panic");
    });
}

/// Readers share. If only one were granted, each would wait for the other for ever.
#[test]
fn readers_behind_a_writer_are_granted_together() {
    model(|| {
        let location = Location::new();
        let writer = location.fifo.put_in(Access::Write);
        let one = location.fifo.put_in(Access::Read);
        let two = location.fifo.put_in(Access::Read);
        let reader = {
            let location = Arc::clone(&location);
            thread::spawn(move || {
                location.wait(&one);
                assert_eq!(location.read(), 5);
                one
            })
        };
        location.add(5);
        location.fifo.release(writer);
        // The writer's thread reads too, before the other reader has released its request.
        assert_eq!(location.wait(&two), Standing::Granted);
        assert_eq!(location.read(), 5);
        let one = reader.join().expect("no panic");
        location.fifo.release(two);
        location.fifo.release(one);
    });
}

/// Releases two readers at the same time. A writer sleeps behind both, and the last reader wakes
/// it.
#[test]
fn the_last_reader_wakes_the_writer() {
    model(|| {
        let location = Location::new();
        let one = location.fifo.put_in(Access::Read);
        let two = location.fifo.put_in(Access::Read);
        let writer = location.fifo.put_in(Access::Write);
        let readers: Vec<_> = [one, two]
            .into_iter()
            .map(|request| {
                let location = Arc::clone(&location);
                thread::spawn(move || {
                    assert_eq!(location.read(), 0);
                    location.fifo.release(request);
                })
            })
            .collect();
        location.wait(&writer);
        location.add(1);
        location.fifo.release(writer);
        for reader in readers {
            reader.join().expect("no panic");
        }
    });
}

/// Renews the request of a reader while a writer puts one in. The reader reads once more either
/// before the writer or after it, but never together with it.
#[test]
fn a_reader_that_renews_lets_a_writer_in() {
    model(|| {
        let location = Location::new();
        let mut reader = location.fifo.put_in(Access::Read);
        let writer = {
            let location = Arc::clone(&location);
            thread::spawn(move || {
                let request = location.fifo.put_in(Access::Write);
                location.wait(&request);
                location.add(1);
                location.fifo.release(request);
            })
        };
        for _ in 0..2 {
            location.wait(&reader);
            assert!(location.read() <= 1);
            location.fifo.renew(&mut reader);
        }
        location.fifo.cancel(reader);
        writer.join().expect("no panic");
    });
}

/// Checks that a request that is cancelled while those in front are released does not block the
/// sleeping request behind it.
#[test]
fn a_cancelled_request_lets_later_ones_pass() {
    for access in [Access::Read, Access::Write] {
        model(move || {
            let location = Location::new();
            let first = location.fifo.put_in(Access::Write);
            let middle = location.fifo.put_in(access);
            let last = location.fifo.put_in(Access::Write);
            let canceller = {
                let location = Arc::clone(&location);
                thread::spawn(move || location.fifo.cancel(middle))
            };
            let sleeper = {
                let location = Arc::clone(&location);
                thread::spawn(move || {
                    assert_eq!(location.wait(&last), Standing::Granted);
                    assert_eq!(location.read(), 1);
                    location.add(1);
                    location.fifo.release(last);
                })
            };
            location.add(1);
            location.fifo.release(first);
            canceller.join().expect("no panic");
            sleeper.join().expect("no panic");
            assert_eq!(location.fifo.request_count(), 0);
        });
    }
}

/// Checks that a thread wakes up that goes to sleep while the FIFO is stopped.
#[test]
fn a_stop_wakes_a_thread_that_is_about_to_sleep() {
    model(|| {
        let location = Location::new();
        let first = location.fifo.put_in(Access::Write);
        let second = location.fifo.put_in(Access::Write);
        let stopper = {
            let location = Arc::clone(&location);
            thread::spawn(move || {
                location.fifo.stop();
                location.fifo.cancel(first);
            })
        };
        assert_eq!(location.wait(&second), Standing::Stopped);
        stopper.join().expect("no panic");
    });
}
