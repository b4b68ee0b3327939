//! Programs with errors or unusual behaviour: none may hang, abort or compute a wrong result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use raddle_chare::reduce::{Max, Sum};
use raddle_chare::{Array, ArrayOptions, Chares, Cx, Group, Section, chare};
use raddle_runtime::{Runtime, worker_index};

use crate::FORMS;
use crate::bomb::Bomb;
use crate::common::runtime;
use crate::soon::soon;

#[derive(Default)]
struct Hostile {
    received: Vec<u32>,
    count: u64,
    stop: bool,
}

struct CloneBomb;
impl Clone for CloneBomb {
    fn clone(&self) -> Self {
        panic!("a clone");
    }
}

/// Can be cloned by the sending thread, but panics when a worker clones it.
struct ShyClone;
impl Clone for ShyClone {
    fn clone(&self) -> Self {
        assert!(worker_index().is_none(), "a clone");
        Self
    }
}

#[chare]
impl Hostile {
    #[message]
    fn go();

    #[entry]
    fn receive(&mut self, number: u32) {
        self.received.push(number);
    }
    #[entry]
    fn received(&self) -> Vec<u32> {
        self.received.clone()
    }
    #[entry]
    fn sum(&self, cx: &mut Cx<Self>, value: u8) {
        cx.contribute(Sum(value));
    }
    #[entry]
    fn unequal(&self, cx: &mut Cx<Self>) {
        if cx.index() == 1 {
            cx.contribute(Max(5_u32));
        } else {
            cx.contribute(Sum(1_u32));
        }
    }
    #[entry]
    fn unequal_lengths(&self, cx: &mut Cx<Self>) {
        cx.contribute(Sum(vec![1_u32; cx.index() + 1]));
    }
    #[entry]
    fn then_panics(&self, cx: &mut Cx<Self>) {
        cx.contribute_then(Sum(1), |_| panic!("after a reduction"));
    }
    #[entry]
    fn bomb(&self) -> Bomb {
        Bomb
    }
    #[entry]
    fn take_bomb(&self, _bomb: CloneBomb) {}
    #[entry]
    fn take_shy(&self, _shy: ShyClone) {}
    #[entry]
    fn to_section(&self, cx: &mut Cx<Self>, section: Section<Self>) {
        cx.contribute_to(section, Sum(1_u32));
    }
    #[entry]
    async fn reduce_or_contribute(&self, cx: &mut Cx<Self>) -> u32 {
        if cx.index() == 0 {
            cx.reduce(Sum(1_u32)).await
        } else {
            cx.contribute(Sum(1_u32));
            0
        }
    }
    #[entry]
    async fn wait(&self, cx: &mut Cx<Self>) {
        cx.next(Self::go).await;
    }
    #[entry]
    async fn quick(&mut self) {
        self.count += 1;
    }
    #[entry]
    fn count(&self) -> u64 {
        self.count
    }
    #[entry]
    fn multicast_then(&self, section: Section<Self>, array: Array<Self>, round: u32) {
        section.all().receive(2 * round);
        for index in 0..section.count() {
            array.at(index).receive(2 * round + 1);
        }
    }
    #[entry]
    fn tick(&mut self, cx: &mut Cx<Self>) {
        self.count += 1;
        if !self.stop {
            cx.this().tick();
        }
    }
    #[entry]
    fn stop(&mut self) {
        self.stop = true;
    }
    #[entry]
    fn fall(&self) {
        panic!("it fell");
    }
}

fn array(runtime: &Runtime, count: usize) -> Array<Hostile> {
    runtime.array(count, |_| Hostile::default())
}

// Regression: the caller got a result in about half of the runs.
#[test]
fn unequal_contributions_never_result_in_anything() {
    for _ in 0..50 {
        let runtime = runtime(2);
        let kinds = array(&runtime, 3);
        kinds.all().unequal();
        let error = soon(move || kinds.reduction::<u32>().try_wait()).expect_err("not a result");
        assert!(
            error.to_string().contains("some elements contribute"),
            "{error}"
        );
        let lengths = array(&runtime, 3);
        lengths.all().unequal_lengths();
        soon(move || lengths.reduction::<Vec<u32>>().try_wait()).expect_err("not a result");
    }
}

// Regression: a panic in `merge` outside an entry was lost. An example is an integer `Sum` that
// overflows on another worker.
#[test]
fn a_panic_while_contributions_are_merged_is_reported() {
    let runtime = runtime(2);
    let array = array(&runtime, 2);
    array.all().sum(200);
    soon(move || array.reduction::<u8>().try_wait()).expect_err("200 + 200 is no u8");
}

// Regression: the message was never counted as processed.
#[test]
fn a_panic_after_a_reduction_is_reported() {
    let runtime = runtime(2);
    array(&runtime, 2).all().then_panics();
    let failure = soon(move || runtime.quiescence().try_wait()).expect_err("a panic is a failure");
    let text = failure.to_string();
    assert!(
        text.starts_with("the call after reduction 0 of ") && text.contains("after a reduction"),
        "{text}"
    );
}

#[test]
fn a_panic_in_the_destructor_of_an_unused_reply_is_reported() {
    let runtime = runtime(2);
    // If the reply arrives after the drop, the runtime drops the value. Otherwise the value panics
    // in the drop of the reply.
    let reply = array(&runtime, 2).at(0).bomb();
    let here = catch_unwind(AssertUnwindSafe(|| drop(reply)));
    let reported = soon(move || runtime.quiescence().try_wait());
    assert_ne!(here.is_err(), reported.is_err(), "it goes off once");
}

// Regression: a lock was taken with the assumption that nothing panics under it. However, the
// `clone` of the arguments of a broadcast from outside is user code.
#[test]
fn a_panicking_clone_fails_only_its_own_call() {
    let runtime = runtime(2);
    let array = array(&runtime, 2);
    let all = array.all();
    catch_unwind(AssertUnwindSafe(|| all.take_bomb(CloneBomb))).expect_err("it panics");
    array.at(0).receive(1);
    assert_eq!(array.at(0).received().wait(), [1]);
}

// Regression: the message was unwound before it was counted as processed, and the panic was not
// reported.
#[test]
fn a_panicking_clone_on_a_worker_is_reported() {
    let runtime = runtime(2);
    array(&runtime, 2).all().take_shy(ShyClone);
    soon(move || runtime.quiescence().try_wait()).expect_err("a panic is a failure");
}

// Regression: sections were identified by their number alone, so that a section of another array
// was mistaken for a section of the own array.
#[test]
fn contributions_to_a_section_of_another_array_are_refused() {
    let runtime = runtime(2);
    let (one, other) = (array(&runtime, 4), array(&runtime, 4));
    let of_one = one.section([0, 1]);
    let of_other = other.section([2, 3]);
    other.at(2).to_section(of_one);
    other.at(3).to_section(of_one);
    soon(move || of_other.reduction::<u32>().try_wait()).expect_err("it has no contributions");
}

// Regression: arrays were identified by their number within their runtime, so that a section of
// another runtime was mistaken for a section of the own runtime.
#[test]
fn a_section_of_another_runtime_is_refused() {
    let (own, foreign) = (runtime(2), runtime(2));
    let (array_here, array_there) = (array(&own, 4), array(&foreign, 4));
    let (here, there) = (array_here.section([2]), array_there.section([2]));
    array_here.at(2).to_section(there);
    soon(move || here.reduction::<u32>().try_wait()).expect_err("it has no contributions");
}

#[test]
fn a_section_of_another_array_is_refused_with_its_name() {
    let runtime = runtime(2);
    let (one, other) = (array(&runtime, 4), array(&runtime, 4));
    let of_one = one.section([0, 1]);
    other.at(2).to_section(of_one);
    let error =
        soon(move || of_one.reduction::<u32>().try_wait()).expect_err("it has no contributions");
    assert!(error.to_string().contains("is not a member of"), "{error}");
}

// Regression: the point-to-point and binomial forms failed, but the two-level form hung. The size
// of the section chooses the form, so that all forms must behave in the same way.
#[test]
fn a_section_with_an_ended_member_behaves_the_same_in_all_forms() {
    for form in FORMS {
        let runtime = runtime(2);
        let array = array(&runtime, 9);
        let section = array.section_with(form, 0..8);
        array.remove(1);
        runtime.quiescence().wait();
        section.all().to_section(section);
        let _ = soon(move || section.reduction::<u32>().try_wait());
    }
}

// Regression: the first contribution decided where the result went. The other receiver waited for
// ever.
#[test]
fn mixing_reduce_and_contribute_is_reported() {
    for first in [0, 1] {
        let runtime = runtime(2);
        let array = array(&runtime, 2);
        let replies = [first, 1 - first].map(|index| {
            let reply = array.at(index).reduce_or_contribute();
            std::thread::sleep(Duration::from_millis(20));
            reply
        });
        for reply in replies {
            let _ = soon(move || reply.try_wait());
        }
    }
}

// Regression: `catch_up` ran an entry, the end of which called `catch_up` again, and so on, until
// the stack overflowed and the process aborted.
#[test]
fn many_messages_may_wait_for_an_asynchronous_entry() {
    let runtime = runtime(1);
    let array = array(&runtime, 1);
    array.at(0).wait();
    for _ in 0..1_000_000 {
        array.at(0).quick();
    }
    array.at(0).go();
    assert_eq!(soon(move || array.at(0).count().wait()), 1_000_000);
}

#[test]
fn a_worker_must_not_wait_for_the_exit() {
    let runtime = runtime(1);
    soon(move || {
        let waits = || runtime.install(|| runtime.until_exit());
        catch_unwind(AssertUnwindSafe(waits)).expect_err("it would wait for itself")
    });
}

#[test]
fn two_threads_may_wait_for_the_exit() {
    let runtime = Arc::new(runtime(2));
    let waits = [0, 1].map(|_| {
        let runtime = Arc::clone(&runtime);
        move || runtime.until_exit()
    });
    let both = waits.map(|wait| std::thread::spawn(move || soon(wait)));
    std::thread::sleep(Duration::from_millis(50));
    runtime.chare(|cx: &mut Cx<Hostile>| {
        cx.exit();
        Hostile::default()
    });
    for thread in both {
        thread.join().expect("it goes on");
    }
}

// Regression: `worker_of` was called under the lock of the table of collections.
#[test]
fn a_placement_function_may_use_another_array() {
    let runtime = runtime(2);
    soon(move || {
        let first = array(&runtime, 4);
        let options = ArrayOptions::new(4).placed(move |index| {
            first.at(index);
            index % 2
        });
        let second: Array<Hostile> = runtime.array_with(options, |_| Hostile::default());
        second.at(3).received().wait()
    });
}

// Regression: the process aborted with "thread local panicked on drop".
#[test]
fn a_panicking_destructor_at_the_end_of_a_runtime_does_not_abort() {
    struct Last;
    #[chare]
    impl Last {
        #[entry]
        fn is_there(&self) -> bool {
            true
        }
    }
    impl Drop for Last {
        fn drop(&mut self) {
            panic!("at the end");
        }
    }
    let runtime = runtime(1);
    let last = runtime.array(1, |_| Last);
    assert!(last.at(0).is_there().wait());
    drop(runtime);
}

// Without any contribution, there is never a result.
#[test]
fn a_reduction_over_an_empty_array_fails_or_has_no_result() {
    let runtime = runtime(1);
    let empty = array(&runtime, 0);
    let _ = soon(move || empty.reduction::<u32>().try_wait());
}

#[test]
fn a_reduction_over_ended_elements_fails_or_has_no_result() {
    let runtime = runtime(1);
    let array = array(&runtime, 2);
    array.remove(0);
    array.remove(1);
    runtime.quiescence().wait();
    let _ = soon(move || array.reduction::<u32>().try_wait());
}

// Regression: with five or more members on three or more workers, `Auto` chooses a tree. A later
// message of the same sender to a member overtook the message to the section.
#[test]
fn messages_to_a_section_and_to_its_members_keep_their_order() {
    const ROUNDS: u32 = 100;
    let runtime = runtime(4);
    let (sender, array) = (array(&runtime, 1), array(&runtime, 8));
    let section = array.section(0..6);
    for round in 0..ROUNDS {
        sender.at(0).multicast_then(section, array, round);
    }
    runtime.quiescence().wait();
    for index in 0..6 {
        let received = array.at(index).received().wait();
        assert!(received.is_sorted(), "{index}: {received:?}");
    }
}

// Regression: the task of an element of a node group continued as long as the element had
// messages, and its worker processed nothing else.
#[test]
fn a_node_group_element_that_sends_to_itself_does_not_starve_others() {
    let runtime = runtime(1);
    let node = runtime.node_group(|_| Hostile::default());
    let other = array(&runtime, 1);
    node.here().tick();
    std::thread::sleep(Duration::from_millis(20));
    soon(move || other.at(0).received().wait());
    node.here().stop();
    assert!(node.here().count().wait() > 0);
}

// Regression: the failure said only that the chare "has ended", but not that it had panicked.
#[test]
fn a_question_to_a_panicked_chare_reports_the_panic() {
    let runtime = runtime(1);
    let array = array(&runtime, 1);
    let one = array.at(0);
    one.fall();
    let error = one.received().try_wait().expect_err("it has ended");
    assert!(error.to_string().contains("it fell"), "{error}");
}

// A seed may run on a worker that has not yet processed its mailbox, which contains the request to
// create the group.
#[test]
fn an_element_of_a_group_exists_for_every_holder_of_its_proxy() {
    struct Seed;
    #[chare]
    impl Seed {}
    for _ in 0..300 {
        let runtime = runtime(4);
        for _ in 0..10 {
            let group: Group<Hostile> = runtime.group(|_| Hostile::default());
            for _ in 0..8 {
                runtime.chare(move |cx: &mut Cx<Seed>| {
                    group.with_here(|element| element.count += 1);
                    cx.end();
                    Seed
                });
            }
        }
        assert_eq!(
            runtime
                .quiescence()
                .try_wait()
                .map_err(|error| error.to_string()),
            Ok(())
        );
    }
}
