//! The scenario of a prediction: the numbers of nodes and renderers, and the differences from the
//! machine and the program of the parameters.

use std::ops::Add;

use crate::error::{DomainError, from_zero};
use crate::misses::BrickLaw;
use crate::node::Waits;
use crate::units::Nanoseconds;

/// A scenario. [`Scenario::new`] is the machine and the program as they are; the fields describe
/// differences.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Scenario {
    /// The number of worker nodes, `N_n`, from 1 to 10⁶.
    pub nodes: u32,
    /// The number of renderers on each node, `N_r`. A core must have a context for each renderer
    /// and for the handler.
    pub renderers: u32,
    /// The steps that take longer.
    pub slower: Slower,
    /// The number of elements on an edge of a brick, if different from the parameters.
    pub brick_edge: Option<u32>,
    /// The growth of misses as bricks become smaller.
    pub brick_law: BrickLaw,
    /// The destination of answers.
    pub answers: Answers,
    /// The way in which messages are sent.
    pub sends: Sends,
    /// The way in which threads wait.
    pub waits: Waits,
    /// The queues in which messages wait in the model.
    pub queues: QueueModel,
}

/// The queues in which messages wait in the model (see [`crate::node`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueueModel {
    /// One open queue at each handler, as in the study.
    #[default]
    Study,
    /// A queue at each handler and each link. Mostly within 3 % of the simulator, on three or more
    /// nodes.
    Links,
}

impl QueueModel {
    /// All variants.
    pub const ALL: [Self; 2] = [Self::Study, Self::Links];

    /// Returns the name of this variant, as options and files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Study => "study",
            Self::Links => "links",
        }
    }
}

/// The additional time of each step, relative to the machine of the parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slower {
    /// The extra time of a message on the wire.
    pub wire: Nanoseconds,
    /// The extra time of a send.
    pub send: Nanoseconds,
    /// The extra time of a receive.
    pub receive: Nanoseconds,
    /// The extra time of the notification that a message has arrived. It adds to `receive`.
    pub notification: Nanoseconds,
    /// The extra time of a handler's call that wakes a renderer.
    pub wake: Nanoseconds,
    /// The extra time that a renderer takes to fall asleep, while its request is under way.
    pub sleep: Nanoseconds,
}

/// A step that can take longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Delay {
    /// A message on the wire.
    Wire,
    /// The call that sends a message.
    Send,
    /// The call that receives a message.
    Receive,
    /// The notification that a message has arrived.
    Notification,
    /// The call of a handler that wakes a renderer.
    Wake,
    /// The step in which a renderer falls asleep.
    Sleep,
    /// The operating system between program and network interface: sending, receiving and
    /// notification.
    System,
}

impl Delay {
    /// All variants.
    pub const ALL: [Self; 7] = [
        Self::Wire,
        Self::Send,
        Self::Receive,
        Self::Notification,
        Self::Wake,
        Self::Sleep,
        Self::System,
    ];

    /// Returns the name of this variant, as options and files spell it.
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
    /// Creates a delay of one step by `time`.
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

/// Adds the delays of each step.
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

/// The destination of the answer to a miss (the study's section 8.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Answers {
    /// The handler, which wakes the renderer.
    #[default]
    ToHandler,
    /// The renderer, which does all the work that the handler did.
    Careful,
    /// The renderer, which skips the lookup of facts that it knows.
    Bold,
}

impl Answers {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::ToHandler, Self::Careful, Self::Bold];

    /// Returns the name of this variant, as options and files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ToHandler => "handler",
            Self::Careful => "careful",
            Self::Bold => "bold",
        }
    }
}

/// The way in which messages are sent (the study's section 8.6).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Sends {
    /// By descriptors: the network interface fetches the bytes.
    #[default]
    Descriptors,
    /// Requests are sent inline, from registers; responses by descriptors.
    InlineRequests,
    /// Both are sent inline. Handlers load and store the bytes of responses, at a share of the
    /// core's bandwidth for loads and stores.
    Inline {
        /// The share, above 0 and up to 1.
        share: f64,
    },
}

impl Scenario {
    /// Creates the scenario without differences from the machine and the program of the parameters.
    #[must_use]
    pub fn new(nodes: u32, renderers: u32) -> Self {
        Self {
            nodes,
            renderers,
            ..Self::default()
        }
    }
}
