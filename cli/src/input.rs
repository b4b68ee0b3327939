//! Where triangles come from: a file or a generated scene.

use glam::{DVec3, Vec3};
use raddle_graphics::mesh::{LoadOptions, Mesh};
use raddle_graphics::scene;
use serde_json::{Map, Value, json};

use crate::arguments::InputArguments;
use crate::arguments::values::SceneChoice;
use crate::error::CliError;
use crate::output;
use crate::progress::Phase;
use crate::table::{self, Table};

/// A mesh and how it came to be.
#[derive(Debug)]
pub(crate) struct Input {
    /// The triangles.
    pub(crate) mesh: Mesh,
    /// The file or the scene, for messages.
    pub(crate) name: String,
    /// Which way is up in files of its format.
    pub(crate) up: Option<Vec3>,
    /// The point of the file that is the origin of the mesh; see [`MeshReport::offset`].
    pub(crate) offset: DVec3,
    /// What a person reads about it.
    rows: Vec<(&'static str, String)>,
    /// What a program reads about it.
    pub(crate) json: Value,
}

impl Input {
    /// Loads the file or generates the scene that the arguments name.
    ///
    /// # Errors
    /// [`CliError::Mesh`] names the file and the place in it, [`CliError::Scene`] a scene too large for memory.
    pub(crate) fn get(arguments: &InputArguments, quiet: bool) -> Result<Self, CliError> {
        match (&arguments.file, arguments.scene) {
            (Some(path), _) => Self::load(path, quiet),
            (None, Some(choice)) => Self::generate(choice, quiet),
            (None, None) => unreachable!("the command line demands one of them"),
        }
    }

    fn generate(choice: SceneChoice, quiet: bool) -> Result<Self, CliError> {
        let name = format!("{}:{}", choice.scene, choice.triangle_count);
        let phase = Phase::begin("generating", quiet);
        let generated = scene::try_generate(choice.scene, choice.triangle_count);
        let time = phase.elapsed();
        drop(phase);
        let mesh = generated.map_err(|source| CliError::Scene {
            input: name.clone(),
            source,
        })?;
        Ok(Self {
            rows: vec![
                ("scene", format!("{} (generated)", choice.scene)),
                ("triangles", table::grouped(mesh.triangles.len())),
                ("vertices", table::grouped(mesh.positions.len())),
                ("generated in", table::time(time)),
            ],
            json: json!({
                "scene": choice.scene.to_string(),
                "triangles": mesh.triangles.len(),
                "vertices": mesh.positions.len(),
                "load_s": time.as_secs_f64(),
            }),
            name,
            up: None,
            offset: DVec3::ZERO,
            mesh,
        })
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
        let mut rows = vec![
            ("file", path.display().to_string()),
            (
                "format",
                format!(
                    "{}, compression {}, {}",
                    report.format,
                    report.compression,
                    table::bytes(report.file_bytes)
                ),
            ),
            ("triangles", table::grouped(report.triangle_count)),
            ("vertices", table::grouped(report.vertex_count)),
        ];
        if report.degenerate_count > 0 {
            rows.push(("of zero area", table::grouped(report.degenerate_count)));
        }
        if report.offset != DVec3::ZERO {
            rows.push(("offset", coordinates(report.offset)));
        }
        rows.push(("loaded in", table::time(time)));
        if !report.ignored.is_empty() && !quiet {
            output::warn(&format!("{}: {}", one_line(path), report.ignored));
        }
        let ignored: Map<String, Value> = report
            .ignored
            .counts()
            .into_iter()
            .map(|(name, count)| (name.to_owned(), json!(count)))
            .collect();
        Ok(Self {
            rows,
            up: Some(report.format.up()),
            offset: report.offset,
            name: path.display().to_string(),
            json: json!({
                "file": path.display().to_string(),
                "format": report.format.to_string(),
                "compression": report.compression.to_string(),
                "file_bytes": report.file_bytes,
                "triangles": report.triangle_count,
                "vertices": report.vertex_count,
                "degenerate_triangles": report.degenerate_count,
                "polygons": report.polygon_count,
                "ignored": ignored,
                "offset": report.offset.to_array(),
                "load_s": time.as_secs_f64(),
            }),
            mesh: loaded.mesh,
        })
    }

    /// Adds to a table what a person wants to know.
    pub(crate) fn describe(&self, table: &mut Table) {
        for (name, value) in &self.rows {
            table.row(name, value.clone());
        }
    }
}

/// Three numbers as options take them, with the digits that tell points of the mesh apart.
pub(crate) fn coordinates(point: DVec3) -> String {
    let [x, y, z] = point.to_array();
    format!("{x:.4},{y:.4},{z:.4}")
}

/// A path on one line, whatever characters it has.
fn one_line(path: &std::path::Path) -> String {
    let is_control = |character: char| character.is_control();
    path.display().to_string().replace(is_control, " ")
}
