//! `raddle isosurface --extract`: writes the surfaces as one mesh.

use std::io::{BufWriter, IntoInnerError};
use std::path::Path;

use glam::Vec3;
use raddle_graphics::mesh::{COORDINATE_MAX, Mesh, PlyOptions, Presentation};
use raddle_graphics::volume::isosurface::{self, IsosurfaceError};
use raddle_trace::whole_file::WholeFile;

use super::IsosurfaceArguments;
use crate::arguments::Options;
use crate::error::CliError;
use crate::output;
use crate::progress::Phase;
use crate::report::{Count, Report};
use crate::volume_input::VolumeInput;

/// Creates the file for the mesh, before any work is done.
pub(super) fn begin(
    arguments: &IsosurfaceArguments,
) -> Result<Option<(WholeFile, &Path)>, CliError> {
    let Some(path) = &arguments.extract else {
        return Ok(None);
    };
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    if extension != "ply" {
        return Err(CliError::WrongCall {
            options: format!("--extract {}", path.display()),
            reason: "expected a name that ends in .ply".to_owned(),
        });
    }
    Ok(Some((output::begin_file(path)?, path)))
}

/// Extracts the surfaces as one mesh.
pub(super) fn extract(
    input: &VolumeInput,
    arguments: &IsosurfaceArguments,
    (file, path): (WholeFile, &Path),
    options: &Options,
    report: &mut Report,
) -> Result<(), CliError> {
    let corners = input.corners().map(|corner| corner.abs().max_element());
    let found = corners[0].max(corners[1]);
    if found > f64::from(COORDINATE_MAX) {
        let input = input.name.clone();
        return Err(CliError::FarSurface { input, found });
    }
    let phase = Phase::begin("extracting", options.quiet);
    let mut mesh = Mesh::default();
    let mut comments = vec!["surfaces of equal value in a volume, by raddle".to_owned()];
    let clip = arguments.view.frame(input.offset, None).clip;
    let failed = |source| match source {
        IsosurfaceError::OutOfMemory { .. } | IsosurfaceError::Vertices => CliError::Surface {
            input: input.name.clone(),
            source,
        },
        source => arguments.surfaces.refused(source, &arguments.view),
    };
    for &isovalue in &arguments.surfaces.iso {
        let more = isosurface::extract(&input.volume, &input.macrocells, isovalue);
        let more = more.map_err(failed)?;
        let more = match clip {
            Some(clip) => more.clipped(clip),
            None => more,
        };
        let first_face = mesh.triangles.len();
        append(&mut mesh, more).map_err(failed)?;
        let end = mesh.triangles.len();
        comments.push(format!(
            "isovalue {isovalue}: faces {first_face} to {end}, without the last"
        ));
    }
    if mesh.triangles.is_empty() {
        return Err(CliError::NoSurface {
            input: input.name.clone(),
            reason: arguments
                .surfaces
                .reason_for_nothing(input.macrocells.range(), "volume"),
        });
    }
    let ply = PlyOptions {
        offset: input.offset,
        presentation: Presentation {
            up: Some(arguments.view.up.unwrap_or(Vec3::Z)),
            is_object: true,
        },
        comments,
    };
    let time = phase.elapsed();
    drop(phase);
    let phase = Phase::begin("writing", options.quiet);
    let mut writer = BufWriter::new(file);
    let written = mesh.write_ply(&mut writer, &ply);
    let written = written.and_then(|()| writer.into_inner().map_err(IntoInnerError::into_error));
    output::finish_file(written, path)?;
    drop(phase);
    report
        .quantity("extracted in", "extract_s", &time)
        .quantity("triangles", "triangles", &Count(mesh.triangles.len()))
        .quantity("vertices", "vertices", &Count(mesh.positions.len()))
        .row("mesh", path.display().to_string())
        .field("mesh", path.display().to_string());
    Ok(())
}

/// Appends the mesh of another surface.
fn append(mesh: &mut Mesh, more: Mesh) -> Result<(), IsosurfaceError> {
    if mesh.triangles.is_empty() {
        // The usual case: a single surface, which may take a large part of the memory.
        *mesh = more;
        return Ok(());
    }
    let first = mesh.positions.len();
    u32::try_from(first + more.positions.len()).map_err(|_| IsosurfaceError::Vertices)?;
    let bytes = (24 * more.positions.len() + 12 * more.triangles.len()) as u64;
    let reserved = mesh.positions.try_reserve(more.positions.len());
    let reserved = reserved.and_then(|()| mesh.normals.try_reserve(more.normals.len()));
    let reserved = reserved.and_then(|()| mesh.triangles.try_reserve(more.triangles.len()));
    reserved.map_err(|_| IsosurfaceError::OutOfMemory { bytes })?;
    mesh.positions.extend(more.positions);
    mesh.normals.extend(more.normals);
    let moved = |corners: [u32; 3]| corners.map(|corner| corner + first as u32);
    mesh.triangles.extend(more.triangles.into_iter().map(moved));
    Ok(())
}
