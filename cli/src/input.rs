//! The input of the commands that need triangles: a file or a generated scene.

use std::time::Duration;

use glam::{DVec3, Vec3};
use raddle_graphics::camera::Setting;
use raddle_graphics::kdtree::{KdTree, Parameters};
use raddle_graphics::mesh::{LoadOptions, Mesh, MeshReport};
use raddle_graphics::scene;
use serde_json::{Map, Value, json};

use crate::arguments::InputArguments;
use crate::arguments::values::SceneChoice;
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::{Count, Facts, Plain};
use crate::{output, slow_tree, units};

/// A mesh and facts about its origin.
#[derive(Debug)]
pub(crate) struct Input {
    /// The triangles.
    pub(crate) mesh: Mesh,
    /// The file or the scene, for messages.
    pub(crate) name: String,
    /// The direction that is up in the file; `None` for a scene.
    pub(crate) up: Option<Vec3>,
    /// The kind of scene, if the file says it.
    pub(crate) setting: Option<Setting>,
    /// The point of the file that is the origin of the mesh.
    pub(crate) offset: DVec3,
    /// The section `input` of a report.
    pub(crate) facts: Facts,
}

impl Input {
    /// Loads the file or generates the scene that the arguments name.
    ///
    /// # Errors
    /// [`CliError::File`] names the file and the place in it, [`CliError::Scene`] a scene that is
    /// too large for the memory.
    pub(crate) fn get(arguments: &InputArguments, quiet: bool) -> Result<Self, CliError> {
        match (&arguments.file, arguments.scene) {
            (Some(path), _) => Self::load(path, quiet),
            (None, Some(choice)) => Self::generate(choice, quiet),
            (None, None) => unreachable!("the command line requires one of them"),
        }
    }

    fn generate(choice: SceneChoice, quiet: bool) -> Result<Self, CliError> {
        let name = choice.to_string();
        let phase = Phase::begin("generating", quiet);
        let generated = scene::try_generate(choice.scene, choice.triangle_count);
        let time = phase.elapsed();
        drop(phase);
        let mesh = generated.map_err(|source| CliError::Scene {
            input: name.clone(),
            source,
        })?;
        let (triangles, vertices) = (mesh.triangles.len(), mesh.positions.len());
        let mut facts = Facts::new();
        facts
            .row("scene", format!("{} (generated)", choice.scene))
            .field("scene", choice.scene.to_string())
            .quantity("triangles", "triangles", &Count(triangles))
            .quantity("vertices", "vertices", &Count(vertices))
            .quantity("generated in", "load_s", &time);
        Ok(Self {
            mesh,
            name,
            up: None,
            setting: None,
            offset: DVec3::ZERO,
            facts,
        })
    }

    /// Builds the kd-tree of the mesh, and returns it with the time that this took. Warns if rays
    /// will be slow.
    ///
    /// # Errors
    /// [`CliError::Tree`].
    pub(crate) fn tree(&self, quiet: bool) -> Result<(KdTree, Duration), CliError> {
        let phase = Phase::begin("building", quiet);
        let built = KdTree::build_with(&self.mesh, &Parameters::default(), |share| {
            phase.at_share(share);
        });
        let time = phase.elapsed();
        drop(phase);
        let tree = built.map_err(|source| CliError::Tree {
            input: self.name.clone(),
            source,
        })?;
        slow_tree::warn(&self.name, tree.tests_per_ray(), quiet);
        Ok((tree, time))
    }

    fn load(path: &std::path::Path, quiet: bool) -> Result<Self, CliError> {
        let phase = Phase::begin("loading", quiet);
        let loaded = Mesh::load_with(path, &LoadOptions::default(), |progress| {
            if let Some(total) = progress.bytes_total {
                phase.at(progress.bytes_read, total);
            }
        })?;
        let time = phase.elapsed();
        drop(phase);
        let report = loaded.report;
        if !report.ignored.is_empty() && !quiet {
            output::warn(&format!("{}: {}", one_line(path), report.ignored));
        }
        Ok(Self {
            mesh: loaded.mesh,
            name: path.display().to_string(),
            up: Some(report.up()),
            setting: report.presentation.is_object.then_some(Setting::Object),
            offset: report.offset,
            facts: facts_of(path, &report, time),
        })
    }
}

/// Describes a mesh that was loaded from a file. A row that would say nothing is left out; the
/// JSON has all fields.
fn facts_of(path: &std::path::Path, report: &MeshReport, time: Duration) -> Facts {
    let file = path.display().to_string();
    let format = format!(
        "{}, compression {}, {}",
        report.format,
        report.compression,
        units::bytes(report.file_bytes)
    );
    let counts = report.ignored.counts().into_iter();
    let ignored: Map<String, Value> = counts
        .map(|(name, count)| (name.to_owned(), json!(count)))
        .collect();
    let mut facts = Facts::new();
    facts
        .quantity("file", "file", &Plain(file))
        .row("format", format)
        .field("format", report.format.to_string())
        .field("compression", report.compression.to_string())
        .field("file_bytes", report.file_bytes)
        .quantity("triangles", "triangles", &Count(report.triangle_count))
        .quantity("vertices", "vertices", &Count(report.vertex_count))
        .field("polygons", report.polygon_count)
        .field("ignored", ignored)
        .field("degenerate_triangles", report.degenerate_count)
        .field("offset", report.offset.to_array());
    if report.degenerate_count > 0 {
        facts.row(
            "zero-area triangles",
            units::grouped(report.degenerate_count),
        );
    }
    if report.offset != DVec3::ZERO {
        facts.row("offset", coordinates(report.offset));
    }
    facts.quantity("loaded in", "load_s", &time);
    facts
}

/// Formats three coordinates as the value of an option, with the digits that an `f32` has.
pub(crate) fn coordinates(point: DVec3) -> String {
    let magnitude = point.abs().max_element();
    let decimals = match magnitude > 0.0 {
        true => (6 - magnitude.log10().floor() as i32).clamp(4, 300),
        false => 4,
    };
    let [x, y, z] = point.to_array();
    let decimals = decimals as usize;
    format!("{x:.decimals$},{y:.decimals$},{z:.decimals$}")
}

/// Returns a path as text, with control characters replaced by spaces so that it stays on one line.
fn one_line(path: &std::path::Path) -> String {
    let is_control = |character: char| character.is_control();
    path.display().to_string().replace(is_control, " ")
}
