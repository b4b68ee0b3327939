//! `raddle pingpong --wait`: how soon a waiting thread continues, and what waiting costs, for each
//! way to wait.

use std::time::Duration;

use raddle_messages::waits::{Bystander, Kind, Places, Waits, WaitsError};
use raddle_topology::{Claims, CpuId, Topology};

use super::arguments::{PingpongArguments, WaitChoice};
use super::latencies::Latencies;
use crate::arguments::Options;
use crate::error::CliError;
use crate::report::{Column, Columns, Object, Plain, RanOn, Report, Row};
use crate::{units, workers};

/// The longest time of each measurement with answers at once, and with late answers.
const LIMIT: Duration = Duration::from_secs(1);
/// The number of rounds of a bystander, each of which takes a fifth of a second.
const ROUNDS: usize = 5;

/// Measures the selected way to wait, or all of them, and reports.
///
/// # Errors
/// [`CliError`]: the only selected way is not available on this processor, or threads cannot be
/// bound.
pub(super) fn run(
    wait: WaitChoice,
    arguments: &PingpongArguments,
    options: &Options,
) -> Result<Report, CliError> {
    // A group of its own ignores the CPUs that other programs have claimed: the threads run only
    // for a moment.
    let claims = Claims::in_group(format!("raddle-waits-{}", std::process::id()));
    let plan = workers::builder(options).workers(2).claims(claims).plan();
    let plan = plan.map_err(|error| workers::refused(error, options))?;
    workers::print_plan(&plan, options)?;
    let topology = Topology::this_machine()?;
    let measurement = Measurement {
        trips: arguments.trips(),
        pause: arguments.late,
        places: Places::of_plan(topology, &plan),
        ways: Vec::new(),
    };
    let report = measurement.measure(topology, wait)?.report();
    Ok(report.on(RanOn::Plan(plan)))
}

/// The measurements of all ways to wait.
struct Measurement {
    trips: u64,
    pause: Duration,
    places: Places,
    /// A way that the processor does not have is an error with the reason.
    ways: Vec<(Kind, Result<Way, &'static str>)>,
}

/// The measurements of one way to wait.
struct Way {
    soon: Latencies,
    late: Latencies,
    /// The CPU time of the waiter in a wait for a late answer.
    cpu: Duration,
    bystander: Option<Bystander>,
}

impl Measurement {
    fn measure(mut self, topology: &Topology, wait: WaitChoice) -> Result<Self, WaitsError> {
        let kinds = match wait.kind() {
            Some(kind) => vec![kind],
            None => Kind::ALL.to_vec(),
        };
        for &kind in &kinds {
            let way = match Waits::new(topology, &self.places, kind) {
                Ok(waits) => Ok(self.way(&waits)?),
                Err(WaitsError::Missing { reason, .. }) if kinds.len() > 1 => Err(reason),
                Err(error) => return Err(error),
            };
            self.ways.push((kind, way));
        }
        Ok(self)
    }

    fn way(&self, waits: &Waits<'_>) -> Result<Way, WaitsError> {
        let soon = waits.soon(self.trips, LIMIT)?;
        let late = waits.late(self.trips, LIMIT, self.pause)?;
        Ok(Way {
            soon: Latencies::of(soon),
            cpu: late.cpu_per_wait(),
            late: Latencies::of(late.latencies),
            bystander: waits.bystander(ROUNDS, self.pause)?,
        })
    }

    fn report(&self) -> Report {
        let number = |cpu: Option<CpuId>| cpu.map(|cpu| cpu.0);
        let Places {
            waiter,
            answerer,
            bystander,
        } = self.places;
        let (soon, late) = self.tables();
        let mut report = Report::new();
        report
            .text(format!(
                "{}\n\nanswered at once: time of a round trip\n",
                self.about()
            ))
            .list("waits", &soon)
            .text(format!(
                "\nanswered after {}: from the decision to answer until the waiter ran, \
                 and the cost of a wait\n",
                units::time(self.pause)
            ))
            .text(late.text())
            .field("trips", self.trips)
            .field("limit_s", LIMIT.as_secs_f64())
            .field("late_pause_s", self.pause.as_secs_f64())
            .field("waiter_cpu", number(waiter))
            .field("answerer_cpu", number(answerer))
            .field("bystander_cpu", number(bystander.map(|(cpu, _)| cpu)))
            .field(
                "bystander_beside",
                bystander.map(|(_, beside)| beside.name()),
            );
        report
    }

    /// Creates a table for immediate answers and one for late answers. The rows of the first table
    /// have the JSON fields of both.
    fn tables(&self) -> (Columns, Columns) {
        let head = |count| [Column::left("wait", 8), Column::right(count, 8)].into_iter();
        let costs = [Column::right("CPU time", 9), Column::right("bystander", 9)];
        let mut soon = Columns::new(head("trips").chain(Latencies::columns()));
        let mut late = Columns::new(head("waits").chain(Latencies::columns()).chain(costs));
        for (kind, way) in &self.ways {
            let [mut soon_row, mut late_row] = [Row::new(), Row::new()];
            soon_row.quantity("wait", &Plain(kind.name()));
            late_row.cell(kind.name());
            match way {
                Ok(way) => way.fill(&mut soon_row, &mut late_row),
                Err(reason) => {
                    let missing = format!("not on this processor: {reason}");
                    late_row.cell(&missing);
                    soon_row.quantity("missing", &Plain(missing));
                }
            }
            soon.push(soon_row);
            late.push(late_row);
        }
        (soon, late)
    }

    /// Describes the CPUs of the threads in words.
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

impl Way {
    /// Adds the cells of both rows, and all fields to the first one.
    fn fill(&self, soon_row: &mut Row, late_row: &mut Row) {
        soon_row.cell(units::grouped(self.soon.count()));
        self.soon.add_cells(soon_row);
        let mut soon: Object = self.soon.object();
        soon.field("trips", self.soon.count());

        late_row.cell(units::grouped(self.late.count()));
        self.late.add_cells(late_row);
        let share = self.bystander.map(|bystander| bystander.share);
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        late_row
            .cell(units::time(self.cpu))
            .cell(share.map_or_else(|| "-".to_owned(), percent));
        let mut late: Object = self.late.object();
        late.field("waits", self.late.count())
            .field("cpu_s", self.cpu.as_secs_f64())
            .field("bystander_share", share);
        soon_row.field("soon", soon).field("late", late);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_messages::waits::Beside;

    #[test]
    fn cells_are_aligned_and_a_missing_way_has_a_reason() {
        let times = || Latencies::of([1_500, 512].map(Duration::from_nanos).to_vec());
        let bystander = Some(Bystander {
            beside: Beside::SameCpu,
            share: 0.987,
        });
        let way = Way {
            soon: times(),
            late: times(),
            cpu: Duration::from_micros(12),
            bystander,
        };
        let measurement = Measurement {
            trips: 2,
            pause: Duration::from_micros(500),
            places: Places {
                waiter: Some(CpuId(0)),
                answerer: Some(CpuId(1)),
                bystander: Some((CpuId(0), Beside::SameCpu)),
            },
            ways: vec![(Kind::Eventfd, Ok(way)), (Kind::Monitor, Err("no WAITPKG"))],
        };
        let text = measurement.report().as_text();
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
