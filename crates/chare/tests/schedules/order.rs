//! Messages to elements that stay: none is lost, none comes twice, and those of one sender keep their order.

use raddle_chare::{Array, Chares, Cx, chare};
use raddle_runtime::model::explore::{beside, explore_some};

/// Hears numbered messages.
struct Hearer {
    heard: Vec<u32>,
}

#[chare]
impl Hearer {
    #[entry]
    fn hear(&mut self, from: usize, number: u32) {
        assert_eq!(self.heard[from], number, "from {from}");
        self.heard[from] += 1;
    }

    #[entry]
    fn tell(&mut self, cx: &mut Cx<Self>) {
        let (array, index) = (cx.array(), cx.index());
        for number in 0..2 {
            for other in 0..3 {
                array.at(other).hear(index, number);
            }
        }
    }

    /// Makes an array, and has others send to it at once.
    #[entry]
    fn make(&mut self, cx: &mut Cx<Self>) -> Array<Self> {
        let made = cx.runtime().array(3, |_| Hearer { heard: vec![0; 3] });
        cx.all().greet(made);
        made
    }

    #[entry]
    fn greet(&mut self, cx: &mut Cx<Self>, made: Array<Self>) {
        for other in 0..3 {
            made.at(other).hear(cx.index(), 0);
        }
        made.all().hear(cx.index(), 1);
    }

    #[entry]
    fn heard(&self) -> Vec<u32> {
        self.heard.clone()
    }
}

#[test]
fn elements_and_threads_are_heard_in_order() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
        let array = runtime.array(3, |_| Hearer { heard: vec![0; 5] });
        let thread = move |from| {
            for number in 0..2 {
                array.at(1).hear(from, number);
                array.at(2).hear(from, number);
            }
        };
        let here = || {
            array.all().tell();
            thread(3);
        };
        beside(move || thread(4), here);
        runtime.quiescence().wait();
        assert_eq!(array.at(0).heard().wait(), [2, 2, 2, 0, 0]);
        assert_eq!(array.at(1).heard().wait(), [2; 5]);
    });
}

#[test]
fn elements_hear_those_who_know_them_before_they_are_made() {
    explore_some(96, |setting| {
        let runtime = setting.runtime();
        let array = runtime.array(3, |_| Hearer { heard: Vec::new() });
        let made = array.at(1).make().wait();
        runtime.quiescence().wait();
        for index in 0..3 {
            assert_eq!(made.at(index).heard().wait(), [2; 3]);
        }
    });
}
