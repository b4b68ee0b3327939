//! The input of the builds: meshes by name, prepared once, and the expected tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use raddle_graphics::kdtree::{DepthLimit, KdTree, Parameters, Prepared};
use raddle_graphics::mesh::Mesh;

use super::failure;
use crate::error::BenchError;
use crate::harness::{Case, Sample, Unit};
use crate::parkd;
use crate::suites::{self, Measurement};

/// Short names for the meshes of the real data. Other meshes have the names of their files.
const NAMES: [(&str, &str); 6] = [
    ("stanford_bunny_69k", "bunny"),
    ("stanford_dragon_871k", "dragon"),
    ("stanford_dragon_res2", "dragon-res2"),
    ("sponza_atrium_66k", "sponza"),
    ("splash2_car", "car"),
    ("cyberware_horse", "horse"),
];

/// A file with a mesh, and the name of the mesh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) name: String,
    path: PathBuf,
    /// True if the caller has named the file. Otherwise it is in the folder of the real data.
    is_named: bool,
}

impl Source {
    /// Returns the meshes that the caller named or, without any, those of the real data.
    ///
    /// # Errors
    /// [`BenchError::NoData`] if there are none.
    pub(super) fn of_figures(measurement: &Measurement<'_>) -> Result<Vec<Self>, BenchError> {
        if !measurement.meshes.is_empty() {
            return Ok(Self::all(&measurement.meshes, true));
        }
        let folder = suites::data_folder().join("mesh");
        let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.to_string_lossy().ends_with(".ply.zst"))
            .collect();
        paths.sort();
        if paths.is_empty() {
            let path = folder.join("*.ply.zst");
            return Err(BenchError::NoData { path });
        }
        Ok(Self::all(&paths, false))
    }

    /// Returns the mesh of that name in the folder of the real data.
    pub(super) fn of_data(name: &str) -> Self {
        let file = NAMES
            .iter()
            .find(|(_, short)| *short == name)
            .map_or(name, |(file, _)| file);
        let path = suites::data_folder().join("mesh");
        Self {
            name: name.to_owned(),
            path: path.join(format!("{file}.ply.zst")),
            is_named: false,
        }
    }

    /// Gives each file a name. Further files with the same name get a number.
    pub(super) fn all(paths: &[PathBuf], is_named: bool) -> Vec<Self> {
        let mut sources: Vec<Self> = Vec::new();
        for path in paths {
            let short = name_of(path);
            let is_taken = |name: &str| sources.iter().any(|source| source.name == name);
            let numbered = (2..).map(|number| format!("{short}-{number}"));
            let name = std::iter::once(short.clone())
                .chain(numbered)
                .find(|name| !is_taken(name))
                .unwrap_or(short);
            sources.push(Self {
                name,
                path: path.clone(),
                is_named,
            });
        }
        sources
    }

    /// Reads the mesh and prepares it.
    ///
    /// # Errors
    /// [`BenchError::File`] if it cannot be read, [`BenchError::NoData`] if it belongs to the real
    /// data and does not exist.
    pub(super) fn load(&self) -> Result<Input, BenchError> {
        if !self.is_named {
            suites::check_data(&self.path)?;
        }
        Input::new(&self.name, Mesh::load(&self.path)?)
    }

    /// Checks that the mesh exists. A mesh that the caller named is also read, unless it can be
    /// read only once (a pipe).
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    pub(super) fn check(&self) -> Result<(), BenchError> {
        if !self.is_named {
            return suites::check_data(&self.path);
        }
        let data = fs::metadata(&self.path);
        if data.is_ok_and(|data| !data.is_file() && !data.is_dir()) {
            return Ok(());
        }
        Mesh::load(&self.path)?;
        Ok(())
    }
}

/// Returns a mesh's short name, or the name of its file up to the first dot. It contains no slash:
/// in the name of a case, a slash precedes a number.
fn name_of(path: &Path) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = file.split('.').next().unwrap_or_default();
    NAMES
        .iter()
        .find(|(file, _)| *file == stem)
        .map_or(stem, |(_, short)| short)
        .to_owned()
}

/// A mesh, and the prepared input of all its builds.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) mesh: Mesh,
    prepared: Prepared,
    /// The prepared input of the peer on rayon, created on first use.
    prepared_for_rayon: OnceLock<parkd::Prepared>,
}

impl Input {
    pub(super) fn new(name: &str, mesh: Mesh) -> Result<Self, BenchError> {
        let prepared = Prepared::sequential(&mesh).map_err(|error| failure(name, &error))?;
        Ok(Self {
            name: name.to_owned(),
            mesh,
            prepared,
            prepared_for_rayon: OnceLock::new(),
        })
    }

    /// Returns the input that a build of the peer on rayon consumes. On first use, it is created
    /// with all threads of the current pool.
    pub(super) fn prepared_for_rayon(&self) -> parkd::Prepared {
        self.prepared_for_rayon
            .get_or_init(|| parkd::prepare(&self.mesh))
            .clone()
    }
}

/// A mesh, and the depth of the trees to build.
#[derive(Debug)]
pub(super) struct Subject<'input> {
    pub(super) input: &'input Input,
    pub(super) depth: u32,
    pub(super) parameters: Parameters,
    /// The tree of the sequential builder.
    reference: KdTree,
}

impl<'input> Subject<'input> {
    pub(super) fn new(input: &'input Input, depth: u32) -> Result<Self, BenchError> {
        let parameters = Parameters {
            depth_limit: DepthLimit::At(depth),
            ..Parameters::default()
        };
        let prepared = input.prepared.clone();
        let reference = KdTree::from_prepared_sequential(prepared, &parameters, |_| ())
            .map_err(|error| failure("serial", &error))?;
        Ok(Self {
            input,
            depth,
            parameters,
            reference,
        })
    }

    /// Returns the input that a build consumes.
    pub(super) fn prepared(&self) -> Prepared {
        self.input.prepared.clone()
    }

    /// Calls `look` with the expected tree.
    pub(super) fn of_reference<T>(&self, look: impl FnOnce(&KdTree) -> T) -> T {
        look(&self.reference)
    }

    /// Returns the number of triangles of the mesh, which is the result of a correct build.
    pub(super) fn triangle_count(&self) -> u64 {
        self.input.prepared.triangle_count() as u64
    }

    /// Returns the sample of a build if its tree is correct.
    ///
    /// # Errors
    /// [`BenchError::Contender`] if it is not.
    pub(super) fn sample(
        &self,
        contender: &str,
        time: Duration,
        is_right: impl FnOnce(&KdTree) -> bool,
    ) -> Result<Sample, BenchError> {
        if !is_right(&self.reference) {
            return Err(BenchError::Contender {
                contender: contender.to_owned(),
                message: format!(
                    "its tree of {} down to depth {} is not the sequential one",
                    self.input.name, self.depth
                ),
            });
        }
        Ok(Sample {
            time,
            result: self.triangle_count(),
        })
    }

    /// Returns the name of a figure's case.
    pub(super) fn case_name(&self, figure: &str) -> String {
        format!("{figure}-{}-d{}", self.input.name, self.depth)
    }

    /// Returns the case of that name, in milliseconds per build.
    pub(super) fn case<'case>(&self, name: &'case str) -> Case<'case> {
        Case {
            suite: "kdtree",
            name,
            unit: Unit::Milliseconds,
            repetitions: 1,
            file: None,
            expected: self.triangle_count(),
            tolerance: 0,
        }
    }
}

/// The parts of the name of a figure's case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name<'case> {
    pub(super) figure: &'case str,
    pub(super) mesh: &'case str,
    pub(super) depth: u32,
}

impl<'case> Name<'case> {
    /// Parses the name of a case, up to a slash. Returns `None` if it is no figure's case.
    pub(super) fn parse(case: &'case str) -> Option<Self> {
        let name = case.split('/').next().unwrap_or(case);
        let (figure_and_mesh, depth) = name.rsplit_once("-d")?;
        let (figure, mesh) = figure_and_mesh.split_once('-')?;
        Some(Self {
            figure,
            mesh,
            depth: depth.parse().ok()?,
        })
    }
}
