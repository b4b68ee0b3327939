//! Elements migrate while messages to them are under way: no message is lost or duplicated, and the
//! messages of each sender keep their order.

use raddle_chare::{Chares, model};
use raddle_runtime::model::explore::{Scenario, beside, explore_some};
use raddle_runtime::{MailboxKind, Runtime};

use crate::travellers::{Traveller, travellers, travellers_on_each};

#[test]
fn messages_find_a_migrating_element() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let array = travellers(&runtime, 3, 4);
        let receive = move || {
            for number in 0..3 {
                array.at(0).receive(3, number);
            }
        };
        let here = || {
            array.at(1).tell(1, 2);
            array.at(0).go(1);
            array.at(2).tell(1, 2);
        };
        beside(receive, here);
        runtime.quiescence().wait();
        assert_eq!(array.at(0).counts().wait(), (vec![0, 2, 2, 3], 0));
        assert_eq!(array.at(0).place().wait(), 1 % runtime.worker_count());
    });
}

#[test]
fn messages_find_an_element_that_moves_on_and_back() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let array = travellers(&runtime, 2, 3);
        let receive = move || {
            for number in 0..3 {
                array.at(0).receive(2, number);
            }
        };
        let here = || {
            array.at(1).tell(1, 4);
            array.at(0).go(1);
            array.at(0).go(2);
            array.at(0).go(0);
        };
        beside(receive, here);
        runtime.quiescence().wait();
        assert_eq!(array.at(0).counts().wait(), (vec![0, 4, 3], 0));
    });
}

#[test]
fn elements_that_move_at_the_same_time_find_each_other() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let array = travellers(&runtime, 3, 3);
        array.all().tell(3, 2);
        array.at(0).go(1);
        array.at(1).go(2);
        array.at(2).go(0);
        array.all().tell(3, 1);
        runtime.quiescence().wait();
        for index in 0..3 {
            assert_eq!(array.at(index).counts().wait(), (vec![3; 3], 0));
        }
    });
}

#[test]
fn broadcasts_arrive_once() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let array = travellers(&runtime, 3, 1);
        for number in 0..4 {
            array.at(number % 3).go(number + 1);
            array.all().call(number as u32);
        }
        runtime.quiescence().wait();
        for index in 0..3 {
            assert_eq!(array.at(index).counts().wait(), (vec![0], 4));
        }
    });
}

#[test]
fn a_batch_leaves_and_reaches_several_workers() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let array = travellers(&runtime, 3, 4);
        let workers = runtime.worker_count();
        let receive = move || {
            for number in 0..2 {
                array.at(0).receive(3, number);
                array.at(2).receive(3, number);
            }
        };
        let here = || {
            array.all().tell(3, 2);
            model::migrate(array, [(0, 1 % workers), (1, 2 % workers), (2, 0)]);
            array.all().call(0);
            model::migrate(array, [(2, 1 % workers), (0, 0)]);
            array.all().call(1);
        };
        beside(receive, here);
        runtime.quiescence().wait();
        for (index, received) in [2, 0, 2].into_iter().enumerate() {
            assert_eq!(
                array.at(index).counts().wait(),
                (vec![2, 2, 2, received], 2)
            );
        }
        assert_eq!(array.at(1).place().wait(), 2 % workers);
        // Elements that have returned are not skipped because they had left.
        array.all().call(2);
        runtime.quiescence().wait();
        for index in 0..3 {
            assert_eq!(array.at(index).counts().wait().1, 3);
        }
    });
}

/// Builds a runtime as in `setting`, but with three workers and one queue for each pair of them. In
/// this configuration, messages of one worker can overtake messages of another worker.
fn in_pairs(setting: Scenario) -> Runtime {
    let mut setting = setting;
    (setting.worker_count, setting.mailbox) = (3, MailboxKind::Pairs);
    crate::runtime(&setting)
}

// Migrating elements send many messages, so that some messages are still in the queues of the old
// worker when the element sends from the new one.
#[test]
fn a_migrating_element_does_not_overtake_its_own_messages() {
    explore_some(96, |setting| {
        let runtime = in_pairs(setting);
        let array = travellers_on_each(&runtime, 3);
        for index in 0..3 {
            array.at(index).tell(3, 6);
            array.at(index).tell(3, 6);
        }
        model::migrate(array, [(0, 1), (1, 2)]);
        array.at(2).go(0);
        runtime.quiescence().wait();
        for index in 0..3 {
            assert_eq!(array.at(index).counts().wait().0, [12; 3]);
        }
    });
}

// A broadcast is under way to the new worker, behind other messages, when an element arrives that
// has already received the broadcast on its old worker.
#[test]
fn a_broadcast_arrives_once_at_an_element_that_overtakes_it() {
    explore_some(96, |setting| {
        let runtime = in_pairs(setting);
        let array = travellers_on_each(&runtime, 3);
        array.at(1).tell_and_call(2, 8);
        model::migrate(array, [(0, 2)]);
        array.at(0).go(0);
        runtime.quiescence().wait();
        for index in 0..3 {
            assert_eq!(array.at(index).counts().wait().1, 8);
        }
    });
}

#[test]
fn an_element_may_migrate_before_it_is_created() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        // The root of an array determines the first reduction of a new element. Arrays that are
        // created one after the other have different roots.
        for _ in 0..setting.one_of(&[0, 1, 2]) {
            runtime.sparse_array::<Traveller>();
        }
        let array = runtime.sparse_array::<Traveller>();
        let (workers, to) = (runtime.worker_count(), setting.one_of(&[0, 1, 2]));
        array.insert_on(workers - 1, 0, |_| Traveller::new(3));
        let receive = move || {
            for number in 0..2 {
                array.at(0).receive(2, number);
            }
            array.insert(1, |_| Traveller::new(3));
            array.at(1).tell(1, 2);
            model::migrate(array, [(1, to % workers)]);
        };
        let here = || {
            model::migrate(array, [(0, 0)]);
            for number in 0..3 {
                array.all().call(number);
            }
            model::migrate(array, [(0, to % workers)]);
        };
        beside(receive, here);
        runtime.quiescence().wait();
        assert_eq!(array.at(0).counts().wait(), (vec![0, 2, 2], 3));
        assert_eq!(array.at(0).place().wait(), to % workers);
        assert_eq!(array.at(1).place().wait(), to % workers);
    });
}

#[test]
fn elements_may_end_while_they_migrate() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let array = travellers(&runtime, 3, 1);
        let workers = runtime.worker_count();
        let ask = move || {
            let ending = array.get(0)?;
            ending.counts().try_wait().ok()
        };
        let here = || {
            model::migrate(array, [(0, 1 % workers), (1, 1 % workers)]);
            array.all().call(0);
            array.remove(0);
            array.all().call(1);
            array.at(1).go(2);
        };
        beside(ask, here);
        runtime.quiescence().wait();
        assert!(array.get(0).is_none());
        array.insert(0, |_| Traveller::new(1));
        for (index, called) in [0, 2, 2].into_iter().enumerate() {
            assert_eq!(array.at(index).counts().wait(), (vec![0], called));
        }
        assert_eq!(array.at(1).place().wait(), 2 % workers);
    });
}

#[test]
fn an_element_that_ends_in_its_constructor_does_not_block_migrations() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        for _ in 0..setting.one_of(&[0, 1, 2]) {
            runtime.sparse_array::<Traveller>();
        }
        let array = runtime.sparse_array::<Traveller>();
        let workers = runtime.worker_count();
        array.insert_on(workers - 1, 0, |_| Traveller::new(1));
        array.insert_on(workers - 1, 1, |cx| {
            cx.end();
            Traveller::new(1)
        });
        model::migrate(array, [(1, 0)]);
        array.all().call(0);
        array.at(0).go(1);
        runtime.quiescence().wait();
        assert!(array.get(1).is_none());
        assert_eq!(array.at(0).place().wait(), 1 % workers);
    });
}
