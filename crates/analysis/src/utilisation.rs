//! The time that each thread spends in each state, in all and over time.

use raddle_trace::events::Thread;
use serde::Serialize;

use crate::recording::Recording;
use crate::states::{State, stretches};
use crate::table::{Cell, Table};

/// The time of all threads in each state.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Utilisation {
    /// The length of the recording, in nanoseconds.
    pub length_ns: u64,
    /// One entry per thread.
    pub threads: Vec<ThreadUtilisation>,
}

/// The time of one thread in each state.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ThreadUtilisation {
    /// The name of the thread.
    pub name: String,
    /// True for a worker, also if it is a compensating thread.
    pub is_worker: bool,
    /// True for a compensating thread.
    pub is_compensating: bool,
    /// The times of its first event and of the end of its last one, in nanoseconds since the begin
    /// of the recording.
    pub lifetime_ns: (u64, u64),
    /// The time in each state, in nanoseconds, in the order of [`State::ALL`].
    pub state_ns: [u64; State::ALL.len()],
    /// The time in each state in each of a number of equal parts of the recording.
    pub over_time_ns: Vec<[u64; State::ALL.len()]>,
}

impl ThreadUtilisation {
    /// Returns the time in a state, in nanoseconds.
    #[must_use]
    pub fn of(&self, state: State) -> u64 {
        self.state_ns[state as usize]
    }
}

impl Utilisation {
    /// Returns the largest number of workers that were there at the same time, without compensating
    /// threads.
    #[must_use]
    pub fn worker_count(&self) -> usize {
        let counts = self.teams().into_iter().map(|team| own_count(&team));
        counts.max().unwrap_or(0)
    }

    /// Divides the workers into those that were there at the same time: runtimes that follow each
    /// other share no work.
    pub(crate) fn teams(&self) -> Vec<Vec<&ThreadUtilisation>> {
        let workers = self.threads.iter().filter(|thread| thread.is_worker);
        let mut sorted: Vec<&ThreadUtilisation> = workers.collect();
        sorted.sort_by_key(|worker| worker.lifetime_ns);
        let mut teams: Vec<(u64, Vec<&ThreadUtilisation>)> = Vec::new();
        for worker in sorted {
            let (from_ns, until_ns) = worker.lifetime_ns;
            match teams.last_mut() {
                // Half of its time, because a thread may begin or end a little later than others.
                Some((team_ns, team)) if from_ns.midpoint(until_ns) < *team_ns => {
                    *team_ns = until_ns.max(*team_ns);
                    team.push(worker);
                }
                _ => teams.push((until_ns, vec![worker])),
            }
        }
        teams.into_iter().map(|(_, team)| team).collect()
    }

    /// Computes the times in each state, in all and in `parts` equal parts of the recording.
    #[must_use]
    pub fn of(recording: &Recording, parts: usize) -> Self {
        let (from_ns, until_ns) = recording.span_ns();
        let length_ns = until_ns - from_ns;
        let threads = recording.threads().iter().map(|thread| {
            let mut utilisation = ThreadUtilisation {
                name: recording.thread_name(thread.process, &thread.thread),
                is_worker: matches!(thread.thread, Thread::Worker { .. }),
                is_compensating: matches!(
                    thread.thread,
                    Thread::Worker {
                        is_compensating: true,
                        ..
                    }
                ),
                lifetime_ns: (0, 0),
                state_ns: [0; State::ALL.len()],
                over_time_ns: vec![[0; State::ALL.len()]; parts],
            };
            for stretch in stretches(recording, thread) {
                let (from, until) = (stretch.from_ns - from_ns, stretch.until_ns - from_ns);
                utilisation.add(from, until, stretch.state, length_ns);
                if stretch.state != State::Unknown {
                    let (first, last) = &mut utilisation.lifetime_ns;
                    *first = if *last == 0 { from } else { *first };
                    *last = until;
                }
            }
            utilisation
        });
        Self {
            length_ns,
            threads: threads.collect(),
        }
    }
}

/// Returns the number of workers that are no compensating threads.
pub(crate) fn own_count(team: &[&ThreadUtilisation]) -> usize {
    let own = team.iter().filter(|worker| !worker.is_compensating);
    own.count()
}

impl ThreadUtilisation {
    /// Adds a time in a state. Times are since the begin of the recording.
    fn add(&mut self, from_ns: u64, until_ns: u64, state: State, length_ns: u64) {
        self.state_ns[state as usize] += until_ns - from_ns;
        let parts = self.over_time_ns.len() as u64;
        if parts == 0 || length_ns == 0 {
            return;
        }
        let begin_of = |part: u64| {
            (u128::from(length_ns) * u128::from(part)).div_ceil(u128::from(parts)) as u64
        };
        let part_of = |ns: u64| (u128::from(ns) * u128::from(parts) / u128::from(length_ns)) as u64;
        let mut at_ns = from_ns;
        let mut part = part_of(from_ns).min(parts - 1);
        while at_ns < until_ns {
            let end_ns = match part + 1 {
                next if next < parts => begin_of(next).min(until_ns),
                _ => until_ns,
            };
            self.over_time_ns[part as usize][state as usize] += end_ns - at_ns;
            at_ns = end_ns;
            part += 1;
        }
    }
}

impl Utilisation {
    /// Returns a table of the shares of each thread, in percent.
    #[must_use]
    pub fn table(&self) -> Table {
        let states = State::ALL.map(|state| (state.name(), 1));
        let columns = [("thread", 0)].into_iter().chain(states);
        let mut table = Table::new("utilisation", "Utilisation, % of the time", columns);
        for thread in &self.threads {
            let percent = |ns: &u64| Cell::Real(*ns as f64 * 100.0 / self.length_ns.max(1) as f64);
            let cells = thread.state_ns.iter().map(percent);
            table.row([thread.name.clone().into()].into_iter().chain(cells));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::tests_support::recording;

    #[test]
    fn the_parts_of_a_recording_add_up_to_the_whole() {
        let recording = recording(&[("task", "a", 0, 37), ("idle", "sleep", 40, 100)]);
        for parts in [1, 3, 7, 100, 1_000] {
            let utilisation = Utilisation::of(&recording, parts);
            let thread = &utilisation.threads[0];
            assert_eq!(
                (thread.of(State::Works), thread.of(State::Sleeps)),
                (37, 60)
            );
            for state in State::ALL {
                let parts = thread.over_time_ns.iter().map(|part| part[state as usize]);
                assert_eq!(parts.sum::<u64>(), thread.of(state));
            }
        }
        let table = Utilisation::of(&recording, 0).table().to_string();
        assert!(
            table.contains("worker 0") && table.contains("37.0"),
            "{table}"
        );
    }

    // Regression: the workers of runtimes that followed each other were compared, and the load
    // seemed to be uneven.
    #[test]
    fn workers_that_follow_each_other_are_different_teams() {
        let worker = |lifetime_ns| ThreadUtilisation {
            name: "worker".to_owned(),
            is_worker: true,
            is_compensating: false,
            lifetime_ns,
            state_ns: [0; State::ALL.len()],
            over_time_ns: Vec::new(),
        };
        let lifetimes = [(0, 100), (3, 101), (102, 900), (100, 905), (400, 800)];
        let utilisation = Utilisation {
            length_ns: 905,
            threads: lifetimes.map(worker).into(),
        };
        let teams: Vec<usize> = utilisation.teams().iter().map(Vec::len).collect();
        assert_eq!(teams, [2, 3]);
        assert_eq!(utilisation.worker_count(), 3);
    }
}
