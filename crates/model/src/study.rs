//! The questions of the study's chapter 8, which can be asked for any parameters.
//!
//! Each question is a sweep over a parameter. Its answer is one or two [`Chart`]s, which can be
//! output as tables, JSON or pictures. A chart has a line for each number of renderers, number of
//! nodes, or variant. Its notes are values that the study reads off the lines: the delay at which a
//! frame takes twice as long, the best brick, the efficiency on many nodes. Sweeps start at a
//! [`Scenario`], so all questions can also be asked for other bricks, other ways to answer, or
//! slower steps.
//!
//! # Source
//! M. A. Parker: *Efficient user-level event notification*, University of Utah, 2013, chapter 8.
//! The lines cover the ranges of its figures. Where the axes of a figure do not show a range, it
//! was chosen here.

mod ask;
mod bricks;
mod chart;
mod crossing;
mod overheads;
mod picture;
mod scaling;
mod table;
#[cfg(test)]
mod tests;

use crate::error::ModelError;
use crate::parameters::Parameters;
use crate::tracer::Scenario;

use self::ask::Asked;

pub use self::chart::{Axis, Chart, Line, Note};
pub use self::picture::PictureError;

/// A question of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Question {
    /// The speed of threads, over the number of threads that share a core (figure 52).
    Speeds,
    /// The effect of more renderers on a node (figure 53).
    Renderers,
    /// The share of time for each number of running renderers (figure 54).
    States,
    /// The effect of more renderers on a node, over the number of nodes (figure 55).
    Threads,
    /// Frames per second, over the number of nodes (figure 56).
    Nodes,
    /// Speedup and efficiency, over the number of nodes (figure 57).
    Scaling,
    /// A longer wire (figure 58).
    Wire,
    /// Slower sends (figure 59).
    Send,
    /// Slower receives (figure 60).
    Receive,
    /// Slower notifications, over the number of nodes (figure 61).
    Notification,
    /// An operating system between the program and the interface (figure 62).
    System,
    /// Slower waking and sleeping (figure 63).
    Wake,
    /// A comparison of all delays: wire, send, receive, notification, wake and the operating
    /// system; and the share of each in the gain (figure 64).
    Overheads,
    /// Bricks of other sizes, with the expected misses (figure 65).
    Bricks,
    /// Bricks of other sizes, with the most misses (figure 66).
    BricksWorst,
    /// A comparison of the three brick laws (figure 67).
    BrickLaws,
    /// Answers sent directly to the renderer, relative to the best brick with answers to the
    /// handler (figure 68).
    Direct,
    /// Answers sent directly to the renderer, over bricks (figure 69).
    DirectBricks,
    /// All improvements together (figure 70).
    Combined,
    /// Polling instead of notification (section 8.5).
    Polling,
    /// Sending inline instead of by descriptors (section 8.6).
    Inline,
    /// The time of the last of many nodes (figures 50 and 51).
    Imbalance,
}

impl Question {
    /// All questions, in the order of the study.
    pub const ALL: [Self; 22] = [
        Self::Imbalance,
        Self::Speeds,
        Self::Renderers,
        Self::States,
        Self::Threads,
        Self::Nodes,
        Self::Scaling,
        Self::Wire,
        Self::Send,
        Self::Receive,
        Self::Notification,
        Self::System,
        Self::Wake,
        Self::Polling,
        Self::Inline,
        Self::Overheads,
        Self::Bricks,
        Self::BricksWorst,
        Self::BrickLaws,
        Self::Direct,
        Self::DirectBricks,
        Self::Combined,
    ];

    /// Returns the name of this question, as in options and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Speeds => "speeds",
            Self::Renderers => "renderers",
            Self::States => "states",
            Self::Threads => "threads",
            Self::Nodes => "nodes",
            Self::Scaling => "scaling",
            Self::Wire => "wire",
            Self::Send => "send",
            Self::Receive => "receive",
            Self::Notification => "notification",
            Self::System => "system",
            Self::Wake => "wake",
            Self::Overheads => "overheads",
            Self::Bricks => "bricks",
            Self::BricksWorst => "bricks-worst",
            Self::BrickLaws => "brick-laws",
            Self::Direct => "direct",
            Self::DirectBricks => "direct-bricks",
            Self::Combined => "combined",
            Self::Polling => "polling",
            Self::Inline => "inline",
            Self::Imbalance => "imbalance",
        }
    }

    /// Returns the number of the study's figure, if there is one.
    #[must_use]
    pub const fn figure(self) -> Option<u32> {
        Some(match self {
            Self::Imbalance => 51,
            Self::Speeds => 52,
            Self::Renderers => 53,
            Self::States => 54,
            Self::Threads => 55,
            Self::Nodes => 56,
            Self::Scaling => 57,
            Self::Wire => 58,
            Self::Send => 59,
            Self::Receive => 60,
            Self::Notification => 61,
            Self::System => 62,
            Self::Wake => 63,
            Self::Overheads => 64,
            Self::Bricks => 65,
            Self::BricksWorst => 66,
            Self::BrickLaws => 67,
            Self::Direct => 68,
            Self::DirectBricks => 69,
            Self::Combined => 70,
            Self::Polling | Self::Inline => return None,
        })
    }

    /// Returns the question with this name or figure number. Figure 50 is a part of figure 51.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        let number = match name.parse() {
            Ok(50) => Some(51),
            Ok(number) if is_number => Some(number),
            _ => None,
        };
        let is_it = |question: &Self| {
            question.name() == name || (number.is_some() && question.figure() == number)
        };
        Self::ALL.into_iter().find(is_it)
    }

    /// Answers the question with sweeps that start at `base`. This takes some hundred predictions.
    ///
    /// # Errors
    /// Returns [`ModelError`] if the model does not hold for the scenario or for a part of the
    /// sweep.
    ///
    /// # Examples
    /// ```
    /// use raddle_model::study::Question;
    /// use raddle_model::{Parameters, Scenario};
    ///
    /// let charts = Question::Wire.answer(&Parameters::study(), Scenario::new(32, 3))?;
    /// let note = charts[0].note("3 renderers: a frame takes twice as long at").unwrap();
    /// assert_eq!(format!("{:.3} {}", note.value, note.unit), "13.909 µs");
    /// # Ok::<(), raddle_model::ModelError>(())
    /// ```
    pub fn answer(self, parameters: &Parameters, base: Scenario) -> Result<Vec<Chart>, ModelError> {
        let asked = Asked::new(parameters, base);
        let charts = match self {
            Self::Speeds => vec![scaling::speeds(&asked)?],
            Self::Renderers => vec![scaling::renderers(&asked)?],
            Self::States => vec![scaling::states(&asked)?],
            Self::Threads => vec![scaling::threads(&asked)?],
            Self::Nodes => vec![scaling::nodes(&asked)?],
            Self::Scaling => scaling::scaling(&asked)?,
            Self::Imbalance => scaling::imbalance(&asked)?,
            Self::Wire => vec![overheads::wire(&asked)?],
            Self::Send => vec![overheads::send(&asked)?],
            Self::Receive => vec![overheads::receive(&asked)?],
            Self::Notification => vec![overheads::notification(&asked)?],
            Self::System => vec![overheads::system(&asked)?],
            Self::Wake => overheads::wake(&asked)?,
            Self::Polling => vec![overheads::polling(&asked)?],
            Self::Inline => vec![overheads::inline(&asked)?],
            Self::Overheads => vec![overheads::all(&asked)?, overheads::shares(&asked)?],
            Self::Bricks => vec![bricks::expected(&asked)?],
            Self::BricksWorst => vec![bricks::worst(&asked)?],
            Self::BrickLaws => vec![bricks::laws(&asked)?],
            Self::Direct => vec![bricks::direct(&asked)?],
            Self::DirectBricks => vec![bricks::direct_bricks(&asked)?],
            Self::Combined => vec![bricks::combined(&asked)?],
        };
        Ok(charts
            .into_iter()
            .map(|chart| Chart {
                question: self.name(),
                figure: self.figure(),
                ..chart
            })
            .collect())
    }
}
