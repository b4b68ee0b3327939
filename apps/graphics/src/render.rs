//! Renders pictures of meshes: rays through every pixel, two lights, and one task per tile.
//!
//! Tiles are independent tasks, and the samples of a pixel depend only on its position. So the
//! picture does not depend on the number of workers, to the last bit.

use std::time::{Duration, Instant};

use glam::Vec3;

use crate::camera::{Camera, CameraError, Setting, View};
use crate::kdtree::KdTree;
use crate::memory;
use crate::mesh::Mesh;
use crate::picture::{Picture, black};

mod light;
mod normals;
mod shade;
#[cfg(test)]
mod tests;
mod tile;

use light::Lights;
use normals::CornerNormals;
use shade::Shader;
use tile::{Tile, tiles_of};

/// The maximum width and height of a picture.
pub const SIZE_MAX: u32 = 1 << 16;
/// The maximum number of samples per pixel.
pub const SAMPLES_MAX: u32 = 1 << 16;

/// The options of a rendering.
///
/// # Examples
/// ```
/// use raddle_graphics::render::RenderOptions;
///
/// let options = RenderOptions { size: (320, 200), ..RenderOptions::default() };
/// assert_eq!(options.samples, 4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RenderOptions {
    /// Width and height in pixels, each from 1 to [`SIZE_MAX`].
    pub size: (u32, u32),
    /// The number of rays per pixel, from 1 to [`SAMPLES_MAX`].
    pub samples: u32,
    /// The requested properties of the camera. The others are chosen to suit the mesh.
    pub view: View,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            size: (1024, 1024),
            samples: 4,
            view: View::default(),
        }
    }
}

/// The reasons why a picture cannot be rendered.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The camera cannot be set up.
    #[error(transparent)]
    Camera(#[from] CameraError),
    /// The picture has no pixels, or is too large.
    #[error("a picture of {0} × {1} pixels; expected 1 to {SIZE_MAX} each way")]
    Size(u32, u32),
    /// The number of samples is zero or too large.
    #[error("{0} samples per pixel; expected 1 to {SAMPLES_MAX}")]
    Samples(u32),
    /// There is not enough memory for the picture, or for the normals of a mesh without normals.
    #[error(
        "no memory for {bytes} bytes of pixels and normals; expected a smaller picture or mesh"
    )]
    OutOfMemory {
        /// The number of bytes that were requested from the system.
        bytes: u64,
    },
    /// The tree was built over another mesh.
    #[error(
        "a tree over triangle {triangle} of a mesh with {count}; expected the tree of the mesh"
    )]
    OtherMesh {
        /// A triangle of the tree.
        triangle: usize,
        /// The number of triangles of the mesh.
        count: usize,
    },
}

/// A picture and a report on rendering it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rendering {
    /// The picture.
    pub picture: Picture,
    /// The report.
    pub report: RenderReport,
}

/// A report on a rendering.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RenderReport {
    /// The camera of the picture.
    pub camera: Camera,
    /// The kind of scene that the mesh was classified as.
    pub setting: Setting,
    /// The number of rays from the camera.
    pub rays_primary: u64,
    /// The number of rays from the camera that hit the mesh.
    pub rays_hit: u64,
    /// The number of rays towards the light.
    pub rays_shadow: u64,
    /// The number of tiles, each of which is a task.
    pub tile_count: usize,
    /// The time spent on choosing camera and light and on computing the normals.
    pub time_prepare: Duration,
    /// The time spent on following the rays.
    pub time_trace: Duration,
}

impl RenderReport {
    /// Returns the number of rays of all kinds.
    #[must_use]
    pub fn rays(&self) -> u64 {
        self.rays_primary + self.rays_shadow
    }

    /// Returns the number of rays of all kinds per second of tracing, including shading.
    #[must_use]
    pub fn rays_per_second(&self) -> f64 {
        self.rays() as f64 / self.time_trace.as_secs_f64().max(1e-9)
    }
}

/// A finished tile, as reported to the progress callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TileDone {
    /// The number of the tile, from 0.
    pub tile: usize,
    /// The number of tiles.
    pub tile_count: usize,
}

/// Counts of rays, added up over the tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct RayCounts {
    primary: u64,
    hit: u64,
    shadow: u64,
}

/// Renders a mesh with all workers of the runtime.
///
/// `tree` must be the tree of `mesh`. `on_tile` is called for every finished tile, in any order and
/// on any worker. The picture depends only on mesh, tree and options.
///
/// # Errors
/// Returns a [`RenderError`] if the size, the number of samples or the camera is out of range, or
/// if there is not enough memory for the picture.
///
/// # Examples
/// ```
/// use glam::Vec3;
/// use raddle_graphics::kdtree::{KdTree, Parameters};
/// use raddle_graphics::mesh::Mesh;
/// use raddle_graphics::render::{RenderOptions, render};
///
/// let mesh = Mesh {
///     positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
///     normals: Vec::new(),
///     triangles: vec![[0, 1, 2]],
/// };
/// let tree = KdTree::build(&mesh, &Parameters::default())?;
/// let options = RenderOptions { size: (64, 48), ..RenderOptions::default() };
/// let rendering = render(&mesh, &tree, &options, |_| ())?;
/// assert_eq!(rendering.report.rays_primary, 64 * 48 * 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn render(
    mesh: &Mesh,
    tree: &KdTree,
    options: &RenderOptions,
    on_tile: impl Fn(TileDone) + Sync,
) -> Result<Rendering, RenderError> {
    check(mesh, tree, options)?;
    let start = Instant::now();
    // Allocate all memory before following the rays, so that a lack of memory is detected before
    // the work.
    let (mut picture, mut pixels) = memory_for(mesh, options.size)?;
    let (camera, setting) = options.view.camera(mesh, tree, options.size)?;
    let normals = CornerNormals::of(mesh, tree.bounds());
    let shader = Shader {
        mesh,
        tree,
        normals: &normals,
        lights: Lights::choose(tree, &camera, setting, options.view.up()),
        camera: &camera,
        size: options.size,
    };
    let time_prepare = start.elapsed();

    let start = Instant::now();
    let mut tiles = tiles_of(options.size, &mut pixels);
    let tile_count = tiles.len();
    raddle::for_each_mut(&mut tiles, |index, tile: &mut Tile<'_>| {
        tile.render(&shader, options.samples);
        on_tile(TileDone {
            tile: index,
            tile_count,
        });
    });
    let mut counts = RayCounts::default();
    for tile in &tiles {
        tile.copy_to(&mut picture);
        counts.primary += tile.counts.primary;
        counts.hit += tile.counts.hit;
        counts.shadow += tile.counts.shadow;
    }
    let report = RenderReport {
        camera,
        setting,
        rays_primary: counts.primary,
        rays_hit: counts.hit,
        rays_shadow: counts.shadow,
        tile_count,
        time_prepare,
        time_trace: start.elapsed(),
    };
    Ok(Rendering { picture, report })
}

/// Allocates a picture, and the same number of pixels again for the tiles. Also checks that there
/// is memory for the normals.
fn memory_for(
    mesh: &Mesh,
    (width, height): (u32, u32),
) -> Result<(Picture, Vec<[f32; 3]>), RenderError> {
    let len = u64::from(width) * u64::from(height);
    // The picture and the tiles both take three floats per pixel.
    let pixel_bytes = 2 * len * size_of::<[f32; 3]>() as u64;
    let normal_bytes = CornerNormals::bytes_for(mesh);
    let both = Picture::try_new(width, height).and_then(|picture| {
        let pixels = black(len)?;
        memory::ask(normal_bytes)?;
        Ok((picture, pixels))
    });
    both.map_err(|_| RenderError::OutOfMemory {
        bytes: pixel_bytes + normal_bytes,
    })
}

fn check(mesh: &Mesh, tree: &KdTree, options: &RenderOptions) -> Result<(), RenderError> {
    let (width, height) = options.size;
    if !(1..=SIZE_MAX).contains(&width) || !(1..=SIZE_MAX).contains(&height) {
        return Err(RenderError::Size(width, height));
    }
    if !(1..=SAMPLES_MAX).contains(&options.samples) {
        return Err(RenderError::Samples(options.samples));
    }
    match tree.triangle_highest() {
        Some(triangle) if triangle >= mesh.triangles.len() => Err(RenderError::OtherMesh {
            triangle,
            count: mesh.triangles.len(),
        }),
        _ => Ok(()),
    }
}

/// Mixes two colours.
fn mix(from: Vec3, to: Vec3, share: f32) -> Vec3 {
    from + share * (to - from)
}
