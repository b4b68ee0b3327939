//! The environment variables for a program's nodes.

use raddle_net::{Launch, TransportKind};

use super::error::JobError;
use super::progress::Progress;
use crate::watch;

/// The maximum number of nodes in `RADDLE_NODES` and in options of the program `raddle`.
///
/// These nodes are processes, so a larger number is assumed to be a mistake. A [`Job`](super::Job)
/// with more nodes can be created in code, and by MPI, as far as ports suffice.
pub const NODES_MAX: u16 = 256;

/// The settings for a program's nodes: from `RADDLE_NODES`, `RADDLE_TRANSPORT` and
/// `RADDLE_PROGRESS`, as `raddle launch` sets them, and from MPI if it has started this program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobEnvironment {
    /// The given number of nodes, or the number of processes that MPI has started; `None` without
    /// either, or for a single process.
    pub nodes: Option<u16>,
    /// The given transport, or MPI if it has started this process with others.
    pub transport: Option<TransportKind>,
    /// The given progress.
    pub progress: Option<Progress>,
}

impl JobEnvironment {
    /// Reads the settings from the environment.
    ///
    /// # Errors
    /// [`JobError::Environment`]; also if `RADDLE_WATCH` is not a time. Otherwise, the first use of
    /// chares would panic because of it.
    pub fn read() -> Result<Self, JobError> {
        variable(watch::VARIABLE, watch::EXPECTED, watch::time)?;
        let expected = format!("a number from 1 to {NODES_MAX}");
        let nodes = variable("RADDLE_NODES", &expected, |text| {
            let nodes = text.parse().ok();
            nodes.filter(|nodes| (1..=NODES_MAX).contains(nodes))
        })?;
        let names = TransportKind::names_of_processes();
        let transport = variable("RADDLE_TRANSPORT", &names, |text| {
            let kind = TransportKind::by_name(text);
            kind.filter(|kind| TransportKind::OF_PROCESSES.contains(kind))
        })?;
        let names = Progress::ALL.map(Progress::name).join(", ");
        let progress = variable("RADDLE_PROGRESS", &names, |text| {
            let mut ways = Progress::ALL.into_iter();
            ways.find(|way| way.name().eq_ignore_ascii_case(text))
        })?;
        let here = TransportKind::here();
        let transport = transport.or(here.is_by_mpi().then_some(here));
        let is_by_mpi = transport.is_some_and(TransportKind::is_by_mpi);
        let ranks = || Launch::rank_count().filter(|_| is_by_mpi);
        Ok(Self {
            nodes: nodes.or_else(ranks),
            transport,
            progress,
        })
    }
}

/// Reads a variable; `None` if it is unset or empty.
fn variable<V>(
    name: &'static str,
    expected: &str,
    read: impl FnOnce(&str) -> Option<V>,
) -> Result<Option<V>, JobError> {
    let Some(found) = std::env::var_os(name).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let value = found.to_str().and_then(|text| read(text.trim()));
    value.map(Some).ok_or_else(|| JobError::Environment {
        name,
        found,
        expected: expected.to_owned(),
    })
}
