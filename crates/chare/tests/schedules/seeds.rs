//! Seeds: messages for them come in order, before and after they sprout and wherever they go then, from several senders at once.

use raddle_chare::{Array, ArrayOptions, Chares, Cx, chare};
use raddle_runtime::Runtime;
use raddle_runtime::model::explore::{Setting, beside, explore_some};

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

    #[entry]
    fn tell(&self, cx: &mut Cx<Self>, sprout: SproutProxy, number: u32, left: u32) {
        sprout.hear(cx.index(), number);
        if left > 1 {
            cx.this().tell(sprout, number + 1, left - 1);
        }
    }

    /// Sows, and has all others tell from one worker after the other.
    #[entry]
    fn sow_around(&self, cx: &mut Cx<Self>, by: usize) -> SproutProxy {
        let sprout = cx.chare(|cx| Sprout::new(cx, Then::Stay));
        for other in [1, 2] {
            cx.array().at(other).tell_around(sprout, 0, by);
        }
        sprout
    }

    #[entry]
    fn tell_around(&self, cx: &mut Cx<Self>, sprout: SproutProxy, number: u32, by: usize) {
        sprout.hear(cx.index(), number);
        if number < 2 {
            cx.migrate_to((cx.worker() + by) % cx.worker_count());
            cx.array()
                .at(0)
                .remind(sprout, cx.index(), number + 1, by, 2);
        }
    }

    /// Has gardener `who` tell, after a while in which it may have moved.
    #[entry]
    fn remind(
        &self,
        cx: &mut Cx<Self>,
        sprout: SproutProxy,
        who: usize,
        number: u32,
        by: usize,
        rests: u32,
    ) {
        if rests > 0 {
            cx.this().remind(sprout, who, number, by, rests - 1);
        } else {
            cx.array().at(who).tell_around(sprout, number, by);
        }
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
    });
}

#[test]
fn a_seed_hears_who_moves_in_order() {
    explore_some(96, |setting| {
        let (runtime, gardeners) = garden(&setting);
        let by = setting.one_of(&[1, 2]);
        let sprout = gardeners.at(0).sow_around(by).wait();
        runtime.quiescence().wait();
        assert_eq!(sprout.heard().wait(), [0, 3, 3, 0]);
    });
}
