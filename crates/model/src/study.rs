//! The questions of the study's chapter 8, for any parameters: each a sweep, as tables, JSON or pictures.
//!
//! A [`Question`] has one [`Chart`] or two, each with a line for every renderer count, node count, or way to do things, and notes with what the study reads
//! off them: where a frame takes twice as long, which brick is best, how well many nodes scale. Sweeps begin at a [`Scenario`], so that all of
//! them can be asked of other bricks, other answers, or slower steps too.
//!
//! # Source
//! M. A. Parker: *Efficient user-level event notification*, University of Utah, 2013, chapter 8. Lines are over the ranges of its
//! figures; what the figures' axes do not say is chosen here.

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

/// What the study asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Question {
    /// How fast threads are, by how many share a core (figure 52).
    Speeds,
    /// What further renderers on a node bring (figure 53).
    Renderers,
    /// In which share of time how many threads run (figure 54).
    States,
    /// The same as `Renderers`, over nodes (figure 55).
    Threads,
    /// Frames per second over nodes (figure 56).
    Nodes,
    /// Speedup and efficiency over nodes (figure 57).
    Scaling,
    /// A longer wire (figure 58).
    Wire,
    /// Slower sends (figure 59).
    Send,
    /// Slower receives (figure 60).
    Receive,
    /// Slower notifications, over nodes (figure 61).
    Notification,
    /// An interface behind the operating system (figure 62).
    System,
    /// Slower waking and sleeping (figure 63).
    Wake,
    /// Wire, send, receive, notification, wake and the operating system beside each other, and what share of the gain is due to each (figure 64).
    Overheads,
    /// Bricks of other sizes, with the misses that are expected (figure 65).
    Bricks,
    /// The same with the most misses (figure 66).
    BricksWorst,
    /// The three laws beside each other (figure 67).
    BrickLaws,
    /// Answers straight to the renderer, against the best brick without (figure 68).
    Direct,
    /// The same over bricks (figure 69).
    DirectBricks,
    /// All that helps together (figure 70).
    Combined,
    /// Polling instead of being notified (section 8.5).
    Polling,
    /// Sending inline instead of by descriptors (section 8.6).
    Inline,
    /// How long the last of many takes (figures 50 and 51).
    Imbalance,
}

impl Question {
    /// All of them, in the order of the study.
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

    /// What it is called.
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

    /// Which of the study's figures it is, if it is one.
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

    /// The question of that name or figure; figure 50 is a part of 51.
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

    /// Answers it, beginning at a scenario. Cost: some hundred predictions.
    ///
    /// # Errors
    /// [`ModelError`] where the model does not hold for the scenario or a part of the sweep.
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
