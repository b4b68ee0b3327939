//! What is asked: a number of nodes and renderers, and what is not as on the machine and in the program that the parameters tell of.

use std::ops::Add;

use crate::error::{DomainError, from_zero};
use crate::misses::BrickLaw;
use crate::node::Waits;
use crate::units::Nanoseconds;

/// A question. [`Scenario::new`] asks about the machine and the program as they are; fields say what is different.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Scenario {
    /// Worker nodes, `N_n`, from 1 to 10⁶.
    pub nodes: u32,
    /// Renderers on each, `N_r`; with the handler as many threads as a core has contexts, at most.
    pub renderers: u32,
    /// What takes longer.
    pub slower: Slower,
    /// Elements on an edge of a brick, if other than in the parameters.
    pub brick_edge: Option<u32>,
    /// How misses grow as bricks become smaller.
    pub brick_law: BrickLaw,
    /// Where answers go.
    pub answers: Answers,
    /// How messages are sent.
    pub sends: Sends,
    /// How threads wait.
    pub waits: Waits,
    /// What messages wait for.
    pub queues: QueueModel,
}

/// What messages wait for in the model (see [`crate::node`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueueModel {
    /// One open queue at each handler, as in the study.
    #[default]
    Study,
    /// Handlers and links, each for itself: mostly within 3 % of the simulator, on three nodes and more.
    Links,
}

impl QueueModel {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Study, Self::Links];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Study => "study",
            Self::Links => "links",
        }
    }
}

/// What each step takes longer than on the machine of the parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slower {
    /// A message on the wire.
    pub wire: Nanoseconds,
    /// A call that sends.
    pub send: Nanoseconds,
    /// A call that receives.
    pub receive: Nanoseconds,
    /// Being told that a message is there; as receiving, and added to it.
    pub notification: Nanoseconds,
    /// A handler's call that wakes a renderer.
    pub wake: Nanoseconds,
    /// A renderer's falling asleep, while its request is under way.
    pub sleep: Nanoseconds,
}

/// Something that can take longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Delay {
    /// A message on the wire.
    Wire,
    /// A call that sends.
    Send,
    /// A call that receives.
    Receive,
    /// Being told that a message is there.
    Notification,
    /// A call that wakes.
    Wake,
    /// Falling asleep.
    Sleep,
    /// The operating system, behind which the network interface is: sending, receiving and being notified.
    System,
}

impl Delay {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Wire,
        Self::Send,
        Self::Receive,
        Self::Notification,
        Self::Wake,
        Self::Sleep,
        Self::System,
    ];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Send => "send",
            Self::Receive => "receive",
            Self::Notification => "notification",
            Self::Wake => "wake",
            Self::Sleep => "sleep",
            Self::System => "system",
        }
    }
}

impl Slower {
    /// One of them, by so much.
    #[must_use]
    pub fn by(delay: Delay, time: Nanoseconds) -> Self {
        let mut slower = Self::default();
        match delay {
            Delay::Wire => slower.wire = time,
            Delay::Send => slower.send = time,
            Delay::Receive => slower.receive = time,
            Delay::Notification => slower.notification = time,
            Delay::Wake => slower.wake = time,
            Delay::Sleep => slower.sleep = time,
            Delay::System => {
                slower.send = time;
                slower.receive = time;
                slower.notification = time;
            }
        }
        slower
    }

    pub(super) fn check(&self) -> Result<(), DomainError> {
        let all = [
            ("slower wire", self.wire),
            ("slower send", self.send),
            ("slower receive", self.receive),
            ("slower notification", self.notification),
            ("slower wake", self.wake),
            ("slower sleep", self.sleep),
        ];
        all.into_iter().try_for_each(|(what, time)| {
            let checked = from_zero(what, time.0).map(drop);
            checked.map_err(DomainError::in_nanoseconds)
        })
    }
}

/// One after the other.
impl Add for Slower {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            wire: self.wire + other.wire,
            send: self.send + other.send,
            receive: self.receive + other.receive,
            notification: self.notification + other.notification,
            wake: self.wake + other.wake,
            sleep: self.sleep + other.sleep,
        }
    }
}

/// Where the answer to a miss goes (the study's section 8.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Answers {
    /// To the handler, which wakes the renderer.
    #[default]
    ToHandler,
    /// Straight to the renderer, which does all that the handler did.
    Careful,
    /// The same, and it does not look up what it knows.
    Bold,
}

impl Answers {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ToHandler, Self::Careful, Self::Bold];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ToHandler => "handler",
            Self::Careful => "careful",
            Self::Bold => "bold",
        }
    }
}

/// How messages are sent (the study's section 8.6).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Sends {
    /// By descriptors: the network interface fetches the bytes.
    #[default]
    Descriptors,
    /// Requests inline, from registers; responses by descriptors.
    InlineRequests,
    /// Both inline: handlers load and store the bytes of responses, with this share of what the core can load or store.
    Inline {
        /// Above 0, up to 1.
        share: f64,
    },
}

impl Scenario {
    /// The machine and the program as they are.
    #[must_use]
    pub fn new(nodes: u32, renderers: u32) -> Self {
        Self {
            nodes,
            renderers,
            ..Self::default()
        }
    }
}
