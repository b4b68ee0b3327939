//! `raddle predict` and `raddle simulate` on the command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use raddle_model::misses::BrickLaw;
use raddle_model::node::Waits;
use raddle_model::simulate::pingpong::BYTES_MAX;
use raddle_model::simulate::tracer::Work;
use raddle_model::study::Question;
use raddle_model::tracer::{Answers, Delay, QueueModel, Scenario, Sends, Slower};
use raddle_model::units::Nanoseconds;
use raddle_topology::Affinity;

use super::nodes::ReceiveChoice;
use super::options::{Options, OutputOptions, WorkerOptions};
use super::values;
use crate::error::CliError;

pub(crate) const PREDICT_EXAMPLES: &str = "\
Examples:
  raddle predict --nodes 32 --renderers 3
  raddle predict --nodes 256 --slower notification=2us --brick 7 --answers bold --json
  raddle predict --figure wire,notification
  raddle predict --figure all --svg figures
  raddle predict --show-parameters > mine.toml
  raddle predict --parameters mine.toml --set network.wire_ns=1000 --figure scaling
  raddle predict --calibrate -o here.toml

The program is a ray tracer on several nodes. Renderers compute until they need a brick of data that
another node has. They request the brick and wait for it. A handler on each node answers the
requests of other nodes. The time of a frame follows from a queueing model of a machine. By default,
this is the simulated machine of the study (Parker: Efficient user-level event notification, 2013).
Your parameters can describe any other machine.

--figure answers the questions of chapter 8 of the study, starting from the given nodes, renderers
and other options. It accepts a name, or the number of a figure: imbalance (51), speeds (52),
renderers (53), states (54), threads (55), nodes (56), scaling (57), wire (58), send (59), receive
(60), notification (61), system (62), wake (63), polling, inline, overheads (64), bricks (65),
bricks-worst (66), brick-laws (67), direct (68), direct-bricks (69), combined (70), or all.

--calibrate measures this machine: the time of the steps of a message, as raddle pingpong --nodes 2
--overheads does, and the speed of threads that share a core. It does not measure the program, the
speed of the core relative to that of the study, the cache and translations, so their parameters do
not change.";

pub(crate) const SIMULATE_EXAMPLES: &str = "\
Examples:
  raddle simulate pingpong
  raddle simulate symmetric --nodes 8 --computing 3 --compute 5us
  raddle simulate tracer --nodes 32 --renderers 3 --trace tracer.json
  raddle simulate tracer --nodes 512 --renderers 7 --frames 2 --seed 7 --json

The same seed gives the same run, to the last event. The file of --trace shows the activity of each
thread and link, and messages as arrows. Open it in https://ui.perfetto.dev or chrome://tracing.";

const PINGPONG_EXAMPLES: &str = "\
Examples:
  raddle simulate pingpong --receive all --trips 10000
  raddle simulate pingpong --bytes 3456 --trips 1 --trace pingpong.json";

const SYMMETRIC_EXAMPLES: &str = "\
Examples:
  raddle simulate symmetric
  raddle simulate symmetric --nodes 16 --computing 7 --compute 500ns --receive poll --json";

const TRACER_EXAMPLES: &str = "\
Examples:
  raddle simulate tracer
  raddle simulate tracer --nodes 64 --brick 7 --answers bold --frames 4
  raddle simulate tracer --nodes 8 --set system.away=0.1 --no-injection

The output compares the simulated values with those of raddle predict.";

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
    /// Growth of the number of misses as --brick makes bricks smaller
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

/// `raddle predict`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PredictArguments {
    /// Answer questions of the study instead (see below): names or numbers of figures, separated by
    /// commas, or all
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    #[arg(value_parser = FigureChoice::from_str)]
    pub(crate) figure: Vec<FigureChoice>,
    /// Draw the answers as pictures into this folder
    #[arg(long, value_name = "FOLDER", requires = "figure", value_hint = ValueHint::DirPath)]
    pub(crate) svg: Option<PathBuf>,
    /// Print the parameters in the format that --parameters reads
    #[arg(long, conflicts_with = "figure", conflicts_with_all = SCENARIO)]
    pub(crate) show_parameters: bool,
    /// Measure this machine first, and use the results as parameters
    #[arg(long)]
    pub(crate) calibrate: bool,
    /// Read the measurements from the output of `raddle pingpong --nodes 2 --overheads --json`
    #[arg(long, value_name = "FILE", conflicts_with = "calibrate")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) calibrate_from: Option<PathBuf>,
    /// Write the parameters to this file, in the format that --parameters reads
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// With --calibrate: CPUs on which to measure, such as 0,2 [default: auto]
    #[arg(long, value_name = "WHERE", requires = "calibrate")]
    pub(crate) affinity: Option<Affinity>,
    /// With --calibrate: print the CPUs on which it measures, and the reason
    #[arg(long, requires = "calibrate")]
    pub(crate) show_binding: bool,
    #[command(flatten)]
    pub(crate) scenario: ScenarioArguments,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
    #[command(flatten)]
    pub(crate) output_options: OutputOptions,
}

/// The options that describe a scenario.
const SCENARIO: [&str; 9] = [
    "nodes",
    "renderers",
    "slower",
    "brick",
    "misses",
    "answers",
    "inline",
    "waits",
    "queues",
];

impl PredictArguments {
    /// Returns the options for the measurement and for the output.
    pub(crate) fn options(&self) -> Options {
        let runtime = WorkerOptions {
            affinity: self.affinity.clone(),
            ..WorkerOptions::default()
        };
        Options {
            runtime,
            show_binding: self.show_binding,
            ..self.output_options.options()
        }
    }

    /// Returns the selected questions, each once, in the order of the study.
    pub(crate) fn questions(&self) -> Vec<Question> {
        let all = self.figure.contains(&FigureChoice::All);
        let is_asked =
            |&question: &Question| all || self.figure.contains(&FigureChoice::One(question));
        Question::ALL.into_iter().filter(is_asked).collect()
    }
}

/// A question of the study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FigureChoice {
    All,
    One(Question),
}

impl FromStr for FigureChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.to_ascii_lowercase();
        if name == "all" {
            return Ok(Self::All);
        }
        Question::named(&name).map(Self::One).ok_or_else(|| {
            let names: Vec<_> = Question::ALL
                .iter()
                .map(|question| question.name())
                .collect();
            format!(
                "expected a number from 50 to 70, all, or one of {}",
                names.join(", ")
            )
        })
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
    one_of(BrickLaw::ALL, BrickLaw::name)
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

fn works() -> impl TypedValueParser<Value = Work> {
    one_of(Work::ALL, Work::name)
}

/// Returns a parser that accepts the names of `all`.
fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
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

/// `raddle simulate`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SimulateArguments {
    /// The program on the simulated nodes.
    #[command(subcommand)]
    pub(crate) program: SimulatedProgram,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// The programs for simulated nodes.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum SimulatedProgram {
    /// Send a message there and back, with three ways to receive it
    #[command(after_help = PINGPONG_EXAMPLES)]
    Pingpong(PingpongProgram),
    /// Let all nodes compute, send requests and answer them
    #[command(after_help = SYMMETRIC_EXAMPLES)]
    Symmetric(SymmetricProgram),
    /// Render frames with the distributed ray tracer
    #[command(after_help = TRACER_EXAMPLES)]
    Tracer(TracerProgram),
}

/// The options that all simulations share.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArguments {
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Speeds of threads that share a core [default: measured for pingpong and symmetric, fitted
    /// for tracer, unless a parameter file or --set changes the curve]
    #[arg(long, value_enum, value_name = "CURVE")]
    pub(crate) speeds: Option<SpeedsChoice>,
    /// Write a timeline of the run to this file, for Perfetto or Chrome
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) trace: Option<PathBuf>,
    /// Largest number of events in the timeline, such as 1e6
    #[arg(long, value_name = "N", default_value = "1e6", requires = "trace")]
    #[arg(value_parser = values::round_count)]
    pub(crate) trace_events: u64,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
}

/// The source of the speed of threads that share a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SpeedsChoice {
    /// The values that were measured
    Measured,
    /// The curve that was fitted to these values
    Fitted,
}

/// `raddle simulate pingpong`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PingpongProgram {
    /// Way in which messages are received
    #[arg(long, value_enum, value_name = "HOW", default_value = "all")]
    pub(crate) receive: ReceiveChoice,
    /// Number of round trips
    #[arg(long, value_name = "N", default_value = "10000", value_parser = values::round_count)]
    pub(crate) trips: u64,
    /// Bytes of data in a message
    #[arg(long, value_name = "B", visible_alias = "size", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=i64::from(BYTES_MAX)))]
    pub(crate) bytes: u32,
    /// Send messages inline instead of by descriptors
    #[arg(long)]
    pub(crate) inline: bool,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

/// `raddle simulate symmetric`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SymmetricProgram {
    /// Number of nodes
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub(crate) nodes: u32,
    /// Number of threads that compute on each node; together with the handler, at most one for each
    /// context (hardware thread) of a core
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_023))]
    pub(crate) computing: u32,
    /// Mean time for which a thread computes before it sends a request, as if it were alone on its
    /// core, such as 500ns or 10us
    #[arg(long, value_name = "TIME", default_value = "10us", value_parser = values::small_time)]
    pub(crate) compute: Nanoseconds,
    /// Way in which handlers receive messages
    #[arg(long, value_enum, value_name = "HOW", default_value = "all")]
    pub(crate) receive: HandlerReceive,
    /// Number of requests of each thread
    #[arg(long, value_name = "N", default_value = "1000", value_parser = values::round_count)]
    pub(crate) rounds: u64,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

/// The ways in which handlers receive messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HandlerReceive {
    /// Poll for messages
    Poll,
    /// Sleep until a message arrives
    Notify,
    /// All ways, one after the other
    All,
}

/// `raddle simulate tracer`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TracerProgram {
    /// Number of frames
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) frames: u32,
    /// Distribution of the work around its mean
    #[arg(
        long,
        value_name = "HOW",
        default_value = "exponential",
        ignore_case = true
    )]
    #[arg(value_parser = works())]
    pub(crate) work: Work,
    /// Leave arriving data in memory instead of injecting it into the cache
    #[arg(long)]
    pub(crate) no_injection: bool,
    /// Let each renderer begin the next frame without waiting for the others; the run ends when the
    /// first renderer has finished
    #[arg(long)]
    pub(crate) steady: bool,
    #[command(flatten)]
    pub(crate) run: RunArguments,
    #[command(flatten)]
    pub(crate) scenario: ScenarioArguments,
}
