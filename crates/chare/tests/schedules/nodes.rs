//! Node groups: entries run one at a time, on any worker, in the order of each sender, and no
//! message is lost.

use std::sync::Arc;

use raddle_chare::{Array, Chares, Cx, NodeGroup, chare};
use raddle_runtime::model::explore::{beside, explore_some};
use raddle_sync::prim::{AtomicBool, SeqCst, yield_now};

/// Receives numbered messages, one at a time.
struct Registrar {
    received: [u32; 4],
    is_busy: Arc<AtomicBool>,
}

#[chare]
impl Registrar {
    #[entry]
    fn receive(&mut self, from: usize, number: u32) {
        assert!(!self.is_busy.swap(true, SeqCst), "two at a time");
        assert_eq!(self.received[from], number, "from {from}");
        yield_now();
        self.received[from] += 1;
        assert!(self.is_busy.swap(false, SeqCst));
    }

    #[entry]
    fn received(&self) -> [u32; 4] {
        self.received
    }

    #[message]
    fn paper(number: u32);

    /// Waits for `count` papers, in order.
    #[entry]
    async fn sign(&mut self, cx: &mut Cx<Self>, count: u32) -> [u32; 4] {
        for number in 0..count {
            cx.next_where(Self::paper, |&paper| paper == number).await;
        }
        self.received
    }

    #[entry]
    fn close(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
}

/// Sends messages to the registrar.
struct Citizen;

#[chare]
impl Citizen {
    #[entry]
    fn tell(&self, cx: &mut Cx<Self>, node: NodeGroup<Registrar>, number: u32, left: u32) {
        node.here().receive(cx.index(), number);
        if left > 1 {
            cx.this().tell(node, number + 1, left - 1);
        }
    }
}

fn citizens(runtime: &raddle_runtime::Runtime) -> (Array<Citizen>, NodeGroup<Registrar>) {
    let node = runtime.node_group(|_| Registrar {
        received: [0; 4],
        is_busy: Arc::default(),
    });
    (runtime.array(3, |_| Citizen), node)
}

#[test]
fn messages_arrive_one_at_a_time_in_the_order_of_each_sender() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let (citizens, node) = citizens(&runtime);
        let outside = move || {
            for number in 0..3 {
                node.here().receive(3, number);
            }
        };
        beside(outside, || citizens.all().tell(node, 0, 3));
        runtime.quiescence().wait();
        assert_eq!(node.here().received().wait(), [3; 4]);
    });
}

#[test]
fn messages_during_a_waiting_entry_are_received_after_it() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let (citizens, node) = citizens(&runtime);
        let signed = node.here().sign(2);
        let hand_in = move || {
            node.here().paper(1);
            node.here().paper(0);
        };
        beside(hand_in, || citizens.all().tell(node, 0, 2));
        assert_eq!(signed.wait(), [0; 4]);
        runtime.quiescence().wait();
        assert_eq!(node.here().received().wait(), [2, 2, 2, 0]);
    });
}

#[test]
fn questions_to_an_ended_element_fail() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let (_, node) = citizens(&runtime);
        let ask = move || node.here().received().try_wait().is_ok();
        let here = || {
            node.here().close();
            node.here().received().try_wait().is_ok()
        };
        let (_, after) = beside(ask, here);
        assert!(!after, "it had ended");
        runtime.quiescence().wait();
    });
}
