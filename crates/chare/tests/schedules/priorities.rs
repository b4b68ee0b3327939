//! Messages with priorities: those of one sender and one priority keep their order, also to elements that move and in node groups, where the
//! most urgent of those that wait is the next; none is lost.

use raddle_chare::{Array, ArrayOptions, Chares, Cx, NodeGroup, chare};
use raddle_runtime::Runtime;
use raddle_runtime::model::explore::{beside, explore_some};

const PRIORITIES: [i32; 3] = [-1, 0, 2];

/// Hears numbered messages of several priorities.
struct Listener {
    /// By sender and priority, how many have come.
    heard: Vec<[u32; 3]>,
}

#[chare]
impl Listener {
    #[entry]
    fn hear(&mut self, from: usize, rank: usize, number: u32) {
        let heard = &mut self.heard[from][rank];
        assert_eq!(*heard, number, "from {from}, {rank}");
        *heard += 1;
    }

    #[entry]
    fn speak(&mut self, cx: &mut Cx<Self>, to: usize) {
        speak(cx.array().at(to), cx.index());
    }

    #[entry]
    fn speak_to_all(&mut self, cx: &mut Cx<Self>) {
        speak_to_all(cx.array(), cx.index());
    }

    #[entry]
    fn speak_to(&mut self, cx: &mut Cx<Self>, node: NodeGroup<Self>) {
        speak(node.here(), cx.index());
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, to: usize) {
        cx.migrate_to(to % cx.worker_count());
    }

    #[entry]
    fn heard(&self) -> Vec<[u32; 3]> {
        self.heard.clone()
    }
}

fn speak(to: ListenerProxy, from: usize) {
    for number in 0..2 {
        for (rank, priority) in PRIORITIES.into_iter().enumerate() {
            to.with_priority(priority).hear(from, rank, number);
        }
    }
}

/// Says each thing to one of all elements, and then the next to all.
fn speak_to_all(to: Array<Listener>, from: usize) {
    for (rank, priority) in PRIORITIES.into_iter().enumerate().take(2) {
        for index in 0..3 {
            to.at(index).with_priority(priority).hear(from, rank, 0);
        }
        to.all().with_priority(priority).hear(from, rank, 1);
    }
}

/// Three, of which the first and the last are on one worker.
fn listeners(runtime: &Runtime) -> Array<Listener> {
    let workers = runtime.worker_count();
    let placed = ArrayOptions::new(3).placed(move |index| index % 2 % workers);
    runtime.array_with(placed, |_| Listener {
        heard: vec![[0; 3]; 3],
    })
}

#[test]
fn each_priority_has_its_order() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
        let listeners = listeners(&runtime);
        beside(
            move || speak(listeners.at(0), 2),
            || listeners.at(1).speak(0),
        );
        runtime.quiescence().wait();
        assert_eq!(listeners.at(0).heard().wait(), [[0; 3], [2; 3], [2; 3]]);
    });
}

/// Messages that waited for their turn where their element had been were told that it had ended.
#[test]
fn messages_that_wait_for_their_turn_follow_their_element_alone() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
        let listeners = listeners(&runtime);
        listeners.at(0).go(1);
        let here = || {
            listeners.at(1).speak(0);
            listeners.at(1).speak(2);
            listeners.at(0).go(2);
        };
        let outside = move || {
            speak(listeners.at(0), 2);
            speak(listeners.at(2), 2);
        };
        beside(outside, here);
        runtime.quiescence().wait();
        for index in [0, 2] {
            let heard = listeners.at(index).heard().wait();
            assert_eq!(heard, [[0; 3], [2; 3], [2; 3]]);
        }
    });
}

#[test]
fn urgent_messages_to_all_come_once_and_in_order_wherever_elements_go() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
        let listeners = listeners(&runtime);
        listeners.at(0).go(1);
        let here = || {
            listeners.at(1).speak_to_all();
            listeners.at(2).go(2);
            listeners.at(0).speak_to_all();
            listeners.at(0).go(2);
        };
        beside(move || speak_to_all(listeners, 2), here);
        runtime.quiescence().wait();
        for index in 0..3 {
            let heard = listeners.at(index).heard().wait();
            assert_eq!(heard, [[2, 2, 0]; 3]);
        }
    });
}

#[test]
fn each_priority_has_its_order_in_a_node_group() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
        let listeners = listeners(&runtime);
        let node = runtime.node_group(|_| Listener {
            heard: vec![[0; 3]; 4],
        });
        let here = || listeners.all().speak_to(node);
        beside(move || speak(node.here(), 3), here);
        runtime.quiescence().wait();
        assert_eq!(node.here().heard().wait(), [[2; 3]; 4]);
    });
}

/// Does what is on its desk, which it is told by itself.
struct Clerk {
    done: Vec<u32>,
}

#[chare]
impl Clerk {
    /// None of it can run before this ends.
    #[entry]
    fn monday(&mut self, cx: &mut Cx<Self>) {
        let this = cx.this();
        for (priority, what) in [(2, 6), (0, 2), (1, 5), (-1, 1), (0, 4), (-2, 0), (2, 7)] {
            this.with_priority(priority).work(what);
        }
    }

    #[entry]
    fn work(&mut self, cx: &mut Cx<Self>, what: u32) {
        self.done.push(what);
        if what == 2 {
            // Comes before what waits already.
            cx.this().with_priority(-1).work(3);
        }
    }

    #[entry]
    fn done(&self) -> Vec<u32> {
        self.done.clone()
    }

    #[entry]
    fn close(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
}

/// Node groups passed priorities over.
#[test]
fn the_most_urgent_message_of_a_node_group_is_the_next() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
        let node = runtime.node_group(|_| Clerk { done: Vec::new() });
        node.here().monday();
        runtime.quiescence().wait();
        let done = node.here().with_priority(7).done();
        assert_eq!(done.wait(), [0, 1, 2, 3, 4, 5, 6, 7]);
    });
}

#[test]
fn what_waits_for_a_node_group_that_ends_fails_whatever_its_priority() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
        let node = runtime.node_group(|_| Clerk { done: Vec::new() });
        let ask = move |priority| node.here().with_priority(priority).done();
        let other = move || [ask(-1), ask(1)].map(|reply| reply.try_wait().is_ok());
        let here = || {
            node.here().close();
            [ask(0), ask(1)].map(|reply| reply.try_wait().is_ok())
        };
        let (_, after) = beside(other, here);
        assert_eq!(after, [false; 2], "it had ended");
        runtime.quiescence().wait();
    });
}
