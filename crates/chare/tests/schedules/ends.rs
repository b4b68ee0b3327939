//! The end of a runtime with leftover messages, seeds and waiting entries: the runtime drops all of
//! them, and all pending waits fail.

use std::sync::Arc;

use raddle_chare::reduce::Sum;
use raddle_chare::{Array, Chares, Cx, NodeGroup, chare, model};
use raddle_runtime::Runtime;
use raddle_runtime::model::explore::{beside, explore_some};
use raddle_sync::prim::{thread, yield_now};

/// A token that everything holds which must not outlive the runtime.
type Token = Arc<()>;

/// Keeps tokens in its state, in messages and in waiting entries.
struct Keeper {
    own: Token,
}

/// Sends a message when it is dropped.
struct LastWill {
    to: KeeperProxy,
    token: Token,
}

impl Drop for LastWill {
    fn drop(&mut self) {
        self.to.keep(Arc::clone(&self.token));
    }
}

#[chare]
impl Keeper {
    #[entry]
    fn keep(&mut self, token: Token) {
        self.own = token;
    }

    #[message]
    fn key(token: Token);

    /// Sends messages to other elements and then waits for a key for ever.
    #[entry]
    async fn guard(&mut self, cx: &mut Cx<Self>, token: Token) -> bool {
        cx.migrate_to((cx.worker() + 1) % cx.worker_count());
        cx.all().key(Arc::clone(&token));
        let _first = cx.next(Self::key).await;
        let _second = cx.next(Self::key).await;
        drop(token);
        false
    }

    /// Sends a message back and forth for ever, with less priority on the way back.
    #[entry]
    fn pass(&mut self, cx: &mut Cx<Self>, token: Token) {
        // Some thread schedulers would run no other thread without this yield.
        yield_now();
        let (index, array) = (cx.index(), cx.array());
        array.at(1 - index).with_priority(index as i32).pass(token);
    }

    #[entry]
    async fn vote(&mut self, cx: &mut Cx<Self>, token: Token) -> u32 {
        let votes = cx.reduce(Sum(1_u32)).await;
        drop(token);
        votes
    }

    #[entry]
    fn create(&self, cx: &mut Cx<Self>, token: Token) {
        let own = Arc::clone(&token);
        let keeper = cx.chare(move |_| Keeper { own });
        keeper.keep(Arc::clone(&token));
        keeper.with_priority(1).keep(token);
    }

    #[entry]
    fn hand_over(&mut self, will: LastWill) {
        drop(will);
    }

    #[entry]
    fn asked(&mut self, token: Token) -> Token {
        token
    }
}

fn keepers(runtime: &Runtime, token: &Token) -> Array<Keeper> {
    let token = Arc::clone(token);
    let make = move |_| Keeper {
        own: Arc::clone(&token),
    };
    runtime.array(2, make)
}

fn node(runtime: &Runtime, token: &Token) -> NodeGroup<Keeper> {
    let own = Arc::clone(token);
    runtime.node_group(move |_| Keeper { own })
}

#[test]
fn everything_is_dropped_with_the_runtime() {
    explore_some(96, |setting| {
        let token = Token::default();
        let runtime = crate::runtime(&setting);
        let keepers = keepers(&runtime, &token);
        let nodes = node(&runtime, &token);
        let more = || Arc::clone(&token);
        let first = keepers.at(0);
        first.create(more());
        drop(keepers.at(0).guard(more()));
        drop(keepers.at(1).guard(more()));
        keepers.at(0).keep(more());
        nodes.here().keep(more());
        nodes.here().with_priority(-1).keep(more());
        keepers.all().keep(more());
        drop(keepers.at(1).asked(more()));
        drop(runtime);
        assert_eq!(Arc::strong_count(&token), 1);
        first.keep(more());
        nodes.here().keep(more());
        assert_eq!(Arc::strong_count(&token), 1);
    });
}

#[test]
fn dropping_the_runtime_stops_an_endless_program() {
    explore_some(96, |setting| {
        let token = Token::default();
        let runtime = crate::runtime(&setting);
        let keepers = keepers(&runtime, &token);
        for index in 0..2 {
            keepers.at(index).pass(Arc::clone(&token));
        }
        let (workers, more) = (runtime.worker_count(), Arc::clone(&token));
        let late = move || {
            // The runtime may have ended by now.
            if let Some(keeper) = keepers.get(0) {
                keeper.keep(more);
            }
        };
        let here = || {
            model::migrate(keepers, [(0, workers - 1), (1, 0)]);
            drop(runtime);
        };
        beside(late, here);
        assert_eq!(Arc::strong_count(&token), 1);
    });
}

#[test]
fn pending_waits_fail_at_the_end() {
    explore_some(96, |setting| {
        let token = Token::default();
        let runtime = crate::runtime(&setting);
        let keepers = keepers(&runtime, &token);
        let nodes = node(&runtime, &token);
        let more = || Arc::clone(&token);
        let vote = keepers.at(0).vote(more());
        let guard = keepers.at(1).guard(more());
        let asked = nodes.here().asked(more());
        let reduction = keepers.reduction::<u32>();
        let wait = move || {
            assert!(vote.try_wait().is_err(), "the other one does not vote");
            assert!(guard.try_wait().is_err(), "there is one key");
            let _ = asked.try_wait();
            assert!(reduction.try_wait().is_err(), "there are no contributions");
        };
        beside(wait, || drop(runtime));
        assert_eq!(Arc::strong_count(&token), 1);
    });
}

// Regression: a thread that waited for quiescence kept the data of the runtime alive. Only the end
// of this data would have woken the thread, so that the thread waited for ever.
#[test]
fn a_wait_for_quiescence_fails_at_the_end() {
    explore_some(96, |setting| {
        let token = Token::default();
        let runtime = crate::runtime(&setting);
        let keepers = keepers(&runtime, &token);
        for index in 0..2 {
            keepers.at(index).pass(Arc::clone(&token));
        }
        let quiet = runtime.quiescence();
        let wait = move || assert!(quiet.try_wait().is_err(), "they pass it on for ever");
        beside(wait, || drop(runtime));
        assert_eq!(Arc::strong_count(&token), 1);
    });
}

#[test]
fn questions_to_a_node_group_fail_at_the_end() {
    explore_some(96, |setting| {
        let token = Token::default();
        let runtime = crate::runtime(&setting);
        let nodes = node(&runtime, &token);
        let more = Arc::clone(&token);
        let ask = move || drop(nodes.here().asked(more).try_wait());
        beside(ask, || drop(runtime));
        assert_eq!(Arc::strong_count(&token), 1);
    });
}

// Regression: a destructor could not send while the runtime dropped a late message, because the
// sender of that message still held the lock.
#[test]
fn destructors_may_send_messages() {
    explore_some(96, |setting| {
        let token = Token::default();
        let runtime = crate::runtime(&setting);
        let keepers = keepers(&runtime, &token);
        let to = keepers.at(1);
        let will = move |token| LastWill { to, token };
        let (first, second) = (Arc::clone(&token), Arc::clone(&token));
        let hand_over = move |token| to.hand_over(will(token));
        let other = thread::spawn(move || hand_over(first));
        beside(move || hand_over(second), || drop(runtime));
        other.join().expect("it only sends");
        assert_eq!(Arc::strong_count(&token), 1);
    });
}
