//! Node groups: entries run one at a time, wherever there is a worker, in the order of each sender; none is lost.

use std::sync::Arc;

use raddle_chare::{Array, Chares, Cx, NodeGroup, chare};
use raddle_runtime::model::explore::{beside, explore_some};
use raddle_sync::prim::{AtomicBool, SeqCst, yield_now};

/// Hears numbered messages, one at a time.
struct Registrar {
    heard: [u32; 4],
    is_busy: Arc<AtomicBool>,
}

#[chare]
impl Registrar {
    #[entry]
    fn hear(&mut self, from: usize, number: u32) {
        assert!(!self.is_busy.swap(true, SeqCst), "two at a time");
        assert_eq!(self.heard[from], number, "from {from}");
        yield_now();
        self.heard[from] += 1;
        assert!(self.is_busy.swap(false, SeqCst));
    }

    #[entry]
    fn heard(&self) -> [u32; 4] {
        self.heard
    }

    #[message]
    fn paper(number: u32);

    /// Waits for so many papers, in order.
    #[entry]
    async fn sign(&mut self, cx: &mut Cx<Self>, count: u32) -> [u32; 4] {
        for number in 0..count {
            cx.next_where(Self::paper, |&paper| paper == number).await;
        }
        self.heard
    }

    #[entry]
    fn close(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
}

/// Sends to the registrar.
struct Citizen;

#[chare]
impl Citizen {
    #[entry]
    fn tell(&self, cx: &mut Cx<Self>, node: NodeGroup<Registrar>, number: u32, left: u32) {
        node.here().hear(cx.index(), number);
        if left > 1 {
            cx.this().tell(node, number + 1, left - 1);
        }
    }
}

fn citizens(runtime: &raddle_runtime::Runtime) -> (Array<Citizen>, NodeGroup<Registrar>) {
    let node = runtime.node_group(|_| Registrar {
        heard: [0; 4],
        is_busy: Arc::default(),
    });
    (runtime.array(3, |_| Citizen), node)
}

#[test]
fn everybody_is_heard_in_order_one_at_a_time() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
        let (citizens, node) = citizens(&runtime);
        let outside = move || {
            for number in 0..3 {
                node.here().hear(3, number);
            }
        };
        beside(outside, || citizens.all().tell(node, 0, 3));
        runtime.quiescence().wait();
        assert_eq!(node.here().heard().wait(), [3; 4]);
    });
}

#[test]
fn what_comes_while_an_entry_waits_is_heard_after_it() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
        let (citizens, node) = citizens(&runtime);
        let signed = node.here().sign(2);
        let hand_in = move || {
            node.here().paper(1);
            node.here().paper(0);
        };
        beside(hand_in, || citizens.all().tell(node, 0, 2));
        assert_eq!(signed.wait(), [0; 4]);
        runtime.quiescence().wait();
        assert_eq!(node.here().heard().wait(), [2, 2, 2, 0]);
    });
}

#[test]
fn who_asks_one_that_has_ended_is_told() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
        let (_, node) = citizens(&runtime);
        let ask = move || node.here().heard().try_wait().is_ok();
        let here = || {
            node.here().close();
            node.here().heard().try_wait().is_ok()
        };
        let (_, after) = beside(ask, here);
        assert!(!after, "it had ended");
        runtime.quiescence().wait();
    });
}
