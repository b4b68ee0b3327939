//! Messages with priorities: messages of one sender and one priority keep their order, also to
//! migrating elements and in node groups. A node group processes the most urgent waiting message
//! next. No message is lost.

use raddle_chare::{Array, ArrayOptions, Chares, Cx, NodeGroup, chare};
use raddle_runtime::Runtime;
use raddle_runtime::model::explore::{beside, explore_some};

const PRIORITIES: [i32; 3] = [-1, 0, 2];

/// Receives numbered messages of several priorities.
struct Listener {
    /// The number of received messages by sender and priority.
    received: Vec<[u32; 3]>,
}

#[chare]
impl Listener {
    #[entry]
    fn receive(&mut self, from: usize, rank: usize, number: u32) {
        let received = &mut self.received[from][rank];
        assert_eq!(*received, number, "from {from}, {rank}");
        *received += 1;
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
    fn received(&self) -> Vec<[u32; 3]> {
        self.received.clone()
    }
}

fn speak(to: ListenerProxy, from: usize) {
    for number in 0..2 {
        for (rank, priority) in PRIORITIES.into_iter().enumerate() {
            to.with_priority(priority).receive(from, rank, number);
        }
    }
}

/// Sends messages alternately to one element and to all elements.
fn speak_to_all(to: Array<Listener>, from: usize) {
    for (rank, priority) in PRIORITIES.into_iter().enumerate().take(2) {
        for index in 0..3 {
            to.at(index).with_priority(priority).receive(from, rank, 0);
        }
        to.all().with_priority(priority).receive(from, rank, 1);
    }
}

/// Creates three listeners. The first and the last are on the same worker.
fn listeners(runtime: &Runtime) -> Array<Listener> {
    let workers = runtime.worker_count();
    let placed = ArrayOptions::new(3).placed(move |index| index % 2 % workers);
    runtime.array_with(placed, |_| Listener {
        received: vec![[0; 3]; 3],
    })
}

#[test]
fn messages_of_each_priority_arrive_in_order() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let listeners = listeners(&runtime);
        beside(
            move || speak(listeners.at(0), 2),
            || listeners.at(1).speak(0),
        );
        runtime.quiescence().wait();
        assert_eq!(listeners.at(0).received().wait(), [[0; 3], [2; 3], [2; 3]]);
    });
}

// Regression: messages that waited for their turn on the old worker of an element failed with the
// report that the element had ended.
#[test]
fn waiting_messages_follow_their_element() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
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
            let received = listeners.at(index).received().wait();
            assert_eq!(received, [[0; 3], [2; 3], [2; 3]]);
        }
    });
}

#[test]
fn urgent_broadcasts_arrive_once_and_in_order_at_migrating_elements() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
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
            let received = listeners.at(index).received().wait();
            assert_eq!(received, [[2, 2, 0]; 3]);
        }
    });
}

#[test]
fn messages_of_each_priority_arrive_in_order_at_a_node_group() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let listeners = listeners(&runtime);
        let node = runtime.node_group(|_| Listener {
            received: vec![[0; 3]; 4],
        });
        let here = || listeners.all().speak_to(node);
        beside(move || speak(node.here(), 3), here);
        runtime.quiescence().wait();
        assert_eq!(node.here().received().wait(), [[2; 3]; 4]);
    });
}

/// Processes messages that it sends to itself.
struct Clerk {
    done: Vec<u32>,
}

#[chare]
impl Clerk {
    /// Sends messages that cannot be processed before this entry ends.
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
            // This message precedes the messages that already wait.
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

// Regression: node groups ignored priorities.
#[test]
fn a_node_group_processes_its_most_urgent_message_next() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let node = runtime.node_group(|_| Clerk { done: Vec::new() });
        node.here().monday();
        runtime.quiescence().wait();
        let done = node.here().with_priority(7).done();
        assert_eq!(done.wait(), [0, 1, 2, 3, 4, 5, 6, 7]);
    });
}

#[test]
fn messages_to_an_ending_node_group_fail_with_any_priority() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
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
