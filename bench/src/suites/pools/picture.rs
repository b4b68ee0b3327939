//! A picture rendered in tiles, each a task. Some tiles show only the sky, others many triangles.

use glam::Vec3;
use raddle_graphics::camera::{Camera, View};
use raddle_graphics::kdtree::{KdTree, Parameters};
use raddle_graphics::ray::Ray;
use raddle_graphics::scene::{self, Scene};

use super::job::{Job, Runner, Sums, Workload};
use crate::error::BenchError;
use crate::harness::{Sample, timed};

/// The number of pixels along each side of the picture.
const SIDE: u32 = 1024;
/// The number of pixels along each side of a tile.
const TILE: u32 = 8;
const TRIANGLES: usize = 100_000;
/// The direction towards the light.
const LIGHT: Vec3 = Vec3::new(0.3, 0.8, 0.5);

/// The scene and the camera.
#[derive(Debug)]
pub(super) struct Picture {
    tree: KdTree,
    camera: Camera,
    sums: Sums,
}

impl Picture {
    /// Builds the scene.
    ///
    /// # Errors
    /// [`BenchError::Contender`] if there is not enough memory.
    pub(super) fn new() -> Result<Self, BenchError> {
        let mesh = scene::generate(Scene::Knot, TRIANGLES);
        let tree = KdTree::build(&mesh, &Parameters::default()).map_err(|error| failure(&error))?;
        let (camera, _) = View::default()
            .camera(&mesh, &tree, (SIDE, SIDE))
            .map_err(|error| failure(&error))?;
        Ok(Self {
            tree,
            camera,
            sums: Sums::default(),
        })
    }
}

fn failure(error: &dyn std::error::Error) -> BenchError {
    BenchError::contender("picture", error)
}

impl Workload for Picture {
    fn measure(&self, runner: Runner) -> Sample {
        let whole = Area {
            picture: self,
            at: [0, 0],
            size: [SIDE, SIDE],
        };
        timed(1, || {
            runner.run(whole);
            self.sums.take()
        })
    }
}

/// A part of the picture.
#[derive(Debug, Clone, Copy)]
struct Area<'picture> {
    picture: &'picture Picture,
    at: [u32; 2],
    size: [u32; 2],
}

impl Job for Area<'_> {
    fn run(self, put: &mut impl FnMut(Self)) {
        let longer = usize::from(self.size[1] > self.size[0]);
        if self.size[longer] <= TILE {
            return self.picture.sums.add(self.trace());
        }
        let (mut first, mut second) = (self, self);
        first.size[longer] /= 2;
        second.at[longer] += first.size[longer];
        second.size[longer] -= first.size[longer];
        put(first);
        put(second);
    }
}

impl Area<'_> {
    /// Traces a ray through each pixel, and from each hit a ray to the light. Returns a sum over
    /// the hits.
    fn trace(&self) -> u64 {
        let Picture { tree, camera, .. } = self.picture;
        let mut sum = 0_u64;
        for y in self.at[1]..self.at[1] + self.size[1] {
            for x in self.at[0]..self.at[0] + self.size[0] {
                let ray = camera.ray([x as f32 + 0.5, y as f32 + 0.5], (SIDE, SIDE));
                if let Some(hit) = tree.nearest(&ray) {
                    let towards_light = Ray::new(ray.at(hit.t * (1.0 - 1e-4)), LIGHT);
                    let is_dark = tree.is_hit(&towards_light);
                    sum = sum.wrapping_add(2 * u64::from(hit.triangle) + u64::from(is_dark));
                }
            }
        }
        sum
    }
}
