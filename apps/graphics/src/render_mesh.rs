//! Renders pictures of meshes: an [`Integrator`] with two lights and shadows.
//!
//! The picture does not depend on the number of workers, to the last bit.

use std::ops::AddAssign;
use std::time::{Duration, Instant};

use crate::camera::{Camera, CameraError, Setting, View};
use crate::kdtree::KdTree;
use crate::memory;
use crate::mesh::Mesh;
use crate::picture::Picture;
use crate::render::{self, FrameError, FrameOptions, Integrator, Proceed, Sample, TileDone};

mod light;
mod normals;
mod shade;
#[cfg(test)]
mod tests;

use normals::CornerNormals;
use shade::Shader;

/// The options of a rendering.
///
/// # Examples
/// ```
/// use raddle_graphics::render::FrameOptions;
/// use raddle_graphics::render_mesh::RenderOptions;
///
/// let frame = FrameOptions { size: (320, 200), samples: 4, ..FrameOptions::default() };
/// let options = RenderOptions { frame, ..RenderOptions::default() };
/// assert_eq!(options.view, Default::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RenderOptions {
    /// The requested properties of the camera. The others are chosen to suit the mesh.
    pub view: View,
    /// The picture.
    pub frame: FrameOptions,
}

/// The reasons why a picture cannot be rendered.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The camera cannot be set up.
    #[error(transparent)]
    Camera(#[from] CameraError),
    /// The frame cannot be rendered.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// There is not enough memory for the normals of a mesh without normals.
    #[error("no memory for {bytes} bytes of normals; expected a smaller mesh")]
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

/// Counts of rays, added up over the tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct RayCounts {
    hit: u64,
    shadow: u64,
}

impl AddAssign for RayCounts {
    fn add_assign(&mut self, other: Self) {
        self.hit += other.hit;
        self.shadow += other.shadow;
    }
}

/// Renders a mesh with all workers of the runtime.
///
/// `tree` must be the tree of `mesh`. `on_tile` is called for every finished tile, in any order and
/// on any worker, and may stop the work. The picture depends only on mesh, tree and options.
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
/// use raddle_graphics::render::FrameOptions;
/// use raddle_graphics::render_mesh::{RenderOptions, render};
///
/// let mesh = Mesh {
///     positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
///     normals: Vec::new(),
///     triangles: vec![[0, 1, 2]],
/// };
/// let tree = KdTree::build(&mesh, &Parameters::default())?;
/// let frame = FrameOptions { size: (64, 48), samples: 4, ..FrameOptions::default() };
/// let options = RenderOptions { frame, ..RenderOptions::default() };
/// let rendering = render(&mesh, &tree, &options, |_| ())?;
/// assert_eq!(rendering.report.rays_primary, 64 * 48 * 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn render<P: Proceed>(
    mesh: &Mesh,
    tree: &KdTree,
    options: &RenderOptions,
    on_tile: impl Fn(TileDone) -> P + Sync,
) -> Result<Rendering, RenderError> {
    let frame = &options.frame;
    frame.check()?;
    check_tree(mesh, tree)?;
    let start = Instant::now();
    // Ask for all memory before following the rays, so that a lack of memory is detected before the
    // work.
    memory::ask(CornerNormals::bytes_for(mesh))
        .map_err(|none| RenderError::OutOfMemory { bytes: none.0 })?;
    let (camera, setting) = options.view.camera(mesh, tree, frame.size)?;
    let normals = CornerNormals::of(mesh, tree.bounds());
    let shader = Shader {
        mesh,
        tree,
        normals: &normals,
        lights: light::choose(tree, &camera, setting, options.view.up()),
        clip: frame.clip,
    };
    let time_prepare = start.elapsed();

    let frame = render::render(&shader, &camera, frame, on_tile)?;
    let report = RenderReport {
        camera,
        setting,
        rays_primary: frame.rays,
        rays_hit: frame.counts.hit,
        rays_shadow: frame.counts.shadow,
        tile_count: frame.tile_count,
        time_prepare,
        time_trace: frame.time,
    };
    Ok(Rendering {
        picture: frame.picture,
        report,
    })
}

/// Checks that the tree belongs to the mesh, as far as that is possible.
fn check_tree(mesh: &Mesh, tree: &KdTree) -> Result<(), RenderError> {
    match tree.triangle_highest() {
        Some(triangle) if triangle >= mesh.triangles.len() => Err(RenderError::OtherMesh {
            triangle,
            count: mesh.triangles.len(),
        }),
        _ => Ok(()),
    }
}
