//! Seeds: messages for them come in order, before and after they sprout and wherever they go then, from several senders at once.

use std::ops::DerefMut;
use std::sync::Arc;

use raddle_chare::{Array, ArrayOptions, Chares, Cx, chare, model};
use raddle_runtime::model::explore::{Flag, Setting, beside, explore_some};
use raddle_runtime::{MailboxKind, Runtime, Waiter};
use raddle_sync::prim::Mutex;

/// A chare that is made as a seed; it hears numbered messages.
struct Sprout {
    heard: Vec<u32>,
}

/// Where a seed goes when it sprouts.
#[derive(Clone, Copy, Debug)]
enum Then {
    Stay,
    Go(usize),
    End,
}

#[chare]
impl Sprout {
    fn new(cx: &mut Cx<Self>, then: Then) -> Self {
        match then {
            Then::Stay => {}
            Then::Go(to) => cx.migrate_to(to % cx.worker_count()),
            Then::End => cx.end(),
        }
        Self { heard: vec![0; 4] }
    }

    #[entry]
    fn hear(&mut self, from: usize, number: u32) {
        assert_eq!(self.heard[from], number, "from {from}");
        self.heard[from] += 1;
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, to: usize) {
        cx.migrate_to(to % cx.worker_count());
    }

    #[entry]
    fn heard(&self) -> Vec<u32> {
        self.heard.clone()
    }
}

/// Sows, and sends to what sprouts.
struct Gardener;

#[chare]
impl Gardener {
    /// Sows, has the first `senders` send `count` messages each, and returns the address.
    #[entry]
    fn sow(&self, cx: &mut Cx<Self>, senders: usize, count: u32, then: Then) -> SproutProxy {
        let sprout = cx.chare(move |cx| Sprout::new(cx, then));
        for sender in 0..senders {
            cx.array().at(sender).tell(sprout, 0, count);
        }
        sprout
    }

    /// Sows several that go to worker `to` at once, and has gardener 2 tell them, who has much else to hear from here.
    #[entry]
    fn sow_to_go(&self, cx: &mut Cx<Self>, to: usize) -> Vec<SproutProxy> {
        let sow = |_| cx.chare(move |cx| Sprout::new(cx, Then::Go(to)));
        let sprouts: Vec<_> = (0..4).map(sow).collect();
        let busy = cx.array().at(2);
        busy.tell_again(sprouts.clone(), 0);
        for _ in 0..12 {
            busy.chat();
        }
        sprouts
    }

    #[entry]
    fn chat(&self) {}

    /// Tells sprouts, again and again, when gardener 1 says so.
    #[entry]
    fn tell_again(&self, cx: &mut Cx<Self>, sprouts: Vec<SproutProxy>, number: u32) {
        for sprout in &sprouts {
            sprout.hear(cx.index(), number);
        }
        if number < 3 {
            cx.array().at(1).remind_again(sprouts, number + 1, 2);
        }
    }

    #[entry]
    fn remind_again(&self, cx: &mut Cx<Self>, sprouts: Vec<SproutProxy>, number: u32, rests: u32) {
        if rests > 0 {
            cx.this().remind_again(sprouts, number, rests - 1);
        } else {
            cx.array().at(2).tell_again(sprouts, number);
        }
    }

    #[entry]
    fn lend(&self, loan: Arc<Loan>) {
        loan.lend();
    }

    #[entry]
    fn tell(&self, cx: &mut Cx<Self>, sprout: SproutProxy, number: u32, left: u32) {
        sprout.hear(cx.index(), number);
        if left > 1 {
            cx.this().tell(sprout, number + 1, left - 1);
        }
    }

    /// Sows several, so that some of them wait long, and has all others tell them from one worker after the other.
    #[entry]
    fn sow_around(&self, cx: &mut Cx<Self>, by: usize) -> Vec<SproutProxy> {
        let sow = |_| cx.chare(|cx| Sprout::new(cx, Then::Stay));
        let sprouts: Vec<_> = (0..4).map(sow).collect();
        for other in [1, 2] {
            cx.array().at(other).tell_around(sprouts.clone(), 0, by);
        }
        sprouts
    }

    #[entry]
    fn tell_around(&self, cx: &mut Cx<Self>, sprouts: Vec<SproutProxy>, number: u32, by: usize) {
        for sprout in &sprouts {
            sprout.hear(cx.index(), number);
        }
        if number < 3 {
            cx.migrate_to((cx.worker() + by) % cx.worker_count());
            cx.array()
                .at(0)
                .remind(sprouts, cx.index(), number + 1, by, 2);
        }
    }

    /// Has gardener `who` tell, after a while in which it may have moved.
    #[entry]
    fn remind(
        &self,
        cx: &mut Cx<Self>,
        sprouts: Vec<SproutProxy>,
        who: usize,
        number: u32,
        by: usize,
        rests: u32,
    ) {
        if rests > 0 {
            cx.this().remind(sprouts, who, number, by, rests - 1);
        } else {
            cx.array().at(who).tell_around(sprouts, number, by);
        }
    }
}

/// Holds up workers, which lend their places meanwhile.
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
        self.lenders.lock().expect("nobody panics")
    }
}

/// A runtime with gardeners, one after the other on its workers.
fn garden(setting: &Setting) -> (Runtime, Array<Gardener>) {
    let runtime = setting.runtime();
    let workers = runtime.worker_count();
    let placed = ArrayOptions::new(3).placed(move |index| index % workers);
    let gardeners = runtime.array_with(placed, |_| Gardener);
    (runtime, gardeners)
}

#[test]
fn a_seed_hears_everybody_in_order() {
    explore_some(96, |setting| {
        let (runtime, gardeners) = garden(&setting);
        let sprout = gardeners.at(0).sow(3, 3, Then::Stay).wait();
        for number in 0..3 {
            sprout.hear(3, number);
        }
        runtime.quiescence().wait();
        assert_eq!(sprout.heard().wait(), [3; 4]);
    });
}

#[test]
fn a_seed_from_outside_hears_everybody_in_order() {
    explore_some(96, |setting| {
        let (runtime, gardeners) = garden(&setting);
        let sprout = runtime.chare(|cx| Sprout::new(cx, Then::Stay));
        gardeners.at(0).tell(sprout, 0, 2);
        gardeners.at(1).tell(sprout, 0, 2);
        for number in 0..3 {
            sprout.hear(3, number);
        }
        runtime.quiescence().wait();
        assert_eq!(sprout.heard().wait(), [2, 2, 0, 3]);
    });
}

#[test]
fn a_seed_that_goes_at_once_hears_everybody_in_order() {
    explore_some(96, |setting| {
        let (runtime, gardeners) = garden(&setting);
        let to = setting.one_of(&[0, 1, 2]);
        let sprout = gardeners.at(1).sow(3, 4, Then::Go(to)).wait();
        sprout.hear(3, 0);
        sprout.hear(3, 1);
        runtime.quiescence().wait();
        assert_eq!(sprout.heard().wait(), [4, 4, 4, 2]);
    });
}

#[test]
fn a_seed_that_goes_around_hears_everybody_in_order() {
    explore_some(96, |setting| {
        let (runtime, gardeners) = garden(&setting);
        let sprout = gardeners.at(1).sow(3, 3, Then::Go(0)).wait();
        sprout.go(2);
        sprout.go(1);
        runtime.quiescence().wait();
        assert_eq!(sprout.heard().wait(), [3, 3, 3, 0]);
        runtime.quiescence().wait();
        assert_eq!(model::detours(&runtime), 0);
    });
}

/// What has come by the home waits where the seed goes, while one who has not heard of that still finds it where it sprouted: he is not told
/// before the seed has heard what he had sent. He hears of it late, since much lies in his queue before it.
#[test]
fn a_seed_hears_who_has_not_gone_over_in_order() {
    explore_some(96, |setting| {
        let mut setting = setting;
        (setting.worker_count, setting.mailbox) = (3, MailboxKind::Pairs);
        let (runtime, gardeners) = garden(&setting);
        let sprouts = gardeners.at(0).sow_to_go(1).wait();
        runtime.quiescence().wait();
        for sprout in sprouts {
            assert_eq!(sprout.heard().wait(), [0, 0, 4, 0]);
        }
    });
}

/// Who has the place of a worker that waits has no chares, and yet takes seeds out of the pool.
#[test]
fn a_seed_that_a_substitute_takes_is_made_by_a_worker() {
    explore_some(96, |setting| {
        let (runtime, gardeners) = garden(&setting);
        let loan = Arc::<Loan>::default();
        let sprout = gardeners.at(0).sow(3, 2, Then::Stay);
        for index in 0..3 {
            gardeners.at(index).lend(Arc::clone(&loan));
        }
        let sprout = sprout.wait();
        sprout.hear(3, 0);
        loan.end();
        runtime.quiescence().wait();
        assert_eq!(sprout.heard().wait(), [2, 2, 2, 1]);
    });
}

/// A message for one that has ended lay at its home for ever when its number had gone to the next seed.
#[test]
fn who_asks_a_seed_that_has_ended_is_told() {
    explore_some(96, |setting| {
        let (runtime, gardeners) = garden(&setting);
        let ask = move || {
            let sprout = gardeners.at(0).sow(0, 0, Then::End).wait();
            let _ = sprout.heard().try_wait();
        };
        beside(ask, ask);
        let stays = gardeners.at(0).sow(0, 0, Then::Stay).wait();
        assert_eq!(stays.heard().wait(), [0; 4]);
        runtime.quiescence().wait();
        assert_eq!(model::detours(&runtime), 0);
    });
}

#[test]
fn a_seed_hears_who_moves_in_order() {
    explore_some(192, |setting| {
        let mut setting = setting;
        setting.worker_count = 3;
        let (runtime, gardeners) = garden(&setting);
        let by = setting.one_of(&[1, 2]);
        let sprouts = gardeners.at(0).sow_around(by).wait();
        runtime.quiescence().wait();
        for sprout in sprouts {
            assert_eq!(sprout.heard().wait(), [0, 4, 4, 0]);
        }
        assert_eq!(model::detours(&runtime), 0);
    });
}
