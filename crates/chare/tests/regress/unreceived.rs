//! Messages that are never received. Regression: messages in the inbox of an ending element were
//! lost without a report.
//!
//! Also polls for a message in a place where no message can arrive, which failed with an unclear
//! message.

use std::pin::pin;
use std::task::{Context, Waker};

use raddle_chare::{Chares, Cx, Failure, chare};

use crate::bomb::Bomb;
use crate::common::runtime;
use crate::soon::soon;

struct Reader;

#[chare]
impl Reader {
    #[message]
    fn page(number: u32);
    #[message]
    fn bomb(bomb: Bomb);

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
    #[entry]
    fn count(&self) -> u32 {
        0
    }
    /// Reads `count` pages and ends.
    #[entry]
    async fn read(&mut self, cx: &mut Cx<Self>, count: u32) -> u32 {
        cx.end();
        let mut sum = 0;
        for _ in 0..count {
            sum += cx.next(Self::page).await;
        }
        sum
    }
    #[entry]
    async fn read_and_fall(&mut self, cx: &mut Cx<Self>) -> u32 {
        cx.next_where(Self::page, |&number| number == 2).await;
        panic!("falls");
    }
    /// Polls manually in a place where no message can arrive.
    #[entry]
    fn peek(&mut self, cx: &mut Cx<Self>) {
        let next = pin!(cx.next(Self::page));
        let _ = next.poll(&mut Context::from_waker(Waker::noop()));
    }
    #[entry]
    fn scan_by_hand(&mut self, cx: &mut Cx<Self>) {
        let form = raddle_chare::ScanForm::RecursiveDoubling;
        let scan = pin!(cx.scan_with(form, raddle_chare::reduce::Sum(1_u32)));
        let _ = scan.poll(&mut Context::from_waker(Waker::noop()));
    }
}

/// Returns the outcome of quiescence after `work` with a reader.
fn after(work: impl FnOnce(ReaderProxy) + Send + 'static) -> Result<(), Failure> {
    soon(|| {
        let runtime = runtime(1);
        work(runtime.array(1, |_| Reader).at(0));
        runtime.quiescence().try_wait()
    })
}

#[test]
fn an_unreceived_message_is_a_failure() {
    let outcome = after(|reader| {
        reader.page(1);
        reader.leave();
    });
    assert_eq!(
        outcome.expect_err("it is lost").to_string(),
        "`page` was sent to Reader[0], which has ended"
    );
}

#[test]
fn one_message_more_than_was_read_is_a_failure() {
    let outcome = after(|reader| {
        for number in 0..3 {
            reader.page(number);
        }
        assert_eq!(reader.read(2).wait(), 1);
    });
    outcome.expect_err("the third is lost");
}

#[test]
fn an_element_that_has_received_all_ends_in_silence() {
    let outcome = after(|reader| {
        let sum = reader.read(2);
        reader.page(1);
        reader.page(2);
        assert_eq!(sum.wait(), 3);
    });
    assert_eq!(outcome, Ok(()));
}

#[test]
fn an_unreceived_broadcast_message_is_no_failure() {
    let outcome = soon(|| {
        let runtime = runtime(2);
        let readers = runtime.array(4, |_| Reader);
        readers.all().page(1);
        readers.all().leave();
        runtime.quiescence().try_wait()
    });
    assert_eq!(outcome, Ok(()));
}

#[test]
fn messages_left_by_a_panic_are_reported_by_the_panic() {
    let outcome = after(|reader| {
        let fallen = reader.read_and_fall();
        reader.page(1);
        reader.page(2);
        fallen.try_wait().expect_err("it falls");
    });
    assert_eq!(outcome, Ok(()));
}

#[test]
fn unreceived_bombs_go_off_one_by_one() {
    let failure = soon(|| {
        let runtime = runtime(1);
        let reader = runtime.array(1, |_| Reader).at(0);
        reader.bomb(Bomb);
        reader.bomb(Bomb);
        reader.leave();
        let reply = reader.count();
        while !reply.is_here() {
            std::thread::yield_now();
        }
        reply.try_wait().expect_err("it has ended")
    });
    assert!(failure.to_string().contains("which has ended"), "{failure}");
}

#[test]
fn unreceived_bombs_do_not_disturb_the_end_of_the_runtime() {
    soon(|| {
        let runtime = runtime(1);
        let reader = runtime.array(1, |_| Reader).at(0);
        reader.bomb(Bomb);
        reader.bomb(Bomb);
        runtime.quiescence().wait();
    });
}

#[test]
fn polling_for_a_message_in_a_plain_entry_is_a_clear_error() {
    let mut failures = Vec::new();
    failures.extend(after(|reader| reader.peek()).err());
    failures.extend(
        soon(|| {
            let runtime = runtime(1);
            let reply = runtime.array(2, |_| Reader).at(1);
            reply.scan_by_hand();
            runtime.quiescence().try_wait()
        })
        .err(),
    );
    assert_eq!(failures.len(), 2);
    for failure in failures {
        let text = failure.to_string();
        assert!(text.contains("outside of its `async` entries"), "{text}");
    }
}
