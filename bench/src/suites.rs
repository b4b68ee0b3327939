//! The suites: their workloads, and the contenders of each.

pub(crate) mod bricks;
pub(crate) mod build;
pub(crate) mod dirt;
pub(crate) mod drop_in;
pub(crate) mod forks;
pub(crate) mod idle;
pub(crate) mod kdtree;
pub(crate) mod lk23;
pub(crate) mod locations;
pub(crate) mod locks;
pub(crate) mod loops;
pub(crate) mod matmul;
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod model;
pub(crate) mod multicore;
pub(crate) mod nodes;
pub(crate) mod place;
pub(crate) mod pools;
pub(crate) mod rays;
pub(crate) mod sort;
pub(crate) mod trace;
pub(crate) mod view;
pub(crate) mod volumes;
pub(crate) mod waits;
pub(crate) mod wake;

use std::path::{Path, PathBuf};

use raddle::PoolKind;
use raddle_graphics::mesh::Mesh;

use crate::error::BenchError;
use crate::harness::{self, Case, Contender, Wanted};
use crate::peer::{Peer, PeerSource};
use crate::record::{Environment, Record};

/// The measurement that the caller asked for, and the receivers of its results.
pub(crate) struct Measurement<'output> {
    /// The only case to measure. `None` means all of them.
    pub(crate) case: Option<String>,
    /// The number of pairs per comparison.
    pub(crate) pairs: usize,
    /// The numbers of workers to measure with.
    pub(crate) workers: Vec<usize>,
    /// True if the caller named the numbers of workers.
    pub(crate) are_workers_asked: bool,
    /// The files of the meshes to measure on. If empty, those of the real data.
    pub(crate) meshes: Vec<PathBuf>,
    /// The pools that the suite `pools` compares. If empty, all.
    pub(crate) pools: Vec<PoolKind>,
    /// If set, a run counts only while the CPUs of two workers are near each other.
    pub(crate) only_near: bool,
    /// The machine and the commit.
    pub(crate) environment: Environment,
    /// Receives each record when it is complete. If it fails, the measurement ends.
    pub(crate) emit: &'output mut dyn FnMut(&Record) -> Result<(), BenchError>,
    /// All records so far.
    pub(crate) records: Vec<Record>,
    /// Receives warnings, which are meant for people and are not part of the figures.
    pub(crate) warn: &'output mut dyn FnMut(String),
}

impl Measurement<'_> {
    /// Returns true if the case of that name is to be measured.
    pub(crate) fn wants(&self, case: &str) -> bool {
        self.case.as_deref().is_none_or(|only| only == case)
    }

    /// Starts a C++ peer. If the peer is not available, warns and returns `None`.
    pub(crate) fn peer(&mut self, source: PeerSource) -> Option<Box<dyn Contender>> {
        match Peer::start(source) {
            Ok(peer) => Some(Box::new(peer)),
            Err(failure) => {
                (self.warn)(failure.to_string());
                None
            }
        }
    }

    /// Starts a peer in Python. If it is not available, warns and returns `None`.
    pub(crate) fn python_peer(&mut self, name: &'static str) -> Option<Box<dyn Contender>> {
        match Peer::start_python(name) {
            Ok(peer) => Some(Box::new(peer)),
            Err(failure) => {
                (self.warn)(failure.to_string());
                None
            }
        }
    }

    /// Compares on every number of workers.
    ///
    /// # Errors
    /// Those of [`harness::compare`], and those of [`add`](Self::add).
    pub(crate) fn compare(
        &mut self,
        case: &Case<'_>,
        raddle: &mut dyn Contender,
        peers: &mut [Box<dyn Contender + '_>],
    ) -> Result<(), BenchError> {
        for workers in self.workers.clone() {
            self.compare_on(workers, case, raddle, peers)?;
        }
        Ok(())
    }

    /// Compares on one number of workers.
    ///
    /// # Errors
    /// Those of [`harness::compare`], and those of [`add`](Self::add).
    pub(crate) fn compare_on(
        &mut self,
        workers: usize,
        case: &Case<'_>,
        raddle: &mut dyn Contender,
        peers: &mut [Box<dyn Contender + '_>],
    ) -> Result<(), BenchError> {
        let wanted = Wanted {
            pairs: self.pairs,
            only_near: self.only_near,
        };
        let records = harness::compare(
            case,
            workers,
            wanted,
            raddle,
            peers,
            &self.environment,
            self.warn,
        )?;
        self.add(records)
    }

    /// Emits records and keeps them.
    ///
    /// # Errors
    /// The failure of `emit`.
    pub(crate) fn add(&mut self, records: Vec<Record>) -> Result<(), BenchError> {
        records.iter().try_for_each(|record| (self.emit)(record))?;
        self.records.extend(records);
        Ok(())
    }
}

/// Loads a mesh from the folder of real data.
///
/// # Errors
/// [`BenchError::NoData`] if the file does not exist, [`BenchError::File`] if it cannot be read.
fn load(file: &str) -> Result<Mesh, BenchError> {
    let path = data_folder().join("mesh").join(file);
    check_data(&path)?;
    Ok(Mesh::load(path)?)
}

/// Checks that a file of the real data exists.
///
/// # Errors
/// [`BenchError::NoData`] if it does not.
fn check_data(path: &Path) -> Result<(), BenchError> {
    if path.is_file() {
        return Ok(());
    }
    Err(BenchError::NoData {
        path: path.to_owned(),
    })
}

/// Returns the folder of the real data, or an empty path if `RADDLE_DATA` is not set.
fn data_folder() -> PathBuf {
    std::env::var_os("RADDLE_DATA").map_or_else(PathBuf::new, PathBuf::from)
}
