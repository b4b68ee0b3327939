//! Tests of the FIFO in one thread, step by step against a plain list of requests.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc;
use std::task::{Wake, Waker};

use super::{Access, Fifo, REQUEST_COUNT_MAX, Request, Standing, Word};
use crate::prim::{AtomicU64, LIGHT};

/// Creates a FIFO with counters that start at `tail`, `barrier` and `released`.
fn fifo_at(tail: u32, barrier: u32, released: u32) -> Fifo {
    Fifo {
        word: AtomicU64::new(Word::of(tail, barrier, released).into()),
        ..Fifo::default()
    }
}

/// A waker that sends its number when it is woken.
struct Bell(usize, mpsc::Sender<usize>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.1.send(self.0).expect("the test still receives");
    }
}

/// A plain list of requests that models the FIFO.
#[derive(Default)]
struct List(VecDeque<(usize, Access)>);

impl List {
    fn is_granted(&self, number: usize) -> bool {
        let at = self
            .0
            .iter()
            .position(|&(other, _)| other == number)
            .expect("the request is in the list");
        at == 0
            || self
                .0
                .iter()
                .take(at + 1)
                .all(|&(_, access)| access == Access::Read)
    }

    fn remove(&mut self, number: usize) {
        self.0.retain(|&(other, _)| other != number);
    }
}

/// Returns the next number of a small deterministic generator (Marsaglia's xorshift), so that every
/// run is the same.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn grants_the_same_requests_as_a_plain_list() {
    let (seeds, steps) = if LIGHT { (1..3, 100) } else { (1..40, 400) };
    for seed in seeds {
        let mut state = seed << 32 | seed;
        let (fifo, mut list) = (Fifo::new(), List::default());
        let mut requests: Vec<(usize, Request)> = Vec::new();
        for number in 0..steps {
            let choice = random(&mut state) % 8;
            if choice < 3 || requests.is_empty() {
                let access =
                    [Access::Read, Access::Write][(random(&mut state).is_multiple_of(3)) as usize];
                requests.push((number, fifo.put_in(access)));
                list.0.push_back((number, access));
            } else {
                let granted: Vec<_> = (0..requests.len())
                    .filter(|&at| list.is_granted(requests[at].0))
                    .collect();
                let at = granted[random(&mut state) as usize % granted.len()];
                if choice < 6 {
                    let access = requests[at].1.access;
                    fifo.renew(&mut requests[at].1);
                    list.remove(requests[at].0);
                    requests[at].0 = 1_000 + number;
                    list.0.push_back((1_000 + number, access));
                } else {
                    let (number, request) = requests.swap_remove(at);
                    fifo.release(request);
                    list.remove(number);
                }
            }
            for (number, request) in &requests {
                let is_granted = fifo.standing(request) == Standing::Granted;
                assert_eq!(
                    is_granted,
                    list.is_granted(*number),
                    "seed {seed}, request {number}"
                );
            }
            assert_eq!(fifo.request_count(), requests.len());
        }
    }
}

#[test]
fn counters_wrap_around_while_a_granted_reader_does_not_look() {
    // The counters wrap around three times, or once by a few steps.
    let (before, steps) = if LIGHT {
        ((1 << 20) - 5, 10)
    } else {
        (0, 3 << 20)
    };
    let fifo = fifo_at(before, before, before);
    let held = fifo.put_in(Access::Read);
    for _ in 0..steps {
        fifo.release(fifo.put_in(Access::Read));
    }
    assert_eq!(fifo.standing(&held), Standing::Granted);
    let mut writer = fifo.put_in(Access::Write);
    assert_eq!(fifo.standing(&writer), Standing::Waiting);
    fifo.release(held);
    for _ in 0..steps {
        fifo.renew(&mut writer);
    }
    assert_eq!(fifo.standing(&writer), Standing::Granted);
    fifo.release(writer);
    assert_eq!(fifo.request_count(), 0);
}

#[test]
fn exactly_the_granted_requests_are_woken() {
    let (rings, woken) = mpsc::channel();
    let fifo = Fifo::new();
    let accesses = [Access::Write, Access::Read, Access::Read, Access::Write];
    let mut requests: Vec<_> = accesses
        .into_iter()
        .map(|access| fifo.put_in(access))
        .collect();
    for (number, request) in requests.iter().enumerate().skip(1) {
        let waker = Waker::from(Arc::new(Bell(number, rings.clone())));
        for _ in 0..2 {
            assert!(fifo.register_waker(request, &waker), "it waits");
        }
    }
    let writer = requests.remove(0);
    fifo.release(writer);
    assert_eq!(woken.try_iter().collect::<Vec<_>>(), [1, 2]);
    fifo.release(requests.remove(0));
    assert_eq!(
        woken.try_iter().count(),
        0,
        "the other reader is not released yet"
    );
    fifo.release(requests.remove(0));
    assert_eq!(woken.try_iter().collect::<Vec<_>>(), [3]);
}

#[test]
fn cancelled_requests_let_later_ones_pass() {
    let (rings, woken) = mpsc::channel();
    let fifo = Fifo::new();
    let first = fifo.put_in(Access::Write);
    let many: Vec<_> = (0..if LIGHT { 50 } else { 10_000 })
        .map(|n| [Access::Write, Access::Read][n % 2])
        .collect();
    let many: Vec<_> = many.into_iter().map(|access| fifo.put_in(access)).collect();
    let last = fifo.put_in(Access::Write);
    let waker = Waker::from(Arc::new(Bell(7, rings)));
    assert!(fifo.register_waker(&last, &waker));
    many.into_iter().for_each(|request| fifo.cancel(request));
    assert_eq!(fifo.standing(&last), Standing::Waiting);
    fifo.release(first);
    assert_eq!(fifo.standing(&last), Standing::Granted);
    assert_eq!(woken.try_iter().collect::<Vec<_>>(), [7]);
    fifo.cancel(last);
    assert_eq!(fifo.request_count(), 0);
}

#[test]
fn a_stopped_fifo_wakes_all_waiters_and_grants_no_request() {
    let (rings, woken) = mpsc::channel();
    let fifo = Fifo::new();
    let (first, second) = (fifo.put_in(Access::Write), fifo.put_in(Access::Write));
    assert!(fifo.register_waker(&second, &Waker::from(Arc::new(Bell(1, rings)))));
    fifo.stop();
    assert_eq!(woken.try_iter().collect::<Vec<_>>(), [1]);
    assert_eq!(fifo.standing(&first), Standing::Granted);
    fifo.cancel(first);
    assert_eq!(fifo.standing(&second), Standing::Stopped);
    let third = fifo.put_in(Access::Read);
    assert!(!fifo.register_waker(&third, Waker::noop()));
    fifo.cancel(second);
    fifo.cancel(third);
}

#[test]
fn excess_requests_and_early_releases_are_refused() {
    // A writer, followed by as many readers as fit. The last few readers are put in here.
    let (many, few) = (REQUEST_COUNT_MAX as u32 - 3, 3);
    let fifo = fifo_at(many, 1, 0);
    let first = Request {
        threshold: 0,
        access: Access::Write,
    };
    assert_eq!(fifo.standing(&first), Standing::Granted);
    let others: Vec<_> = (0..few).map(|_| fifo.put_in(Access::Read)).collect();
    let message = |call: &mut dyn FnMut()| {
        let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("refused");
        panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
    };
    let full = message(&mut || drop(fifo.put_in(Access::Read))).expect("a text");
    assert!(full.contains("524287"), "{full}");
    let mut others = others.into_iter();
    let mut early = others.next();
    let early = message(&mut || fifo.release(early.take().expect("once"))).expect("a text");
    assert!(early.contains("before it was granted"), "{early}");
    fifo.release(first);
    let second = others.next().expect("there are more readers");
    assert_eq!(fifo.standing(&second), Standing::Granted);
}
