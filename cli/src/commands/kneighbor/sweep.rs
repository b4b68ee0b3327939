//! `raddle kneighbor --mode` and `--size`: the same exchange between threads and between nodes, over the size of a message.

use std::fmt::Write as _;
use std::time::Duration;

use raddle::net::TransportKind;
use raddle::{Failure, Runtime};
use raddle_messages::kneighbor::{KNeighbor, Shape};
use raddle_messages::nodes::{BYTES_MAX, Crew, NodeRing};
use serde_json::{Map, Value, json};

use super::super::crew;
use super::check_memory;
use crate::arguments::{KneighborArguments, Mode, Options};
use crate::error::CliError;
use crate::times::Times;
use crate::{output, table, workers};

/// Bytes that each element sends in a run, at most.
const BYTES_SENT: u64 = 300_000_000;

/// Runs all sizes in all modes, in turns, and reports.
///
/// # Errors
/// [`CliError`]: messages that are too long between nodes, nodes that do not come up, messages that did not come as they were sent.
pub(super) fn run(arguments: &KneighborArguments, options: &Options) -> Result<(), CliError> {
    let count = arguments.nodes.unwrap_or(2);
    let elements = match (arguments.elements, options.workers) {
        (None, None) => count.into(),
        // Without nodes the ring may be any, as for one run.
        (elements, workers) if arguments.mode.0 == [Mode::Threads] => elements
            .map(|count| count as usize)
            .or(workers.map(usize::from))
            .unwrap_or(2),
        _ => {
            return Err(CliError::WrongCall {
                options: "--elements and --workers".to_owned(),
                reason: "between nodes there is an element each; expected --nodes".to_owned(),
            });
        }
    };
    let rings = rings(arguments, elements)?;
    let mut teams = Vec::new();
    for &mode in &arguments.mode.0 {
        let team = Team::start(mode, count, arguments, options)?;
        // A process that was started for one transport is through with it.
        let Some(team) = team else { return Ok(()) };
        teams.push(team);
    }
    let mut lines = Vec::new();
    for ring in rings {
        lines.push(Line::measure(&mut teams, ring, elements, arguments.repeat)?);
    }
    for team in teams {
        if let Team::Nodes(crew) = team {
            crew::finish(*crew)?;
        }
    }
    let report = Report {
        elements,
        k: arguments.k,
        touch: arguments.touch,
        repeat: arguments.repeat,
        modes: arguments.mode.0.clone(),
        lines,
    };
    if options.json {
        output::print(&format!("{}\n", Value::Object(report.json())))
    } else if options.quiet {
        Ok(())
    } else {
        output::print(&report.text())
    }
}

/// A ring for each size.
fn rings(arguments: &KneighborArguments, elements: usize) -> Result<Vec<NodeRing>, CliError> {
    let has_nodes = arguments.mode.0.iter().any(|mode| *mode != Mode::Threads);
    let ring = |bytes: usize| {
        let sent = 2 * u64::from(arguments.k) * bytes as u64;
        NodeRing {
            k: arguments.k,
            bytes,
            iterations: arguments.iterations.min((BYTES_SENT / sent).max(1)),
            touch: arguments.touch,
        }
    };
    let mut rings = Vec::new();
    for bytes in &arguments.bytes.0 {
        let name = || format!("--bytes {}", bytes.0);
        if has_nodes && bytes.0 > BYTES_MAX {
            return Err(CliError::WrongCall {
                options: name(),
                reason: format!("expected at most {BYTES_MAX} bytes between nodes"),
            });
        }
        check_memory(shape(ring(bytes.0), elements).memory_bytes(), name)?;
        rings.push(ring(bytes.0));
    }
    Ok(rings)
}

/// The same ring of threads.
const fn shape(ring: NodeRing, elements: usize) -> Shape {
    Shape {
        elements,
        k: ring.k as usize,
        bytes: ring.bytes,
        touch: ring.touch,
    }
}

/// Who exchanges.
enum Team {
    Threads(Runtime),
    Nodes(Box<Crew>),
}

impl Team {
    fn start(
        mode: Mode,
        count: u16,
        arguments: &KneighborArguments,
        options: &Options,
    ) -> Result<Option<Self>, CliError> {
        match mode {
            Mode::Threads => {
                let workers = options.workers.map_or(count.into(), usize::from);
                let builder = workers::builder(options).workers(workers);
                let runtime = builder.build();
                let runtime = runtime.map_err(|error| workers::refused(error, options))?;
                Ok(Some(Self::Threads(runtime)))
            }
            Mode::Nodes(kind) => {
                let nodes = arguments.nodes.unwrap_or(2).to_string();
                let words = ["kneighbor", "--mode", kind.name(), "--nodes", &nodes];
                Ok(crew::start(kind, count, options, Some(&words))?
                    .map(Box::new)
                    .map(Self::Nodes))
            }
        }
    }

    /// What an iteration takes.
    fn run(&self, ring: NodeRing, elements: usize) -> Result<Duration, CliError> {
        let time = match self {
            Self::Threads(runtime) => {
                let wrong = |source: Failure| CliError::MessagesWrong {
                    what: format!("--mode threads --bytes {}", ring.bytes),
                    source,
                };
                let ring_of_threads = KNeighbor::new(runtime, shape(ring, elements));
                ring_of_threads.run(ring.iterations).map_err(wrong)?.time
            }
            Self::Nodes(crew) => {
                let kind: TransportKind = crew.transport();
                let failed = |source| crew::failed(kind, source);
                crew.exchange(ring).map_err(failed)?.time
            }
        };
        Ok(time.div_f64(ring.iterations as f64))
    }
}

/// What was found for one size.
struct Line {
    ring: NodeRing,
    /// Of an iteration, in each mode.
    times: Vec<Times>,
    /// In each mode over the first, where that is threads.
    factors: Vec<f64>,
}

impl Line {
    fn measure(
        teams: &mut [Team],
        ring: NodeRing,
        elements: usize,
        repeat: u32,
    ) -> Result<Self, CliError> {
        let mut times = vec![Vec::new(); teams.len()];
        for _ in 0..repeat {
            for (team, times) in teams.iter().zip(&mut times) {
                times.push(team.run(ring, elements)?);
            }
        }
        let factor = |of_mode: &Vec<Duration>| {
            let pairs = of_mode.iter().zip(&times[0]);
            let mut ratios: Vec<_> = pairs
                .map(|(time, first)| time.as_secs_f64() / first.as_secs_f64().max(1e-9))
                .collect();
            ratios.sort_unstable_by(f64::total_cmp);
            ratios[ratios.len() / 2]
        };
        Ok(Self {
            ring,
            factors: times.iter().map(factor).collect(),
            times: times.into_iter().map(Times::of).collect(),
        })
    }
}

/// All that was found.
struct Report {
    elements: usize,
    k: u32,
    touch: bool,
    repeat: u32,
    modes: Vec<Mode>,
    lines: Vec<Line>,
}

impl Report {
    /// Whether there are factors over threads, which are the first mode of several.
    fn has_factors(&self) -> bool {
        self.modes.len() > 1 && self.modes[0] == Mode::Threads
    }

    fn json(&self) -> Map<String, Value> {
        let line = |line: &Line| {
            let modes = self.modes.iter().zip(&line.times).zip(&line.factors);
            let modes = modes.map(|((mode, times), factor)| {
                let mut value = Map::new();
                value.insert("mode".to_owned(), json!(mode.name()));
                value.insert("iteration_s".to_owned(), json!(times.json()));
                if self.has_factors() {
                    value.insert("over_threads".to_owned(), json!(factor));
                }
                Value::Object(value)
            });
            json!({
                "bytes": line.ring.bytes,
                "iterations": line.ring.iterations,
                "modes": modes.collect::<Vec<_>>(),
            })
        };
        let entries = [
            ("command", json!("kneighbor")),
            ("elements", json!(self.elements)),
            ("k", json!(self.k)),
            ("touch", json!(self.touch)),
            ("sizes", self.lines.iter().map(line).collect()),
        ];
        let entries = entries.map(|(key, value)| (key.to_owned(), value));
        Map::from_iter(entries)
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{} {}, each with {} {} on either side{}; an iteration, median of {}\n\n{:>8}",
            table::grouped(self.elements as u64),
            table::plural(self.elements, "element"),
            self.k,
            table::plural(self.k as usize, "neighbour"),
            if self.touch {
                ", all bytes written and read"
            } else {
                ""
            },
            self.repeat,
            "size"
        );
        let has_factor = |index: usize| self.has_factors() && index > 0;
        for (index, mode) in self.modes.iter().enumerate() {
            // Writing to a string cannot fail, here and below.
            let _infallible = write!(text, " {:>9}", mode.name());
            if has_factor(index) {
                let _infallible = write!(text, " {:>8}", "/threads");
            }
        }
        text.push('\n');
        for line in &self.lines {
            let _infallible = write!(text, "{:>8}", table::bytes(line.ring.bytes as u64));
            for (index, (times, factor)) in line.times.iter().zip(&line.factors).enumerate() {
                let _infallible = write!(text, " {:>9}", table::time(times.median));
                if has_factor(index) {
                    let _infallible = write!(text, " {factor:>8.2}");
                }
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_their_heads() {
        let times = || Times::of([1_500, 512, 900].map(Duration::from_nanos).to_vec());
        let line = Line {
            ring: NodeRing {
                k: 3,
                bytes: 16_384,
                iterations: 10,
                touch: false,
            },
            times: vec![times(), times(), times()],
            factors: vec![1.0, 2.5, 13.25],
        };
        let report = Report {
            elements: 2,
            k: 3,
            touch: true,
            repeat: 3,
            modes: Mode::all().take(3).collect(),
            lines: vec![line],
        };
        let text = report.text();
        let rows: Vec<_> = text.lines().map(|row| row.chars().count()).collect();
        assert_eq!(rows[2], rows[3], "{text}");
        assert!(text.contains("    13.25"), "{text}");
        assert!(
            text.contains("16.4 kB    900 ns    900 ns     2.50"),
            "{text}"
        );
    }
}
