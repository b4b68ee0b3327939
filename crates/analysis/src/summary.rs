//! All analyses of one recording.

use serde::Serialize;

use crate::costs::Costs;
use crate::durations::Durations;
use crate::findings::{self, Finding};
use crate::forecast::{Forecast, NoForecast};
use crate::gaps::Gaps;
use crate::grain::Grains;
use crate::links::Links;
use crate::messages::Messages;
use crate::off_cpu::OffCpu;
use crate::places::Places;
use crate::profile::Profile;
use crate::recording::Recording;
use crate::table::Table;
use crate::utilisation::Utilisation;
use crate::waits::Waits;

/// The number of parts of the recording over which utilisation is shown.
pub const PARTS: usize = 240;

/// The keys of all tables, in the order of the report.
pub const TABLES: [&str; 17] = [
    "findings",
    "utilisation",
    "forecast",
    "path",
    "grain",
    "durations",
    "off_cpu",
    "waits",
    "gaps",
    "messages",
    "workers",
    "nodes",
    "objects",
    "places",
    "distances",
    "traffic",
    "profile",
];

/// The results of all analyses of a recording.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The names of the recorded programs, one per node.
    pub programs: Vec<String>,
    /// The length of the recording, in nanoseconds.
    pub length_ns: u64,
    /// The number of events in the file.
    pub events: u64,
    /// About how many events were dropped, because the buffer was full.
    pub dropped_events: u64,
    /// The sentences about the recording, the most important one first.
    pub findings: Vec<Finding>,
    /// The time of each thread in each state.
    pub utilisation: Utilisation,
    /// The durations of tasks, messages and entries.
    pub durations: Durations,
    /// The grain of each of them, and the grain that would pay.
    pub grains: Grains,
    /// The time in which threads with work were not on a CPU.
    pub off_cpu: OffCpu,
    /// The waits.
    pub waits: Waits,
    /// The times without work that messages ended.
    pub gaps: Gaps,
    /// The messages.
    pub messages: Messages,
    /// The places of the workers, and the steals and traffic between them.
    pub places: Places,
    /// The profile by function and caller.
    pub profile: Profile,
    /// The expected speedup, if the recording allows a forecast.
    pub forecast: Option<Forecast>,
    /// The reason why there is no forecast.
    pub no_forecast: Option<NoForecast>,
}

impl Summary {
    /// Analyses a recording. Takes O(n log n) time for n events.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let timeline = recording.timeline();
        let links = Links::of(recording);
        let names = timeline.processes().iter();
        let (from_ns, until_ns) = recording.span_ns();
        let durations = Durations::of(recording);
        let (forecast, no_forecast) = match Forecast::of(recording, &links) {
            Ok(forecast) => (Some(forecast), None),
            Err(reason) => (None, Some(reason)),
        };
        let mut summary = Self {
            programs: names
                .map(|process| timeline.text(process.name).to_owned())
                .collect(),
            length_ns: until_ns - from_ns,
            events: timeline.events().len() as u64,
            dropped_events: recording
                .facts()
                .iter()
                .map(|facts| facts.dropped_events)
                .sum(),
            findings: Vec::new(),
            utilisation: Utilisation::of(recording, PARTS),
            grains: Grains::of(&durations, Costs::of(recording, &links)),
            durations,
            off_cpu: OffCpu::of(recording),
            waits: Waits::of(recording),
            gaps: Gaps::of(recording, &links),
            messages: Messages::of(recording, &links),
            places: Places::of(recording),
            profile: Profile::of(recording),
            forecast,
            no_forecast,
        };
        summary.findings = findings::find(&summary);
        summary
    }

    /// Returns the table with this key, if the recording has it.
    #[must_use]
    pub fn table(&self, key: &str) -> Option<Table> {
        self.tables().into_iter().find(|table| table.key == key)
    }

    /// Returns all tables, in the order of the report.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        let forecast = self.forecast.iter();
        let forecast = forecast.flat_map(|forecast| [forecast.table(), forecast.span.table()]);
        let mut tables = vec![findings::table(&self.findings), self.utilisation.table()];
        tables.extend(forecast);
        tables.extend([
            self.grains.table(),
            self.durations.table(),
            self.off_cpu.table(),
            self.waits.table(),
            self.gaps.table(),
            self.messages.table(),
            self.messages.table_of_workers(),
            self.messages.table_of_nodes(),
            self.messages.table_of_objects(),
            self.places.table(),
            self.places.table_of_distances(),
            self.places.table_of_pairs(),
            self.profile.table(),
        ]);
        tables
    }
}
