//! `raddle pingpong --wait`: how soon two threads hear of each other, and what waiting costs, in each way.

use std::fmt::Write as _;
use std::time::Duration;

use raddle_messages::waits::{Bystander, Kind, Places, Waits, WaitsError};
use raddle_topology::{Claims, CpuId, Topology};
use serde_json::{Map, Value, json};

use super::latencies::Latencies;
use crate::arguments::{Options, PingpongArguments, WaitChoice};
use crate::error::CliError;
use crate::{output, schema, table, workers};

/// Answers at once, and late ones, are waited for no longer than this.
const LIMIT: Duration = Duration::from_secs(1);
/// Rounds of a bystander, a fifth of a second each.
const ROUNDS: usize = 5;

/// Measures the way to wait, or all that there are, and reports.
///
/// # Errors
/// [`CliError`]: a way that the processor does not have where it is asked for alone, threads that cannot be bound, an output that fails.
pub(super) fn run(
    wait: WaitChoice,
    arguments: &PingpongArguments,
    options: &Options,
) -> Result<(), CliError> {
    // As if nobody else were on the machine: the threads are gone in a moment.
    let claims = Claims::in_group(format!("raddle-waits-{}", std::process::id()));
    let plan = workers::builder(options).workers(2).claims(claims).plan();
    let plan = plan.map_err(|error| workers::refused(error, options))?;
    if options.show_binding && !options.json {
        output::print(&format!("{plan}\n"))?;
    }
    let topology = Topology::this_machine()?;
    let report = Report {
        trips: arguments.trips(),
        pause: arguments.late,
        places: Places::of_plan(topology, &plan),
        rows: Vec::new(),
    };
    let report = report.measure(topology, wait)?;
    if options.json {
        let mut result = report.json();
        if options.show_binding {
            result.insert("binding".to_owned(), json!(plan));
        }
        schema::print(result)
    } else if options.quiet {
        Ok(())
    } else {
        output::print(&report.text())
    }
}

/// What was found.
struct Report {
    trips: u64,
    pause: Duration,
    places: Places,
    rows: Vec<(Kind, Result<Row, &'static str>)>,
}

/// What was found for one way; where the processor does not have it, the reason stands instead.
struct Row {
    soon: Latencies,
    late: Latencies,
    /// CPU time of the waiter in a late wait.
    cpu: Duration,
    bystander: Option<Bystander>,
}

impl Report {
    fn measure(mut self, topology: &Topology, wait: WaitChoice) -> Result<Self, WaitsError> {
        let kinds = match wait.kind() {
            Some(kind) => vec![kind],
            None => Kind::ALL.to_vec(),
        };
        for &kind in &kinds {
            let row = match Waits::new(topology, &self.places, kind) {
                Ok(waits) => Ok(self.row(&waits)?),
                Err(WaitsError::Missing { reason, .. }) if kinds.len() > 1 => Err(reason),
                Err(error) => return Err(error),
            };
            self.rows.push((kind, row));
        }
        Ok(self)
    }

    fn row(&self, waits: &Waits<'_>) -> Result<Row, WaitsError> {
        let soon = waits.soon(self.trips, LIMIT)?;
        let late = waits.late(self.trips, LIMIT, self.pause)?;
        Ok(Row {
            soon: Latencies::of(soon),
            cpu: late.cpu_per_wait(),
            late: Latencies::of(late.latencies),
            bystander: waits.bystander(ROUNDS, self.pause)?,
        })
    }

    fn json(&self) -> Map<String, Value> {
        let number = |cpu: Option<CpuId>| json!(cpu.map(|cpu| cpu.0));
        let rows = self.rows.iter().map(|(kind, row)| {
            let mut value = match row {
                Ok(row) => row.json(),
                Err(reason) => Map::from_iter([("missing".to_owned(), json!(not_here(reason)))]),
            };
            value.insert("wait".to_owned(), json!(kind.name()));
            Value::Object(value)
        });
        let entries = [
            ("command", json!("pingpong")),
            ("trips", json!(self.trips)),
            ("limit_s", json!(LIMIT.as_secs_f64())),
            ("late_pause_s", json!(self.pause.as_secs_f64())),
            ("waiter_cpu", number(self.places.waiter)),
            ("answerer_cpu", number(self.places.answerer)),
            (
                "bystander_cpu",
                number(self.places.bystander.map(|(cpu, _)| cpu)),
            ),
            (
                "bystander_beside",
                json!(self.places.bystander.map(|(_, beside)| beside.name())),
            ),
            ("waits", rows.collect()),
        ];
        entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{}\n\nanswered at once: a round trip\n{:<8} {:>8} {}\n",
            self.about(),
            "wait",
            "trips",
            Latencies::head()
        );
        for (kind, row) in &self.rows {
            // Writing to a string cannot fail, here and below.
            let _infallible = match row {
                Ok(row) => {
                    let trips = table::grouped(row.soon.count() as u64);
                    writeln!(text, "{:<8} {trips:>8} {}", kind.name(), row.soon.columns())
                }
                Err(reason) => writeln!(text, "{:<8} {}", kind.name(), not_here(reason)),
            };
        }
        let _infallible = write!(
            text,
            "\nanswered after {}: from the decision to answer until the waiter ran, and what a wait cost\n\
             {:<8} {:>8} {} {:>9} {:>9}\n",
            table::time(self.pause),
            "wait",
            "waits",
            Latencies::head(),
            "CPU time",
            "bystander",
        );
        for (kind, row) in &self.rows {
            let _infallible = match row {
                Ok(row) => writeln!(text, "{:<8} {}", kind.name(), row.late_columns()),
                Err(reason) => writeln!(text, "{:<8} {}", kind.name(), not_here(reason)),
            };
        }
        text
    }

    /// Who is where.
    fn about(&self) -> String {
        let threads = match (self.places.waiter, self.places.answerer) {
            (Some(waiter), Some(answerer)) if waiter == answerer => {
                format!("two threads, both on CPU {waiter}")
            }
            (Some(waiter), Some(answerer)) => {
                format!("the waiter on CPU {waiter}, the other thread on CPU {answerer}")
            }
            _ => "two threads that are not bound".to_owned(),
        };
        let bystander = match self.places.bystander {
            Some((cpu, beside)) => format!("a bystander on CPU {cpu} ({beside})"),
            None => "no bystander".to_owned(),
        };
        format!("{threads}; {bystander}")
    }
}

impl Row {
    fn json(&self) -> Map<String, Value> {
        let mut soon = self.soon.json();
        soon.insert("trips".to_owned(), json!(self.soon.count()));
        let mut late = self.late.json();
        late.insert("waits".to_owned(), json!(self.late.count()));
        late.insert("cpu_s".to_owned(), json!(self.cpu.as_secs_f64()));
        let share = self.bystander.map(|bystander| bystander.share);
        late.insert("bystander_share".to_owned(), json!(share));
        Map::from_iter([
            ("soon".to_owned(), Value::Object(soon)),
            ("late".to_owned(), Value::Object(late)),
        ])
    }

    fn late_columns(&self) -> String {
        let waits = table::grouped(self.late.count() as u64);
        let cpu = table::time(self.cpu);
        let bystander = match self.bystander {
            Some(bystander) => format!("{:.0} %", bystander.share * 100.0),
            None => "-".to_owned(),
        };
        let times = self.late.columns();
        format!("{waits:>8} {times} {cpu:>9} {bystander:>9}")
    }
}

fn not_here(reason: &str) -> String {
    format!("not on this processor: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_messages::waits::Beside;

    #[test]
    fn columns_stand_below_their_heads_and_what_is_missing_has_a_reason() {
        let times = || Latencies::of([1_500, 512].map(Duration::from_nanos).to_vec());
        let bystander = Some(Bystander {
            beside: Beside::SameCpu,
            share: 0.987,
        });
        let row = Row {
            soon: times(),
            late: times(),
            cpu: Duration::from_micros(12),
            bystander,
        };
        let report = Report {
            trips: 2,
            pause: Duration::from_micros(500),
            places: Places {
                waiter: Some(CpuId(0)),
                answerer: Some(CpuId(1)),
                bystander: Some((CpuId(0), Beside::SameCpu)),
            },
            rows: vec![(Kind::Eventfd, Ok(row)), (Kind::Monitor, Err("no WAITPKG"))],
        };
        let text = report.text();
        let lines: Vec<_> = text.lines().collect();
        let width = |line: usize| lines[line].chars().count();
        assert_eq!((width(3), width(8)), (width(4), width(9)), "{text}");
        for line in [5, 10] {
            assert_eq!(lines[line], "monitor  not on this processor: no WAITPKG");
        }
        assert!(lines[9].ends_with("12.0 µs      99 %"), "{text}");
        assert!(lines[0].ends_with("CPU 0 (same CPU)"), "{text}");
    }
}
