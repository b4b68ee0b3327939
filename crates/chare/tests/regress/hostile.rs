//! Programs that do what they should not, or what nobody thought of: none hangs, none aborts, none gets a wrong result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use raddle_chare::reduce::{Max, Sum};
use raddle_chare::{Array, ArrayOptions, Chares, Cx, Group, Section, SectionForm, chare};
use raddle_runtime::{Runtime, worker_index};

use crate::common::{runtime, soon};

#[derive(Default)]
struct Hostile {
    heard: Vec<u32>,
    count: u64,
    stop: bool,
}

struct DropBomb;
impl Drop for DropBomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a destructor");
        }
    }
}

struct CloneBomb;
impl Clone for CloneBomb {
    fn clone(&self) -> Self {
        panic!("a clone");
    }
}

/// Can be cloned by the thread that sends, and by no worker.
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
    fn hear(&mut self, number: u32) {
        self.heard.push(number);
    }
    #[entry]
    fn heard(&self) -> Vec<u32> {
        self.heard.clone()
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
    fn bomb(&self) -> DropBomb {
        DropBomb
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
        section.all().hear(2 * round);
        for index in 0..section.count() {
            array.at(index).hear(2 * round + 1);
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

/// About every second time the waiter got a result.
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

/// A panic in `merge` that is not in an entry (any integer `Sum` that overflows at another worker) vanished.
#[test]
fn a_panic_while_contributions_are_merged_is_told() {
    let runtime = runtime(2);
    let array = array(&runtime, 2);
    array.all().sum(200);
    soon(move || array.reduction::<u8>().try_wait()).expect_err("200 + 200 is no u8");
}

/// The message was never counted as done.
#[test]
fn a_panic_after_a_reduction_is_told() {
    let runtime = runtime(2);
    array(&runtime, 2).all().then_panics();
    let failure = soon(move || runtime.quiescence().try_wait()).expect_err("a panic is a failure");
    let text = failure.to_string();
    assert!(
        text.starts_with("what follows reduction 0 of ") && text.contains("after a reduction"),
        "{text}"
    );
}

#[test]
fn a_panic_in_the_destructor_of_a_reply_that_nobody_wants_is_told() {
    let runtime = runtime(2);
    // Nobody wants it if it comes later than the drop; otherwise the bomb goes off there.
    let reply = array(&runtime, 2).at(0).bomb();
    let here = catch_unwind(AssertUnwindSafe(|| drop(reply)));
    let told = soon(move || runtime.quiescence().try_wait());
    assert_ne!(here.is_err(), told.is_err(), "it goes off once");
}

/// "nothing panics under this lock": user code does, the arguments' `clone` of a broadcast from outside.
#[test]
fn a_clone_that_panics_spoils_that_call_only() {
    let runtime = runtime(2);
    let array = array(&runtime, 2);
    let all = array.all();
    catch_unwind(AssertUnwindSafe(|| all.take_bomb(CloneBomb))).expect_err("it panics");
    array.at(0).hear(1);
    assert_eq!(array.at(0).heard().wait(), [1]);
}

/// The message was unwound before it counted as done, and nobody was told.
#[test]
fn a_clone_that_panics_on_a_worker_is_told() {
    let runtime = runtime(2);
    array(&runtime, 2).all().take_shy(ShyClone);
    soon(move || runtime.quiescence().try_wait()).expect_err("a panic is a failure");
}

/// Sections are known by their number alone: that of another array was taken for one of its own.
#[test]
fn a_section_of_another_array_is_not_contributed_to() {
    let runtime = runtime(2);
    let (one, other) = (array(&runtime, 4), array(&runtime, 4));
    let of_one = one.section([0, 1]);
    let of_other = other.section([2, 3]);
    other.at(2).to_section(of_one);
    other.at(3).to_section(of_one);
    soon(move || of_other.reduction::<u32>().try_wait()).expect_err("nobody contributed to it");
}

/// Arrays are known by their number in their runtime: a section of another one's was taken for one of its own.
#[test]
fn a_section_of_another_runtime_is_refused() {
    let (own, foreign) = (runtime(2), runtime(2));
    let (array_here, array_there) = (array(&own, 4), array(&foreign, 4));
    let (here, there) = (array_here.section([2]), array_there.section([2]));
    array_here.at(2).to_section(there);
    soon(move || here.reduction::<u32>().try_wait()).expect_err("nobody contributed to it");
}

#[test]
fn a_section_of_another_array_is_refused_with_its_name() {
    let runtime = runtime(2);
    let (one, other) = (array(&runtime, 4), array(&runtime, 4));
    let of_one = one.section([0, 1]);
    other.at(2).to_section(of_one);
    let error = soon(move || of_one.reduction::<u32>().try_wait()).expect_err("nobody contributes");
    assert!(error.to_string().contains("is no member of"), "{error}");
}

/// Point-to-point and binomial: a failure. Two-level (the form is chosen by size!): it hangs. Whatever is right, it should be one of them.
#[test]
fn a_section_whose_member_has_ended_behaves_the_same_in_all_forms() {
    for form in [
        SectionForm::PointToPoint,
        SectionForm::Binomial,
        SectionForm::TwoLevel,
    ] {
        let runtime = runtime(2);
        let array = array(&runtime, 9);
        let section = array.section_with(form, 0..8);
        array.remove(1);
        runtime.quiescence().wait();
        section.all().to_section(section);
        let _ = soon(move || section.reduction::<u32>().try_wait());
    }
}

/// Whose contribution comes first decides where the result goes; the other waits for ever.
#[test]
fn who_reduces_with_those_who_contribute_is_told() {
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

/// `catch_up` runs an entry, which ends and catches up, and so on: the stack overflows and the process aborts.
#[test]
fn what_waits_for_an_asynchronous_entry_may_be_much() {
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
fn a_worker_does_not_wait_for_the_exit() {
    let runtime = runtime(1);
    soon(move || {
        let waits = || runtime.install(|| runtime.until_exit());
        catch_unwind(AssertUnwindSafe(waits)).expect_err("it would wait for itself")
    });
}

#[test]
fn two_threads_wait_for_the_exit() {
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

/// `worker_of` is called under the lock of the table of collections.
#[test]
fn where_elements_are_placed_may_depend_on_another_array() {
    let runtime = runtime(2);
    soon(move || {
        let first = array(&runtime, 4);
        let options = ArrayOptions::new(4).placed(move |index| {
            first.at(index);
            index % 2
        });
        let second: Array<Hostile> = runtime.array_with(options, |_| Hostile::default());
        second.at(3).heard().wait()
    });
}

/// Aborts: thread local panicked on drop.
#[test]
fn a_destructor_that_panics_at_the_end_of_a_runtime_aborts_nothing() {
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

/// Nobody contributes, so that nothing ever comes.
#[test]
fn a_reduction_over_nobody_is_told_or_has_no_result() {
    let runtime = runtime(1);
    let empty = array(&runtime, 0);
    let _ = soon(move || empty.reduction::<u32>().try_wait());
}

#[test]
fn a_reduction_over_those_who_have_ended_is_told_or_has_no_result() {
    let runtime = runtime(1);
    let array = array(&runtime, 2);
    array.remove(0);
    array.remove(1);
    runtime.quiescence().wait();
    let _ = soon(move || array.reduction::<u32>().try_wait());
}

/// From five members on, where there are three workers or more, `Auto` is a tree: what the sender sends to a member afterwards overtakes.
#[test]
fn what_is_sent_to_a_section_and_to_its_members_keeps_its_order() {
    const ROUNDS: u32 = 100;
    let runtime = runtime(4);
    let (sender, array) = (array(&runtime, 1), array(&runtime, 8));
    let section = array.section(0..6);
    for round in 0..ROUNDS {
        sender.at(0).multicast_then(section, array, round);
    }
    runtime.quiescence().wait();
    for index in 0..6 {
        let heard = array.at(index).heard().wait();
        assert!(heard.is_sorted(), "{index}: {heard:?}");
    }
}

/// The task of a node group's element goes on as long as there is anything for it, and its worker looks at nothing else.
#[test]
fn an_element_of_a_node_group_that_sends_to_itself_lets_others_run() {
    let runtime = runtime(1);
    let node = runtime.node_group(|_| Hostile::default());
    let other = array(&runtime, 1);
    node.here().tick();
    std::thread::sleep(Duration::from_millis(20));
    soon(move || other.at(0).heard().wait());
    node.here().stop();
    assert!(node.here().count().wait() > 0);
}

/// Said was that it "has ended"; why is what one wants to know.
#[test]
fn who_asks_a_chare_that_has_panicked_is_told_that_it_has() {
    let runtime = runtime(1);
    let array = array(&runtime, 1);
    let one = array.at(0);
    one.fall();
    let error = one.heard().try_wait().expect_err("it has ended");
    assert!(error.to_string().contains("it fell"), "{error}");
}

/// A seed may run on a worker that has not yet looked into its mailbox, where the making of the group lies.
#[test]
fn an_element_of_a_group_is_there_for_whoever_has_its_proxy() {
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
