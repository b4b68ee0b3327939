//! The symmetrical kernel: each node computes, asks another node, waits for its answer, and answers
//! the requests of others.
//!
//! Each node has threads that compute and one that handles messages, which polls or is notified.
//! The study's section 4.5 compares the costs of both ways.
//!
//! # Source
//! Parker 2013, section 4.5.

use rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, StandardUniform};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use super::timeline::Timeline;
use super::{
    Client, Counts, Layout, Message, Moment, Note, Resumed, Simulation, Step, Thread, Way,
};
use crate::error::{DomainError, ModelError, above_zero};
use crate::parameters::Parameters;
use crate::units::Nanoseconds;

/// The bit in a tag that marks an answer. The lower bits are the number of the asking thread.
const ANSWER: u64 = 1 << 32;

/// A run of the symmetrical kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Symmetric {
    /// The number of nodes, at least 2.
    pub nodes: u32,
    /// The number of computing threads on each node, at least 1.
    pub computing: u32,
    /// The mean work of a thread before each request.
    pub compute: Nanoseconds,
    /// The way in which the handler waits.
    pub way: Way,
    /// The number of requests of each thread.
    pub rounds: u32,
    /// The seed of the random numbers.
    pub seed: u64,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Found {
    /// The mean time from the start of the call that asks until the answer has been received.
    #[serde(rename = "round_trip_ns")]
    pub round_trip: Nanoseconds,
    /// The mean time from one request of a thread to its next.
    #[serde(rename = "cycle_ns")]
    pub cycle: Nanoseconds,
    /// The speed of threads while they compute, relative to one thread alone.
    pub speed: f64,
    /// The share of time in which handlers are active.
    pub handler_share: f64,
    /// The event counters.
    #[serde(skip)]
    pub counts: Counts,
}

impl Symmetric {
    /// Creates a run with `computing` threads on each node and a handler that is notified.
    #[must_use]
    pub const fn new(nodes: u32, computing: u32, compute: Nanoseconds) -> Self {
        Self {
            nodes,
            computing,
            compute,
            way: Way::Notify,
            rounds: 1_000,
            seed: 1,
        }
    }

    /// Simulates the run. `progress` receives the completed share.
    ///
    /// # Errors
    /// [`ModelError`] if a parameter or a number is outside its range.
    pub fn run<T: Timeline>(
        self,
        parameters: &Parameters,
        timeline: T,
        mut progress: impl FnMut(f64),
    ) -> Result<(Found, T), ModelError> {
        above_zero("rounds", f64::from(self.rounds))?;
        above_zero("compute", self.compute.0)?;
        above_zero("computing threads", f64::from(self.computing))?;
        if self.nodes < 2 {
            let expected = "2 or more, so that there is another node to ask";
            return Err(DomainError::new("nodes", f64::from(self.nodes), expected).into());
        }
        let layout = Layout::checked(self.nodes, self.computing.saturating_add(1), parameters)?;
        let threads = self.nodes as usize * self.computing as usize;
        let all = threads as f64 * f64::from(self.rounds);
        let client = Nodes {
            what: self,
            wire_bytes: parameters.packets().wire_bytes(0) as u32,
            random: Xoshiro256PlusPlus::seed_from_u64(self.seed),
            left: vec![self.rounds; threads],
            began: vec![(Moment::START, Moment::START); threads],
            over: 0,
            answered: 0,
            waited: Nanoseconds::ZERO,
            computed: Nanoseconds::ZERO,
            computing: Nanoseconds::ZERO,
        };
        let mut simulation = Simulation::new(parameters, layout, client, timeline)?;
        simulation.finish(|client| progress(client.answered as f64 / all))?;
        let time = simulation.now().nanoseconds();
        let (client, counts, timeline) = simulation.into_parts();
        let handled: Nanoseconds = counts.with_handler.iter().copied().sum();
        let found = Found {
            round_trip: client.waited / all,
            cycle: (client.waited + client.computing) / all,
            speed: client.computed / client.computing,
            handler_share: handled / (time * f64::from(self.nodes)),
            counts,
        };
        Ok((found, timeline))
    }
}

/// The program of all nodes.
struct Nodes {
    what: Symmetric,
    wire_bytes: u32,
    random: Xoshiro256PlusPlus,
    /// The number of remaining requests of each thread.
    left: Vec<u32>,
    /// The moments at which each thread last began to compute, and to ask.
    began: Vec<(Moment, Moment)>,
    over: usize,
    answered: u64,
    waited: Nanoseconds,
    /// The work of all computations, alone on a core, and the time that they took.
    computed: Nanoseconds,
    computing: Nanoseconds,
}

impl Nodes {
    fn place(&self, thread: Thread) -> usize {
        (thread.node * self.what.computing + thread.number) as usize
    }

    fn message(&self, node: u32, tag: u64) -> Step {
        Step::Send(Message {
            node,
            connection: self.what.computing,
            wire_bytes: self.wire_bytes,
            rings: self.what.way == Way::Notify,
            hints_cache: true,
            tag,
            ..Message::default()
        })
    }

    /// Returns a random other node.
    fn another(&mut self, node: u32) -> u32 {
        let share: f64 = StandardUniform.sample(&mut self.random);
        let other = (share * f64::from(self.what.nodes - 1)) as u32;
        if other >= node { other + 1 } else { other }
    }

    fn compute(&mut self, thread: Thread, now: Moment) -> Step {
        let place = self.place(thread);
        if self.left[place] == 0 {
            self.over += 1;
            return Step::Stop;
        }
        self.left[place] -= 1;
        self.began[place].0 = now;
        let share: f64 = Exp1.sample(&mut self.random);
        let work = self.what.compute * share;
        self.computed += work;
        Step::Compute(work)
    }

    fn asker(&mut self, thread: Thread, resumed: Resumed, now: Moment) -> Step {
        let place = self.place(thread);
        match resumed {
            Resumed::Begun => self.compute(thread, now),
            Resumed::Computed => {
                self.began[place].1 = now;
                self.computing += now.since(self.began[place].0).nanoseconds();
                let to = self.another(thread.node);
                self.message(to, u64::from(thread.number))
            }
            Resumed::Sent => Step::Sleep,
            Resumed::Woken => {
                self.waited += now.since(self.began[place].1).nanoseconds();
                self.answered += 1;
                self.compute(thread, now)
            }
            _ => Step::Stop,
        }
    }

    fn handler(&self, resumed: Resumed) -> Step {
        match resumed {
            Resumed::Received(Note { tag, .. }) if tag >= ANSWER => {
                Step::Wake((tag - ANSWER) as u32)
            }
            Resumed::Received(note) => self.message(note.from.node, ANSWER + note.tag),
            _ => Step::Receive(self.what.way),
        }
    }
}

impl Client for Nodes {
    fn step(&mut self, thread: Thread, resumed: Resumed, now: Moment) -> Step {
        match thread.number < self.what.computing {
            true => self.asker(thread, resumed, now),
            false => self.handler(resumed),
        }
    }

    fn handler(&self) -> Option<u32> {
        Some(self.what.computing)
    }

    fn is_over(&self) -> bool {
        self.over == self.left.len()
    }
}
