//! A picture of surfaces, prepared: all that its rays need besides the voxels.
//!
//! The nodes of a program that render parts of one picture each prepare it, from the same
//! macrocells and options, and fetch voxels in bricks as their rays need them.

use std::ops::AddAssign;
use std::sync::Arc;

use raddle::net::bricks::BrickError;
use raddle_trace::profile::Profiler;

use super::brick_cells::{BrickAccess, BrickCells};
use super::cells::Cells;
use super::options::{IsosurfaceCounts, IsosurfaceError, IsosurfaceOptions};
use super::tracer::Tracer;
use crate::camera::Camera;
use crate::render::{self, Beams, Part};
use crate::volume::grid::Grid;
use crate::volume::macrocells::Macrocells;
use crate::volume::occupancy::Occupancy;
use crate::volume::project::beams;
use crate::volume::ranges::{ValueRanges, occupancy_of};
use crate::volume::shading::Shading;
use crate::volume::voxels::{Voxel, VoxelKind};

/// A picture of surfaces of a volume that may be anywhere.
#[derive(Debug)]
pub struct Prepared {
    grid: Grid,
    options: IsosurfaceOptions,
    pub(super) camera: Camera,
    pub(super) occupancy: Arc<Occupancy>,
    beams: Option<Beams>,
    shading: Shading,
}

/// Counts of the work for a part of a picture of a volume in bricks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct BrickCounts {
    /// The work of the rays.
    pub rays: IsosurfaceCounts,
    /// The macrocells that rays have entered; once for rays that are followed together.
    pub macrocells: u64,
    /// The macrocells of these that the thread had kept since an earlier ray. They need no brick.
    pub reused: u64,
}

impl AddAssign for BrickCounts {
    fn add_assign(&mut self, other: Self) {
        self.rays += other.rays;
        self.macrocells += other.macrocells;
        self.reused += other.reused;
    }
}

impl Prepared {
    /// Prepares a picture of a volume on this grid, to which the macrocells belong.
    ///
    /// # Errors
    /// An [`IsosurfaceError`] if an option is out of range, or if the macrocells belong to another
    /// volume.
    pub fn new(
        grid: &Grid,
        macrocells: &Macrocells,
        options: IsosurfaceOptions,
    ) -> Result<Self, IsosurfaceError> {
        options.check()?;
        if !macrocells.fit(grid) {
            return Err(IsosurfaceError::OtherVolume);
        }
        let camera = grid.camera(&options.view)?;
        let occupancy = Arc::new(occupancy_of(macrocells, &options.isovalues()));
        Ok(Self::seen(
            grid,
            camera,
            occupancy,
            macrocells.range(),
            options,
        ))
    }

    /// Prepares a picture of a volume on this grid, to which the ranges of values belong.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_ranges(
        grid: &Grid,
        ranges: &ValueRanges,
        options: IsosurfaceOptions,
    ) -> Result<Self, IsosurfaceError> {
        options.check()?;
        if !ranges.fit(grid) {
            return Err(IsosurfaceError::OtherVolume);
        }
        let camera = grid.camera(&options.view)?;
        let occupancy = ranges.occupancy(&options.isovalues());
        Ok(Self::seen(grid, camera, occupancy, ranges.range(), options))
    }

    fn seen(
        grid: &Grid,
        camera: Camera,
        occupancy: Arc<Occupancy>,
        range: [f64; 2],
        options: IsosurfaceOptions,
    ) -> Self {
        let beams = beams(grid, &occupancy, &camera, options.frame.size);
        let shading = Shading::new(&camera, &grid.voxel_map(), range);
        Self {
            grid: *grid,
            options,
            camera,
            occupancy,
            beams,
            shading,
        }
    }

    /// Returns the camera.
    #[must_use]
    pub const fn camera(&self) -> &Camera {
        &self.camera
    }

    /// Returns the options.
    #[must_use]
    pub const fn options(&self) -> &IsosurfaceOptions {
        &self.options
    }

    /// Renders a part of the picture in the calling thread, with bricks: the same pixels as
    /// [`isosurface::render`](super::render()), row by row.
    ///
    /// # Errors
    /// The [`BrickError`] of a brick that the part needs.
    /// # Panics
    /// Panics if `pixels` has another number of pixels than the part.
    pub fn render_part<P: Profiler>(
        &self,
        access: &mut BrickAccess<P>,
        part: Part,
        pixels: &mut [[f32; 3]],
    ) -> Result<BrickCounts, BrickError> {
        match access.kind() {
            VoxelKind::U8 => self.part::<u8, P>(access, part, pixels),
            VoxelKind::I8 => self.part::<i8, P>(access, part, pixels),
            VoxelKind::U16 => self.part::<u16, P>(access, part, pixels),
            VoxelKind::I16 => self.part::<i16, P>(access, part, pixels),
            VoxelKind::F32 => self.part::<f32, P>(access, part, pixels),
        }
    }

    fn part<T: Voxel, P: Profiler>(
        &self,
        access: &mut BrickAccess<P>,
        part: Part,
        pixels: &mut [[f32; 3]],
    ) -> Result<BrickCounts, BrickError> {
        let isovalues = self.options.isovalues();
        let source = BrickCells::<T, P>::new(&self.grid, access, &isovalues);
        let tracer = self.tracer(source);
        let frame = &self.options.frame;
        let rays = render::render_part(&tracer, &self.camera, frame, part, pixels);
        match tracer.source().take_error() {
            Some(error) => Err(error),
            None => Ok(BrickCounts {
                rays,
                macrocells: tracer.source().entered(),
                reused: tracer.source().reused(),
            }),
        }
    }

    /// Returns the tracer of rays through these cells.
    pub(super) fn tracer<C: Cells>(&self, source: C) -> Tracer<'_, C> {
        let beams = self.beams.as_ref();
        let (grid, occupancy) = (&self.grid, &self.occupancy);
        Tracer::new(grid, source, occupancy, beams, &self.options, self.shading)
    }
}
