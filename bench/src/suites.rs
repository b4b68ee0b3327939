//! The suites: which workloads there are and who takes part in each.

pub(crate) mod build;
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
pub(crate) mod nodes;
pub(crate) mod place;
pub(crate) mod pools;
pub(crate) mod rays;
pub(crate) mod sort;
pub(crate) mod waits;
pub(crate) mod wake;

use std::path::{Path, PathBuf};

use raddle_graphics::mesh::Mesh;

use crate::error::BenchError;
use crate::harness::{self, Case, Contender, Wanted};
use crate::peer::{Peer, PeerSource};
use crate::record::{Record, Surroundings};

/// What the caller asked for, and where the answers go.
pub(crate) struct Measurement<'output> {
    /// Only this case, where one is named.
    pub(crate) case: Option<String>,
    /// Pairs a comparison.
    pub(crate) pairs: usize,
    /// The numbers of workers to measure with,
    pub(crate) workers: Vec<usize>,
    /// and whether the caller named them.
    pub(crate) are_workers_asked: bool,
    /// Files with the meshes to measure on; those of real data where there are none.
    pub(crate) meshes: Vec<PathBuf>,
    /// Whether runs count only while the CPUs of two workers are near each other.
    pub(crate) only_near: bool,
    /// The machine and the commit.
    pub(crate) surroundings: Surroundings,
    /// Takes each record as it comes; where it cannot, nothing more is measured.
    pub(crate) emit: &'output mut dyn FnMut(&Record) -> Result<(), BenchError>,
    /// All records so far.
    pub(crate) records: Vec<Record>,
    /// Takes what a person should know beside the figures.
    pub(crate) warn: &'output mut dyn FnMut(String),
}

impl Measurement<'_> {
    /// Whether the case of that name is wanted.
    pub(crate) fn wants(&self, case: &str) -> bool {
        self.case.as_deref().is_none_or(|only| only == case)
    }

    /// Starts a C++ peer for the contenders' list; one that cannot be had is named and left out.
    pub(crate) fn peer(&mut self, source: PeerSource) -> Option<Box<dyn Contender>> {
        match Peer::start(source) {
            Ok(peer) => Some(Box::new(peer)),
            Err(failure) => {
                (self.warn)(failure.to_string());
                None
            }
        }
    }

    /// Compares at every number of workers.
    ///
    /// # Errors
    /// As [`harness::compare`], and as [`add`](Self::add).
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

    /// Compares at one number of workers.
    ///
    /// # Errors
    /// As [`harness::compare`], and as [`add`](Self::add).
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
            &self.surroundings,
            self.warn,
        )?;
        self.add(records)
    }

    /// Tells of records, and keeps them.
    ///
    /// # Errors
    /// What kept it from telling.
    pub(crate) fn add(&mut self, records: Vec<Record>) -> Result<(), BenchError> {
        records.iter().try_for_each(|record| (self.emit)(record))?;
        self.records.extend(records);
        Ok(())
    }
}

/// Loads a mesh from the folder of real data.
///
/// # Errors
/// [`BenchError::NoData`] when it is not there, [`BenchError::Mesh`] when it cannot be read.
fn load(file: &str) -> Result<Mesh, BenchError> {
    let path = data_folder().join("mesh").join(file);
    check_data(&path)?;
    Ok(Mesh::load(path)?)
}

/// Finds out whether there is a file where real data should be.
///
/// # Errors
/// [`BenchError::NoData`] when there is none.
fn check_data(path: &Path) -> Result<(), BenchError> {
    if path.is_file() {
        return Ok(());
    }
    Err(BenchError::NoData {
        path: path.to_owned(),
    })
}

/// The folder of real data; an empty path where nobody has said which it is.
fn data_folder() -> PathBuf {
    std::env::var_os("RADDLE_DATA").map_or_else(PathBuf::new, PathBuf::from)
}
