//! Handlers and links as queues of their own, with those who wait asking nothing: what the study's one open queue leaves out.

use crate::units::{Nanoseconds, Rate};

/// The cycle is looked for by so many halvings.
const HALVINGS: u32 = 100;
/// A miss takes no less, however much is done meanwhile.
const MISS_MIN: Nanoseconds = Nanoseconds(1.0);

/// What a miss meets on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Links {
    /// Nodes, `N_n`.
    pub nodes: u32,
    /// A request's bytes on the wire, as the time that they take.
    pub request: Nanoseconds,
    /// A response's.
    pub response: Nanoseconds,
    /// What a miss takes on its way there and back, without bytes and without what handlers and renderers do.
    pub latency: Nanoseconds,
    /// What they do while it is on its way, or when it is there.
    pub hidden: Nanoseconds,
    /// Which part of a handler's work for a miss is the answer's.
    pub answer_share: f64,
    /// Which part of it takes a random time, exponentially; the rest takes always as long.
    pub random_share: f64,
}

impl Links {
    /// The cycle of each of so many renderers on a node, who render for so long at their speed, with a handler that takes so long at its own.
    pub(super) fn cycle(
        &self,
        renderers: f64,
        render: Nanoseconds,
        handle: Nanoseconds,
    ) -> Nanoseconds {
        let bytes = self.request + self.response;
        let least = handle.max(bytes) * renderers;
        // A cycle that is shorter than what it takes is too short; what it takes grows as cycles become shorter.
        let is_too_short = |cycle: f64| {
            let misses = Rate(renderers / cycle);
            (render + self.miss(renderers, misses, handle)).0 > cycle
        };
        let (mut low, mut high) = (least.0, 2.0 * least.max(render + self.latency).0);
        while is_too_short(high) {
            high *= 2.0;
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if is_too_short(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Nanoseconds(high)
    }

    /// How long a miss takes, while so many come to a handler.
    fn miss(&self, renderers: f64, misses: Rate, handle: Nanoseconds) -> Nanoseconds {
        // Who asks does not meet himself: of his node's renderers he meets the neighbours, of those who may ask a home all others.
        let neighbours = (renderers - 1.0) / renderers;
        let askers = (f64::from(self.nodes) - 1.0) * renderers;
        let others = (askers - 1.0) / askers;
        let answer = handle * self.answer_share;
        let ask = handle - answer;
        // What is met of one server by who comes to it (Pollaczek, Khinchine): `spread` is the mean square of service times over the square of their mean.
        let wait = |[one, other]: [(Nanoseconds, f64); 2], spread: f64| {
            let load = misses * (one.0 * one.1 + other.0 * other.1);
            let square = one.0.0.powi(2) * one.1 + other.0.0.powi(2) * other.1;
            let left = (1.0 - load).max(f64::MIN_POSITIVE);
            Nanoseconds(0.5 * misses.0 * square * spread / left)
        };
        let at_handler = |asks, answers| {
            let spread = 1.0 + self.random_share.powi(2);
            wait([(ask, asks), (answer, answers)], spread)
        };
        let at_link =
            |requests, responses| wait([(self.request, requests), (self.response, responses)], 1.0);
        // The request leaves its node and comes to the home and its handler; the answer leaves that and comes to the own node and its handler.
        let waits = [
            at_link(neighbours, 1.0),
            at_link(others, 1.0),
            at_handler(others, 1.0),
            at_link(1.0, others),
            at_link(1.0, neighbours),
            at_handler(1.0, neighbours),
        ];
        let waited: Nanoseconds = waits.into_iter().sum();
        let all = self.latency + self.request + self.response + handle + waited;
        (all - self.hidden).max(MISS_MIN)
    }
}
