//! The command line of `raddle dirt --characterise`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use raddle::net::bricks::Answers;

use crate::arguments::MachineArguments;
use crate::commands::dirt::DirtArguments;
use crate::error::CliError;

/// The characterisation of the program.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Characterisation")]
pub(in crate::commands) struct CharacteriseArguments {
    /// Characterise the program on this machine: count misses and measure all functions in many
    /// runs, print them beside the study's, and write the parameters for raddle predict and raddle
    /// simulate
    #[arg(long, conflicts_with_all = ["nodes", "on_demand", "profile", "trace", "stats"])]
    #[arg(conflicts_with = "view_page")]
    characterise: bool,
    /// Numbers of nodes with which misses are counted
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        requires = "characterise"
    )]
    #[arg(default_value = "32,40,48,56,64", value_parser = clap::value_parser!(u16).range(1..1024))]
    count_nodes: Vec<u16>,
    /// Numbers of renderers of each node with which misses are counted
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        requires = "characterise"
    )]
    #[arg(default_value = "1,2,3,4", value_parser = clap::value_parser!(u16).range(1..=64))]
    count_renderers: Vec<u16>,
    /// Number of runs in which misses are counted, for each number of nodes and renderers
    #[arg(long, value_name = "N", default_value_t = 3, requires = "characterise")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(super) count_runs: u16,
    /// Numbers of nodes for which the work is measured, and compared with the prediction
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        requires = "characterise"
    )]
    #[arg(default_value = "1,2,4,8", value_parser = clap::value_parser!(u16).range(1..1024))]
    pub(super) measure_nodes: Vec<u16>,
    /// Number of runs in which the work is measured, for each number of nodes. The one with the
    /// median CPU time counts
    #[arg(long, value_name = "N", default_value_t = 5, requires = "characterise")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(super) measure_runs: u16,
    /// Folder for charts (.svg) after the study's figures 39, 40 and 47
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, requires = "characterise")]
    pub(super) charts: Option<PathBuf>,
    #[command(flatten)]
    pub(super) machine: MachineArguments,
}

impl CharacteriseArguments {
    /// Returns true if the program is to be characterised.
    pub(in crate::commands::dirt) const fn is_wanted(&self) -> bool {
        self.characterise
    }

    /// Returns the numbers of nodes and renderers with which misses are counted.
    pub(super) fn counted(&self) -> impl Iterator<Item = (u16, u16)> {
        let renderers = |&nodes: &u16| {
            let all = self.count_renderers.iter();
            all.map(move |&renderers| (nodes, renderers))
        };
        self.count_nodes.iter().flat_map(renderers)
    }

    /// Returns the number of all runs.
    pub(super) fn run_count(&self) -> usize {
        let counted = self.count_nodes.len() * self.count_renderers.len();
        let measured = self.measure_nodes.len() * usize::from(self.measure_runs);
        counted * usize::from(self.count_runs) + measured
    }

    /// Returns the number of renderers with which the work is measured.
    pub(super) fn renderers(&self, arguments: &DirtArguments) -> u16 {
        arguments.nodes.renderers.unwrap_or(1)
    }

    /// Checks the options that `clap` does not check.
    ///
    /// # Errors
    /// [`CliError::WrongCall`].
    pub(super) fn check(&self, arguments: &DirtArguments) -> Result<(), CliError> {
        let wrong = |options: String, reason: &str| {
            Err(CliError::WrongCall {
                options,
                reason: reason.to_owned(),
            })
        };
        let output = arguments.output();
        if output.extension().is_none_or(|it| it != "toml") {
            let options = format!("--characterise -o {}", output.display());
            return wrong(
                options,
                "parameters are TOML; expected a name that ends in .toml",
            );
        }
        if let Some(kind) = arguments.nodes.transport.filter(|kind| kind.is_by_mpi()) {
            let options = format!("--characterise --transport {kind}");
            return wrong(
                options,
                "the nodes are threads of one process; expected threads, shm or socket",
            );
        }
        if arguments.nodes.answers == Some(Answers::Direct) {
            return wrong(
                "--characterise --answers direct".to_owned(),
                "a renderer that waits and receives cannot be measured; expected handler or get",
            );
        }
        if self.measure_nodes.iter().all(|&nodes| nodes < 2) {
            return wrong(
                "--measure-nodes".to_owned(),
                "a single node sends no bricks; expected a number above 1, too",
            );
        }
        Ok(())
    }
}
