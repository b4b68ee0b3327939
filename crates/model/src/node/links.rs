//! Handlers and links as separate queues in which a waiting renderer sends no requests. The single
//! open queue of the study ignores both.

use crate::units::{Nanoseconds, Rate};

/// The number of bisection steps in the search for the cycle.
const HALVINGS: u32 = 100;
/// The shortest time of a miss, however much work overlaps it.
const MISS_MIN: Nanoseconds = Nanoseconds(1.0);

/// The latencies and service times of a miss on its way to the home and back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Links {
    /// The number of nodes, `N_n`.
    pub nodes: u32,
    /// The transfer time of a request's bytes.
    pub request: Nanoseconds,
    /// The transfer time of a response's bytes.
    pub response: Nanoseconds,
    /// The latency of a miss, there and back, without transfer times and without the work of
    /// handlers and renderers.
    pub latency: Nanoseconds,
    /// The work of handlers and renderers that overlaps the miss.
    pub hidden: Nanoseconds,
    /// The part of a handler's work for a miss that belongs to the answer.
    pub answer_share: f64,
    /// The part of a handler's work with an exponentially distributed time. The rest takes a
    /// constant time.
    pub random_share: f64,
}

impl Links {
    /// Returns the cycle of each of `renderers` renderers of a node.
    ///
    /// `render` is the time that a renderer works per miss and `handle` that of the handler, both
    /// at their mean speeds.
    pub(super) fn cycle(
        &self,
        renderers: f64,
        render: Nanoseconds,
        handle: Nanoseconds,
    ) -> Nanoseconds {
        let bytes = self.request + self.response;
        let least = handle.max(bytes) * renderers;
        // A candidate is too short if work and miss together take longer than it. A shorter cycle
        // means more misses and longer waits, so the condition is monotonic and bisection applies.
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

    /// Returns the time of a miss when misses arrive at a handler at the rate `misses`.
    fn miss(&self, renderers: f64, misses: Rate, handle: Nanoseconds) -> Nanoseconds {
        // A request does not meet requests of its own renderer (arrival theorem). It meets those of
        // the other renderers of its node and those of all other renderers that may ask the home.
        let neighbours = (renderers - 1.0) / renderers;
        let askers = (f64::from(self.nodes) - 1.0) * renderers;
        let others = (askers - 1.0) / askers;
        let answer = handle * self.answer_share;
        let ask = handle - answer;
        // The mean wait at a server (Pollaczek, Khinchine). `spread` is the mean square of the
        // service times over the square of their mean.
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
        // The request passes its node's link out, the home's link in and the home's handler. The
        // answer passes the home's link out, its own node's link in and that node's handler.
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
