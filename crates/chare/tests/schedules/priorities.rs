//! Messages with priorities: those of one sender and one priority keep their order, also to elements that move; none is lost.

use raddle_chare::{Array, ArrayOptions, Chares, Cx, chare};
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
        speak(cx.array(), cx.index(), to);
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

fn speak(listeners: Array<Listener>, from: usize, to: usize) {
    for number in 0..2 {
        for (rank, priority) in PRIORITIES.into_iter().enumerate() {
            let to = listeners.at(to).with_priority(priority);
            to.hear(from, rank, number);
        }
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
        beside(move || speak(listeners, 2, 0), || listeners.at(1).speak(0));
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
            speak(listeners, 2, 0);
            speak(listeners, 2, 2);
        };
        beside(outside, here);
        runtime.quiescence().wait();
        for index in [0, 2] {
            let heard = listeners.at(index).heard().wait();
            assert_eq!(heard, [[0; 3], [2; 3], [2; 3]]);
        }
    });
}
