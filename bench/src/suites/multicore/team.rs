//! Groups of workers that run a ring: the workers of one process, or those of several.

use std::process::ExitCode;

use raddle::Runtime;
use raddle::chare::nodes::{Job, Progress};
use raddle::net::TransportKind;
use raddle_messages::kneighbor::{claims, together};

use super::{SIZES, shape};

/// The argument by which a started process recognises that it is a node of this suite.
const SUITE: &str = "multicore";

/// The workers that run a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Team {
    /// The contender's name.
    pub(super) name: &'static str,
    /// The transport between the processes, if there are several.
    transport: Option<TransportKind>,
    progress: Progress,
    nodes: u16,
    /// The workers of each process.
    workers: usize,
}

impl Team {
    /// Returns the teams of the case `modes`: the workers are threads of one process, or each of
    /// them is a process.
    pub(super) fn of_modes(workers: usize) -> Vec<Self> {
        let threads = Self {
            name: "raddle",
            transport: None,
            progress: Progress::Pending,
            nodes: 1,
            workers,
        };
        let processes = [TransportKind::Memory, TransportKind::Sockets].map(|kind| Self {
            name: kind.name(),
            transport: Some(kind),
            // More workers than nodes can exist are an error of the job.
            nodes: u16::try_from(workers).unwrap_or(u16::MAX),
            workers: 1,
            ..threads
        });
        [threads].into_iter().chain(processes).collect()
    }

    /// Returns the teams of the case `progress`: two processes that share the workers, for each way
    /// to receive.
    pub(super) fn of_progress(workers: usize) -> Vec<Self> {
        let of = |progress| Self {
            name: match progress {
                Progress::Pending => "raddle",
                _ => progress.name(),
            },
            transport: Some(TransportKind::Memory),
            progress,
            nodes: 2,
            workers: workers.div_ceil(2),
        };
        Progress::ALL.map(of).into()
    }

    /// Returns the job that starts the team.
    pub(super) fn job(&self) -> Job {
        let Some(kind) = self.transport else {
            let builder = Runtime::builder().workers(self.workers);
            return Job::new(1).runtime(builder.claims(claims(self.name)));
        };
        let claims = claims(&format!("{kind}-{}", self.progress));
        let builder = Runtime::builder().workers(self.workers).claims(claims);
        Job::new(self.nodes)
            .transport(kind)
            .progress(self.progress)
            .runtime(builder)
            .arguments(self.words())
            .quiet(true)
    }

    /// Returns the arguments of the processes that the job starts.
    fn words(&self) -> Vec<String> {
        let kind = self.transport.unwrap_or_default();
        let words = [SUITE, kind.name(), self.progress.name()].map(str::to_owned);
        let numbers = [self.nodes.to_string(), self.workers.to_string()];
        words.into_iter().chain(numbers).collect()
    }

    /// Returns the team with these arguments, if they are the arguments of a team.
    fn of_words(words: &[String]) -> Option<Self> {
        let [suite, kind, progress, nodes, workers] = words else {
            return None;
        };
        let mut ways = Progress::ALL.into_iter();
        let team = Self {
            name: "node",
            transport: Some(TransportKind::by_name(kind)?),
            progress: ways.find(|way| way.name() == progress)?,
            nodes: nodes.parse().ok()?,
            workers: workers.parse().ok()?,
        };
        (suite == SUITE).then_some(team)
    }
}

/// Runs a process that this suite has started as a node, to its end. Returns `None` if another
/// suite has started it.
pub(crate) fn follow(words: &[String]) -> Option<ExitCode> {
    let team = Team::of_words(words)?;
    // The first process reports any failure.
    let followed = together([team.job()], shape(SIZES[0]), |_| ());
    Some(followed.map_or(ExitCode::FAILURE, |_| ExitCode::SUCCESS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_started_process_finds_its_team_in_its_arguments() {
        let teams = Team::of_modes(3).into_iter().skip(1);
        for team in teams.chain(Team::of_progress(4)) {
            let found = Team::of_words(&team.words()).expect("the words of a team");
            assert_eq!(
                Team {
                    name: team.name,
                    ..found
                },
                team
            );
        }
        assert_eq!(Team::of_words(&["shm".to_owned()]), None);
        let mut words = Team::of_progress(2)[0].words();
        words[0] = "nodes".to_owned();
        assert_eq!(Team::of_words(&words), None);
    }

    #[test]
    fn threads_and_processes_have_the_same_number_of_workers() {
        for workers in 1..6 {
            for team in Team::of_modes(workers) {
                assert_eq!(usize::from(team.nodes) * team.workers, workers);
            }
        }
        let names = Team::of_progress(2).into_iter().map(|team| team.name);
        assert!(names.eq(["raddle", "send", "any-send", "thread"]));
    }
}
