//! `raddle top`: the workers of running programs, as they are now.
//!
//! Each program that was started with `RADDLE_MONITOR=on` has a socket ([`raddle_trace::monitor`]).
//! [`sample`] asks all of them and computes rates from two snapshots, [`text`] makes lines and JSON
//! of them, and [`screen`] draws the lines again and again until a key ends that.

mod sample;
mod screen;
mod text;

use std::io::{self, IsTerminal};
use std::thread;
use std::time::Duration;

use clap::Args;
use raddle_trace::monitor;

use self::sample::Sampler;
use crate::arguments::Options;
use crate::error::CliError;
use crate::report::Report;

pub(super) const EXAMPLES: &str = "\
Examples:
  RADDLE_MONITOR=on raddle render knot.obj -o knot.png &
  raddle top
  raddle top 4711 --interval 5
  raddle top --once --json

Keys: q ends, the space bar pauses, + and - change the interval, the arrows move the text.

A program of yours shows itself if RADDLE_MONITOR=on is in its environment when it starts. Rates are
those of the last interval. A worker that works on one task for longer than the interval shows for
how long.";

/// `raddle top`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TopArguments {
    /// Processes to show, by number; all of this user without it
    #[arg(value_name = "PROCESS")]
    processes: Vec<u32>,
    /// Time between two updates, in seconds
    #[arg(short = 'd', long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    interval: f64,
    /// Print one update and end; the default if standard output is no terminal
    #[arg(long)]
    once: bool,
    /// Print one update as one JSON object on one line
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.05..=3_600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds from 0.05 to 3600".to_owned()),
    }
}

impl TopArguments {
    /// Returns the options for the output.
    pub(super) fn options(&self) -> Options {
        Options {
            json: self.json,
            ..Options::default()
        }
    }
}

/// Shows the running programs. Returns a report unless they were shown on the terminal.
///
/// # Errors
/// If there is no program to show, or one of the given processes cannot be shown; those of the
/// folder with the sockets and of the terminal.
pub(super) fn run(arguments: &TopArguments) -> Result<Option<Report>, CliError> {
    let mut sampler = Sampler::new(&arguments.processes);
    let interval = Duration::from_secs_f64(arguments.interval);
    if !(arguments.once || arguments.json) && io::stdout().is_terminal() {
        screen::show(sampler, interval).map(|()| None)
    } else {
        sampler.take()?;
        thread::sleep(interval);
        let programs = sampler.take()?;
        if programs.is_empty() {
            return Err(CliError::NothingToWatch {
                folder: monitor::folder(),
            });
        }
        let mut report = Report::new();
        report.text(text::lines(&programs).join("\n") + "\n");
        report.field("programs", text::objects(&programs));
        Ok(Some(report))
    }
}
