//! The options that `raddle predict` and `raddle simulate` share.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use raddle_model::misses::BrickLaw;
use raddle_model::node::Waits;
use raddle_model::study::Question;
use raddle_model::tracer::{Answers, Delay, QueueModel, Scenario, Sends, Slower};

use super::values;
use crate::error::CliError;

/// The options that describe the machine.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "The machine")]
pub(crate) struct MachineArguments {
    /// Parameters of the machine and the program: a TOML file, or a built-in machine (parker-2013
    /// or zen4-shm) [default: parker-2013]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(env = "RADDLE_PARAMETERS", hide_env_values = true)]
    pub(crate) parameters: Option<PathBuf>,
    /// Change a parameter, such as network.wire_ns=500; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// The options that describe a run of the ray tracer.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "The program")]
pub(crate) struct ScenarioArguments {
    /// Number of worker nodes
    #[arg(long, value_name = "N", default_value_t = 32)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) nodes: u32,
    /// Number of renderers on each node; together with the handler, at most one for each context
    /// (hardware thread) of a core
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_023))]
    pub(crate) renderers: u32,
    /// Add a time to a step: wire, send, receive, notification, wake, sleep, or system, which means
    /// send, receive and notification; several times for one step add up
    #[arg(long, value_name = "STEP=TIME", value_delimiter = ',')]
    pub(crate) slower: Vec<SlowerStep>,
    /// Elements along the edge of a brick [default: from the parameters, 12]
    #[arg(long, value_name = "EDGE", value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub(crate) brick: Option<u32>,
    /// Growth of the number of misses as --brick makes bricks smaller: as the study expects, at
    /// worst and at best (expected, also called study; worst; best), or by the ratio of the faces
    /// or volumes of the bricks
    #[arg(
        long,
        value_name = "LAW",
        default_value = "expected",
        ignore_case = true
    )]
    #[arg(value_parser = laws())]
    pub(crate) misses: BrickLaw,
    /// Receiver of the answers: the handler, or the renderer itself, which then does all the work
    /// of the handler (careful) or only the necessary part (bold)
    #[arg(
        long,
        value_name = "WHERE",
        default_value = "handler",
        ignore_case = true
    )]
    #[arg(value_parser = answers())]
    pub(crate) answers: Answers,
    /// Messages that are sent inline instead of by descriptors: nothing, requests, or all; a number
    /// above 0 and up to 1, such as 0.25, means all, with this share of the loads and stores
    #[arg(long, value_name = "WHAT", default_value = "nothing", value_parser = inline)]
    pub(crate) inline: Sends,
    /// Threads that poll instead of being notified: none (notified), the handler (handler-polls) or
    /// all (all-poll)
    #[arg(
        long,
        value_name = "THREADS",
        default_value = "notified",
        ignore_case = true
    )]
    #[arg(value_parser = waits())]
    pub(crate) waits: Waits,
    /// Queues in which messages wait in the prediction: one open queue at each handler, as in the
    /// study, or separate queues at handlers and links
    #[arg(
        long,
        value_name = "MODEL",
        default_value = "study",
        ignore_case = true
    )]
    #[arg(value_parser = queues())]
    pub(crate) queues: QueueModel,
}

impl ScenarioArguments {
    /// Returns the scenario of a single prediction or simulation.
    ///
    /// # Errors
    /// [`CliError::WrongCall`] for `--misses` without `--brick`, which has no effect.
    pub(crate) fn one_scenario(&self) -> Result<Scenario, CliError> {
        self.check_misses("--brick as well")?;
        Ok(self.scenario())
    }

    /// Returns the scenario from which figures start.
    ///
    /// # Errors
    /// [`CliError::WrongCall`] for `--misses` without `--brick`, if no figure varies the size of
    /// bricks by that law.
    pub(crate) fn base_scenario(&self, questions: &[Question]) -> Result<Scenario, CliError> {
        // The other figures about bricks each have a law of their own.
        let by_law = [Question::Direct, Question::DirectBricks, Question::Combined];
        if !questions.iter().any(|question| by_law.contains(question)) {
            let names = by_law.map(Question::name).join(", ");
            self.check_misses(&format!("--brick as well, or one of the figures {names}"))?;
        }
        Ok(self.scenario())
    }

    /// Refuses `--misses` if it has no effect because bricks have their usual size.
    fn check_misses(&self, expected: &str) -> Result<(), CliError> {
        if self.brick.is_some() || self.misses == BrickLaw::default() {
            return Ok(());
        }
        Err(CliError::WrongCall {
            options: format!("--misses {}", self.misses.name()),
            reason: format!(
                "it has an effect only if bricks change their size; expected {expected}"
            ),
        })
    }

    fn scenario(&self) -> Scenario {
        let mut scenario = Scenario::new(self.nodes, self.renderers);
        scenario.slower = self
            .slower
            .iter()
            .fold(Slower::default(), |sum, step| sum + step.0);
        scenario.brick_edge = self.brick;
        scenario.brick_law = self.misses;
        scenario.answers = self.answers;
        scenario.sends = self.inline;
        scenario.waits = self.waits;
        scenario.queues = self.queues;
        scenario
    }
}

/// A step that takes longer: `wire=1us`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SlowerStep(Slower);

impl FromStr for SlowerStep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            let names = Delay::ALL.map(Delay::name).join(", ");
            format!("expected a step and a time, such as wire=1us; steps are {names}")
        };
        let (name, time) = text.split_once('=').ok_or_else(expected)?;
        let is_it = |delay: &Delay| delay.name().eq_ignore_ascii_case(name.trim());
        let delay = Delay::ALL.into_iter().find(is_it).ok_or_else(expected)?;
        Ok(Self(Slower::by(delay, values::small_time(time)?)))
    }
}

fn laws() -> impl TypedValueParser<Value = BrickLaw> {
    let names = BrickLaw::ALL.map(|law| match law {
        BrickLaw::Expected => PossibleValue::new(law.name()).alias("study"),
        law => PossibleValue::new(law.name()),
    });
    PossibleValuesParser::new(names).try_map(|text| {
        let is_it = |law: &BrickLaw| law.name().eq_ignore_ascii_case(&text);
        let found = BrickLaw::ALL.into_iter().find(is_it);
        let study = text.eq_ignore_ascii_case("study");
        found
            .or(study.then_some(BrickLaw::Expected))
            .ok_or("no such name")
    })
}

fn answers() -> impl TypedValueParser<Value = Answers> {
    one_of(Answers::ALL, Answers::name)
}

fn waits() -> impl TypedValueParser<Value = Waits> {
    one_of(Waits::ALL, Waits::name)
}

fn queues() -> impl TypedValueParser<Value = QueueModel> {
    one_of(QueueModel::ALL, QueueModel::name)
}

/// Returns a parser that accepts the names of `all`.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.map(name)).try_map(move |text| {
        let found = all
            .into_iter()
            .find(|&one| name(one).eq_ignore_ascii_case(&text));
        found.ok_or("no such name")
    })
}

fn inline(text: &str) -> Result<Sends, String> {
    match text.to_ascii_lowercase().as_str() {
        "nothing" => Ok(Sends::Descriptors),
        "requests" => Ok(Sends::InlineRequests),
        "all" => Ok(Sends::Inline { share: 1.0 }),
        share => {
            let share = share
                .parse()
                .ok()
                .filter(|share| *share > 0.0 && *share <= 1.0);
            let share =
                share.ok_or("expected nothing, requests, all, or a share above 0, up to 1")?;
            Ok(Sends::Inline { share })
        }
    }
}
