//! Messages to elements that do not migrate: no message is lost or duplicated, and the messages of
//! each sender keep their order.

use raddle_chare::{Array, Chares, Cx, chare};
use raddle_runtime::model::explore::{beside, explore_some};

/// Receives numbered messages.
struct Hearer {
    received: Vec<u32>,
}

#[chare]
impl Hearer {
    #[entry]
    fn receive(&mut self, from: usize, number: u32) {
        assert_eq!(self.received[from], number, "from {from}");
        self.received[from] += 1;
    }

    #[entry]
    fn tell(&mut self, cx: &mut Cx<Self>) {
        let (array, index) = (cx.array(), cx.index());
        for number in 0..2 {
            for other in 0..3 {
                array.at(other).receive(index, number);
            }
        }
    }

    /// Creates an array, and makes other elements send to it immediately.
    #[entry]
    fn make(&mut self, cx: &mut Cx<Self>) -> Array<Self> {
        let made = cx.runtime().array(3, |_| Hearer {
            received: vec![0; 3],
        });
        cx.all().greet(made);
        made
    }

    #[entry]
    fn greet(&mut self, cx: &mut Cx<Self>, made: Array<Self>) {
        for other in 0..3 {
            made.at(other).receive(cx.index(), 0);
        }
        made.all().receive(cx.index(), 1);
    }

    #[entry]
    fn received(&self) -> Vec<u32> {
        self.received.clone()
    }
}

#[test]
fn messages_of_elements_and_threads_arrive_in_order() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let array = runtime.array(3, |_| Hearer {
            received: vec![0; 5],
        });
        let thread = move |from| {
            for number in 0..2 {
                array.at(1).receive(from, number);
                array.at(2).receive(from, number);
            }
        };
        let here = || {
            array.all().tell();
            thread(3);
        };
        beside(move || thread(4), here);
        runtime.quiescence().wait();
        assert_eq!(array.at(0).received().wait(), [2, 2, 2, 0, 0]);
        assert_eq!(array.at(1).received().wait(), [2; 5]);
    });
}

#[test]
fn elements_receive_messages_sent_before_their_creation() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let array = runtime.array(3, |_| Hearer {
            received: Vec::new(),
        });
        let made = array.at(1).make().wait();
        runtime.quiescence().wait();
        for index in 0..3 {
            assert_eq!(made.at(index).received().wait(), [2; 3]);
        }
    });
}
