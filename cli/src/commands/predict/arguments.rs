//! The command line of `raddle predict`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueHint};
use raddle_model::study::Question;
use raddle_topology::Affinity;

use crate::arguments::{
    MachineArguments, Options, OutputOptions, ScenarioArguments, WorkerOptions,
};

pub(crate) const EXAMPLES: &str = "\
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
