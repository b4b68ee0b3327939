//! Models of the FIFO of a location: readers share, a writer is alone, the next request is in before the release, what is cancelled lets
//! others through, and whoever sleeps is woken. A wake-up that is lost ends in a deadlock, which loom reports.

#![cfg(loom)]

use std::sync::Arc as Shared;
use std::task::{Wake, Waker};
use std::time::Duration;

use loom::sync::Arc;
use loom::thread;
use raddle_sync::fifo::{Access, Fifo, Request, Standing};
use raddle_sync::prim::UnsafeCell;
use raddle_sync::wait::WaitCell;

/// A number that only the granted may touch: loom finds who touches it at the same time as a writer.
struct Location {
    fifo: Fifo,
    number: UnsafeCell<u32>,
}

/// A thread that sleeps until it is told.
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

    /// Sleeps until the request does not wait any more.
    fn wait(&self, request: &Request) -> Standing {
        let sleeper = Shared::new(Sleeper(WaitCell::new()));
        let waker = Waker::from(Shared::clone(&sleeper));
        while self.fifo.leave(request, &waker) {
            sleeper.0.wait(Duration::ZERO);
        }
        self.fifo.standing(request)
    }

    /// Waits in the manner of a spinning thread.
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

/// F1: two writers, one asleep; the second sees what the first did, and nobody touches the number together.
#[test]
fn a_writer_is_alone_and_wakes_the_next() {
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

/// F1: a hand-over to a thread that spins on the word, there and back, with the next request in before the release.
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

/// Readers share: one alone would wait for the other for ever.
#[test]
fn readers_meet_behind_a_writer() {
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
        // The writer's thread reads, too, before the other reader has gone.
        assert_eq!(location.wait(&two), Standing::Granted);
        assert_eq!(location.read(), 5);
        let one = reader.join().expect("no panic");
        location.fifo.release(two);
        location.fifo.release(one);
    });
}

/// Two readers go at the same time; a writer sleeps behind both, and is woken by whoever is last.
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

/// A reader renews while a writer comes: either he reads once more before the writer, or after him; never with him.
#[test]
fn a_reader_who_comes_again_lets_a_writer_in() {
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

/// What is cancelled while those in front go does not stand in the way of who sleeps behind it.
#[test]
fn a_cancelled_request_is_passed() {
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

/// Who goes to sleep while the FIFO is stopped comes back.
#[test]
fn a_stop_wakes_who_is_just_lying_down() {
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
