//! Seeds: messages from several senders at once arrive in order, before and after the seed is
//! placed and wherever it migrates afterwards.

use std::ops::DerefMut;
use std::sync::Arc;

use raddle_chare::{Array, ArrayOptions, Chares, Cx, chare, model};
use raddle_runtime::model::explore::{Flag, Scenario, beside, explore_some};
use raddle_runtime::{MailboxKind, Runtime, Waiter};
use raddle_sync::prim::Mutex;

/// A chare that is created as a seed and receives numbered messages.
struct Child {
    received: Vec<u32>,
}

/// The action of a seed when it is placed.
#[derive(Clone, Copy, Debug)]
enum Then {
    Stay,
    Go(usize),
    End,
}

#[chare]
impl Child {
    fn new(cx: &mut Cx<Self>, then: Then) -> Self {
        match then {
            Then::Stay => {}
            Then::Go(to) => cx.migrate_to(to % cx.worker_count()),
            Then::End => cx.end(),
        }
        Self {
            received: vec![0; 4],
        }
    }

    #[entry]
    fn receive(&mut self, from: usize, number: u32) {
        assert_eq!(self.received[from], number, "from {from}");
        self.received[from] += 1;
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, to: usize) {
        cx.migrate_to(to % cx.worker_count());
    }

    #[entry]
    fn received(&self) -> Vec<u32> {
        self.received.clone()
    }
}

/// Creates seeds and sends to them.
struct Gardener;

#[chare]
impl Gardener {
    /// Creates a seed, makes the first `senders` gardeners send it `count` messages each, and
    /// returns its proxy.
    #[entry]
    fn create(&self, cx: &mut Cx<Self>, senders: usize, count: u32, then: Then) -> ChildProxy {
        let child = cx.chare(move |cx| Child::new(cx, then));
        for sender in 0..senders {
            cx.array().at(sender).tell(child, 0, count);
        }
        child
    }

    /// Creates several seeds that migrate to worker `to` immediately, and makes gardener 2 send to
    /// them. The queue of gardener 2 is long, because this entry sends it many other messages.
    #[entry]
    fn create_to_go(&self, cx: &mut Cx<Self>, to: usize) -> Vec<ChildProxy> {
        let create = |_| cx.chare(move |cx| Child::new(cx, Then::Go(to)));
        let children: Vec<_> = (0..4).map(create).collect();
        let busy = cx.array().at(2);
        busy.tell_again(children.clone(), 0);
        for _ in 0..12 {
            busy.chat();
        }
        children
    }

    #[entry]
    fn chat(&self) {}

    /// Sends to the seeds each time gardener 1 asks for it.
    #[entry]
    fn tell_again(&self, cx: &mut Cx<Self>, children: Vec<ChildProxy>, number: u32) {
        for child in &children {
            child.receive(cx.index(), number);
        }
        if number < 3 {
            cx.array().at(1).remind_again(children, number + 1, 2);
        }
    }

    #[entry]
    fn remind_again(&self, cx: &mut Cx<Self>, children: Vec<ChildProxy>, number: u32, rests: u32) {
        if rests > 0 {
            cx.this().remind_again(children, number, rests - 1);
        } else {
            cx.array().at(2).tell_again(children, number);
        }
    }

    #[entry]
    fn lend(&self, loan: Arc<Loan>) {
        loan.lend();
    }

    #[entry]
    fn tell(&self, cx: &mut Cx<Self>, child: ChildProxy, number: u32, left: u32) {
        child.receive(cx.index(), number);
        if left > 1 {
            cx.this().tell(child, number + 1, left - 1);
        }
    }

    /// Creates several seeds, so that some of them wait long, and makes all other gardeners send to
    /// them from one worker after the other.
    #[entry]
    fn create_around(&self, cx: &mut Cx<Self>, by: usize) -> Vec<ChildProxy> {
        let create = |_| cx.chare(|cx| Child::new(cx, Then::Stay));
        let children: Vec<_> = (0..4).map(create).collect();
        for other in [1, 2] {
            cx.array().at(other).tell_around(children.clone(), 0, by);
        }
        children
    }

    #[entry]
    fn tell_around(&self, cx: &mut Cx<Self>, children: Vec<ChildProxy>, number: u32, by: usize) {
        for child in &children {
            child.receive(cx.index(), number);
        }
        if number < 3 {
            cx.migrate_to((cx.worker() + by) % cx.worker_count());
            cx.array()
                .at(0)
                .remind(children, cx.index(), number + 1, by, 2);
        }
    }

    /// Makes gardener `sender` send after a while, in which that gardener may have migrated.
    #[entry]
    fn remind(
        &self,
        cx: &mut Cx<Self>,
        children: Vec<ChildProxy>,
        sender: usize,
        number: u32,
        by: usize,
        rests: u32,
    ) {
        if rests > 0 {
            cx.this().remind(children, sender, number, by, rests - 1);
        } else {
            cx.array().at(sender).tell_around(children, number, by);
        }
    }
}

/// Blocks workers, which lend their places to compensating threads meanwhile.
#[derive(Default)]
struct Loan {
    is_over: Flag,
    lenders: Mutex<Vec<Waiter>>,
}

impl Loan {
    fn lend(&self) {
        let own = Waiter::current();
        self.lenders().push(own.clone());
        own.wait_until(|| self.is_over.is_up());
    }

    fn end(&self) {
        self.is_over.raise();
        self.lenders().iter().for_each(Waiter::notify);
    }

    fn lenders(&self) -> impl DerefMut<Target = Vec<Waiter>> {
        self.lenders.lock().expect("no panic poisons it")
    }
}

/// Builds a runtime with gardeners, which are dealt to its workers round robin.
fn garden(setting: &Scenario) -> (Runtime, Array<Gardener>) {
    let runtime = crate::runtime(&setting);
    let workers = runtime.worker_count();
    let placed = ArrayOptions::new(3).placed(move |index| index % workers);
    let gardeners = runtime.array_with(placed, |_| Gardener);
    (runtime, gardeners)
}

#[test]
fn a_seed_receives_the_messages_of_all_senders_in_order() {
    explore_some(96, |setting| {
        let (runtime, gardeners) = garden(&setting);
        let child = gardeners.at(0).create(3, 3, Then::Stay).wait();
        for number in 0..3 {
            child.receive(3, number);
        }
        runtime.quiescence().wait();
        assert_eq!(child.received().wait(), [3; 4]);
    });
}

#[test]
fn a_seed_from_outside_receives_messages_in_order() {
    explore_some(96, |setting| {
        let (runtime, gardeners) = garden(&setting);
        let child = runtime.chare(|cx| Child::new(cx, Then::Stay));
        gardeners.at(0).tell(child, 0, 2);
        gardeners.at(1).tell(child, 0, 2);
        for number in 0..3 {
            child.receive(3, number);
        }
        runtime.quiescence().wait();
        assert_eq!(child.received().wait(), [2, 2, 0, 3]);
    });
}

#[test]
fn a_seed_that_migrates_immediately_receives_messages_in_order() {
    explore_some(96, |setting| {
        let (runtime, gardeners) = garden(&setting);
        let to = setting.one_of(&[0, 1, 2]);
        let child = gardeners.at(1).create(3, 4, Then::Go(to)).wait();
        child.receive(3, 0);
        child.receive(3, 1);
        runtime.quiescence().wait();
        assert_eq!(child.received().wait(), [4, 4, 4, 2]);
    });
}

#[test]
fn a_seed_that_migrates_repeatedly_receives_messages_in_order() {
    explore_some(96, |setting| {
        let (runtime, gardeners) = garden(&setting);
        let child = gardeners.at(1).create(3, 3, Then::Go(0)).wait();
        child.go(2);
        child.go(1);
        runtime.quiescence().wait();
        assert_eq!(child.received().wait(), [3, 3, 3, 0]);
        runtime.quiescence().wait();
        assert_eq!(model::detours(&runtime), 0);
    });
}

// Messages that were forwarded by the home wait at the new worker of the seed, while a sender
// without this information still sends to the place where the seed was created. The sender is
// informed about the new place only after the seed has received the earlier messages of this
// sender. The information arrives late, because many messages precede it in the queue of the
// sender.
#[test]
fn a_seed_receives_messages_of_uninformed_senders_in_order() {
    explore_some(96, |setting| {
        let mut setting = setting;
        (setting.worker_count, setting.mailbox) = (3, MailboxKind::Pairs);
        let (runtime, gardeners) = garden(&setting);
        let children = gardeners.at(0).create_to_go(1).wait();
        runtime.quiescence().wait();
        for child in children {
            assert_eq!(child.received().wait(), [0, 0, 4, 0]);
        }
    });
}

// A compensating thread, which has the place of a waiting worker, has no chares, but takes seeds
// out of the pool.
#[test]
fn a_seed_taken_by_a_compensating_thread_is_created_by_a_worker() {
    explore_some(96, |setting| {
        let (runtime, gardeners) = garden(&setting);
        let loan = Arc::<Loan>::default();
        let child = gardeners.at(0).create(3, 2, Then::Stay);
        for index in 0..3 {
            gardeners.at(index).lend(Arc::clone(&loan));
        }
        let child = child.wait();
        child.receive(3, 0);
        loan.end();
        runtime.quiescence().wait();
        assert_eq!(child.received().wait(), [2, 2, 2, 1]);
    });
}

// Regression: a message to an ended seed stayed at its home for ever once its number had been
// reused for the next seed.
#[test]
fn questions_to_an_ended_seed_fail() {
    explore_some(96, |setting| {
        let (runtime, gardeners) = garden(&setting);
        let ask = move || {
            let child = gardeners.at(0).create(0, 0, Then::End).wait();
            let _ = child.received().try_wait();
        };
        beside(ask, ask);
        let stays = gardeners.at(0).create(0, 0, Then::Stay).wait();
        assert_eq!(stays.received().wait(), [0; 4]);
        runtime.quiescence().wait();
        assert_eq!(model::detours(&runtime), 0);
    });
}

#[test]
fn a_seed_receives_messages_of_migrating_senders_in_order() {
    explore_some(192, |setting| {
        let mut setting = setting;
        setting.worker_count = 3;
        let (runtime, gardeners) = garden(&setting);
        let by = setting.one_of(&[1, 2]);
        let children = gardeners.at(0).create_around(by).wait();
        runtime.quiescence().wait();
        for child in children {
            assert_eq!(child.received().wait(), [0, 4, 4, 0]);
        }
        assert_eq!(model::detours(&runtime), 0);
    });
}
