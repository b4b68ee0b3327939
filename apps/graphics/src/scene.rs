//! Generated scenes, for users without files. They have any number of triangles and are the same on
//! every machine.
//!
//! | name      | contents                                      | purpose                         |
//! |-----------|-----------------------------------------------|---------------------------------|
//! | `flake`   | a sphere with nine smaller spheres, and so on | parts of very different sizes   |
//! | `terrain` | mountains over a square                       | one sheet, at a grazing angle   |
//! | `knot`    | a tube along a torus knot                     | a thin part in a box, overlaps  |
//!
//! All scenes have smooth normals, face outward (anticlockwise), are upright along y, and fit into
//! a box of a few units around the origin. The shape of a scene depends on its seed alone. The
//! number of triangles determines only how finely it is drawn.

mod flake;
mod knot;
mod terrain;

use std::fmt;
use std::str::FromStr;

use glam::Vec3;
use thiserror::Error;

use crate::camera::View;
use crate::memory::{self, NoMemory};
use crate::mesh::Mesh;

#[cfg(test)]
mod tests;

/// The maximum number of triangles of a scene: 2^28.
pub const TRIANGLE_COUNT_MAX: usize = 1 << 28;

/// A scene that can be generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scene {
    /// A sphere flake.
    Flake,
    /// A fractal terrain.
    Terrain,
    /// A torus knot.
    Knot,
}

impl Scene {
    /// All scenes, in the order in which they are listed to the user.
    pub const ALL: [Self; 3] = [Self::Flake, Self::Terrain, Self::Knot];

    /// Returns the name of the scene, as on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Flake => "flake",
            Self::Terrain => "terrain",
            Self::Knot => "knot",
        }
    }

    /// Returns the properties of a camera that suit the scene. Fields that are `None` are best
    /// chosen as for any mesh.
    ///
    /// # Examples
    /// ```
    /// use raddle_graphics::camera::View;
    /// use raddle_graphics::scene::Scene;
    ///
    /// assert_eq!(Scene::Knot.view(), View::default());
    /// assert!(Scene::Terrain.view().eye.is_some());
    /// ```
    #[must_use]
    pub fn view(self) -> View {
        match self {
            Self::Terrain => terrain::view(),
            Self::Flake | Self::Knot => View::default(),
        }
    }

    /// Returns the minimum number of triangles of the scene.
    #[must_use]
    pub fn triangle_count_min(self) -> usize {
        match self {
            Self::Flake => flake::TRIANGLE_COUNT_MIN,
            Self::Terrain => terrain::TRIANGLE_COUNT_MIN,
            Self::Knot => knot::TRIANGLE_COUNT_MIN,
        }
    }
}

impl fmt::Display for Scene {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// The error for a name that no scene has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("scene {name:?}; expected flake, terrain or knot")]
#[non_exhaustive]
pub struct SceneError {
    /// The name.
    pub name: String,
}

impl FromStr for Scene {
    type Err = SceneError;

    /// Finds a scene by its name.
    ///
    /// # Errors
    /// Returns a [`SceneError`] that lists the valid names.
    fn from_str(name: &str) -> Result<Self, SceneError> {
        Self::ALL
            .into_iter()
            .find(|scene| scene.name() == name)
            .ok_or_else(|| SceneError { name: name.into() })
    }
}

/// There is not enough memory for a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("no memory for {bytes} bytes of triangles; expected a scene of fewer")]
#[non_exhaustive]
pub struct OutOfMemory {
    /// The number of bytes that were requested from the system.
    pub bytes: u64,
}

/// Generates a scene of about `triangle_count` triangles, with seed 0.
///
/// # Panics
/// Panics if `triangle_count` is more than [`TRIANGLE_COUNT_MAX`]. If memory is not available, the
/// process is aborted; see [`try_generate`].
///
/// # Examples
/// ```
/// use raddle_graphics::scene::{self, Scene};
///
/// let mesh = scene::generate("knot".parse::<Scene>()?, 10_000);
/// assert!((9_900..=10_000).contains(&mesh.triangles.len()));
/// assert_eq!(mesh.normals.len(), mesh.positions.len());
/// # Ok::<(), raddle_graphics::scene::SceneError>(())
/// ```
#[must_use]
pub fn generate(scene: Scene, triangle_count: usize) -> Mesh {
    generate_with_seed(scene, triangle_count, 0)
}

/// Generates a scene as [`generate`] does, if there is memory for it.
///
/// # Errors
/// Returns [`OutOfMemory`] if 36 bytes per triangle are not available.
///
/// # Panics
/// Panics if `triangle_count` is more than [`TRIANGLE_COUNT_MAX`].
pub fn try_generate(scene: Scene, triangle_count: usize) -> Result<Mesh, OutOfMemory> {
    // A triangle has three indices and half a vertex. A vertex has a position, a normal and
    // temporarily a sum.
    const TRIANGLE_BYTES: u64 = 12 + (12 + 12 + 24) / 2;
    memory::ask_for_each(triangle_count, TRIANGLE_BYTES)
        .map_err(|NoMemory(bytes)| OutOfMemory { bytes })?;
    Ok(generate(scene, triangle_count))
}

/// Generates a scene of about `triangle_count` triangles.
///
/// The mesh never has more than `triangle_count` triangles, except that it has at least
/// [`Scene::triangle_count_min`]. From 1,000 triangles on it has at least 95 % of them, and from
/// 100,000 on at least 99 %. The same arguments give the same mesh. The time is linear in the
/// number of triangles, a few dozen nanoseconds for each.
///
/// # Panics
/// Panics if `triangle_count` is more than [`TRIANGLE_COUNT_MAX`].
#[must_use]
pub fn generate_with_seed(scene: Scene, triangle_count: usize, seed: u64) -> Mesh {
    assert!(
        triangle_count <= TRIANGLE_COUNT_MAX,
        "{triangle_count} triangles are more than {TRIANGLE_COUNT_MAX}"
    );
    let triangle_count = triangle_count.max(scene.triangle_count_min());
    match scene {
        Scene::Flake => flake::generate(triangle_count, seed),
        Scene::Terrain => terrain::generate(triangle_count, seed),
        Scene::Knot => knot::generate(triangle_count, seed),
    }
}

/// Mixes the bits of a number, which gives a random number for every seed and position.
///
/// # Source
/// G. L. Steele, D. Lea, C. H. Flood: Fast Splittable Pseudorandom Number Generators. OOPSLA 2014
/// (the finaliser of SplitMix64).
pub(crate) fn scramble(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Returns a number in [0, 1) for every input.
fn fraction(value: u64) -> f32 {
    (scramble(value) >> 40) as f32 / (1 << 24) as f32
}

/// Appends a rectangular sheet of `rows` × `columns` vertices to `mesh`, with two triangles for
/// each cell.
///
/// A sheet that is closed along an axis has a further row of cells there, from the last vertices
/// back to the first. The triangles face the side from which rows go up and columns go to the
/// right.
fn append_sheet(
    mesh: &mut Mesh,
    [rows, columns]: [usize; 2],
    [closed_rows, closed_columns]: [bool; 2],
    mut vertex: impl FnMut(usize, usize) -> (Vec3, Vec3),
) {
    let first = mesh.positions.len();
    for row in 0..rows {
        for column in 0..columns {
            let (position, normal) = vertex(row, column);
            mesh.positions.push(position);
            mesh.normals.push(normal);
        }
    }
    let number = |row: usize, column: usize| (first + row * columns + column) as u32;
    for row in 0..rows - usize::from(!closed_rows) {
        let above = if row + 1 == rows { 0 } else { row + 1 };
        for column in 0..columns - usize::from(!closed_columns) {
            let right = if column + 1 == columns { 0 } else { column + 1 };
            let (a, b) = (number(row, column), number(row, right));
            let (c, d) = (number(above, column), number(above, right));
            mesh.triangles.push([a, b, d]);
            mesh.triangles.push([a, d, c]);
        }
    }
}
