//! Pictures of a whole turn about a volume, and their files.

use std::ops::Range;
use std::path::{Path, PathBuf};

use glam::{DQuat, DVec3, Vec3};
use raddle_graphics::camera::{CameraError, View};
use raddle_graphics::volume::Grid;

use crate::error::CliError;

/// The maximum number of pictures.
pub(super) const FRAMES_MAX: u32 = 100_000;

/// Returns the number of pictures of a turn that `--frames` asks for; 1 if it is not given.
///
/// # Errors
/// [`CliError::WrongCall`] if it is not a number, or out of range.
pub(super) fn frame_count(frames: Option<&str>) -> Result<u32, CliError> {
    let Some(text) = frames else {
        return Ok(1);
    };
    let count = text.parse().ok();
    let count = count.filter(|count| (1..=FRAMES_MAX).contains(count));
    count.ok_or_else(|| CliError::WrongCall {
        options: format!("--frames {text}"),
        reason: format!("expected a number of pictures from 1 to {FRAMES_MAX}"),
    })
}

/// Returns the paths of pictures with these numbers: `a-007.png` for `a.png`; only the path itself
/// if there is one picture.
pub(super) fn numbered(path: &Path, numbers: Range<u32>) -> Vec<PathBuf> {
    if numbers.len() == 1 {
        return vec![path.to_path_buf()];
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    numbers
        .map(|number| path.with_file_name(format!("{stem}-{number:03}.{extension}")))
        .collect()
}

/// Turns the eye about the axis that is up, by an angle in turns.
///
/// # Errors
/// A [`CameraError`] if the view itself is not possible.
pub(super) fn turned(view: &View, grid: &Grid, turns: f64) -> Result<View, CameraError> {
    if turns == 0.0 {
        return Ok(*view);
    }
    let eye = grid.camera(view)?.eye();
    let at = view.look_at.unwrap_or(grid.bounds().center());
    let up = view.up.unwrap_or(Vec3::Z).as_dvec3();
    let angle = std::f64::consts::TAU * turns;
    let turn = DQuat::from_axis_angle(up.normalize_or(DVec3::Z), angle);
    let eye = at.as_dvec3() + turn * (eye - at).as_dvec3();
    Ok(View {
        eye: Some(eye.as_vec3()),
        ..*view
    })
}
