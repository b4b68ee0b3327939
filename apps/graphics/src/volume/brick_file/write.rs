//! Writes a file of bricks, slab by slab, so that only a part of the volume is in memory.

use std::any::Any;
use std::io::{self, Write};

use glam::DVec3;

use super::{Header, Trailer};
use crate::volume::array::Volume;
use crate::volume::bricks::{BrickEdgeError, BrickLayout};
use crate::volume::generate::{Formula, GenerateError};
use crate::volume::grid::Grid;
use crate::volume::macrocells::{self, Macrocells};
use crate::volume::voxels::{Voxel, VoxelKind, Voxels, with_voxels};

/// A volume, of which some slices at a time are in memory.
pub trait VoxelSource {
    /// Returns the grid of the voxels.
    fn grid(&self) -> Grid;

    /// Returns the type of the voxels.
    fn kind(&self) -> VoxelKind;

    /// Returns the voxels of the slices from `first` on, x fastest.
    ///
    /// # Errors
    /// An error if they cannot be read or generated.
    fn slices(&self, first: usize, count: usize) -> io::Result<Voxels>;
}

impl VoxelSource for Volume {
    fn grid(&self) -> Grid {
        *Self::grid(self)
    }

    fn kind(&self) -> VoxelKind {
        self.voxels().kind()
    }

    fn slices(&self, first: usize, count: usize) -> io::Result<Voxels> {
        let [width, height, _] = self.size();
        let range = first * width * height..(first + count) * width * height;
        Ok(with_voxels!(self.voxels(), list => list[range].to_vec().into()))
    }
}

/// A volume that was moved near the origin, and the vector by which it has to be moved back.
impl VoxelSource for (&Volume, DVec3) {
    fn grid(&self) -> Grid {
        self.0.grid().moved_by(self.1)
    }

    fn kind(&self) -> VoxelKind {
        VoxelSource::kind(self.0)
    }

    fn slices(&self, first: usize, count: usize) -> io::Result<Voxels> {
        self.0.slices(first, count)
    }
}

/// A generated volume.
impl VoxelSource for (Formula, Grid) {
    fn grid(&self) -> Grid {
        self.1
    }

    fn kind(&self) -> VoxelKind {
        self.0.kind()
    }

    fn slices(&self, first: usize, count: usize) -> io::Result<Voxels> {
        let size = self.1.size();
        let block = self.0.block(size, [0, 0, first], [size[0], size[1], count]);
        block.map_err(|error| match error {
            GenerateError::OutOfMemory { .. } => {
                io::Error::new(io::ErrorKind::OutOfMemory, error.to_string())
            }
            error => io::Error::new(io::ErrorKind::InvalidInput, error.to_string()),
        })
    }
}

/// The options of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrickFileOptions {
    /// The number of voxels along an edge of a brick, from 1 to 256.
    pub edge: usize,
    /// The level of compression by zstd, from 1 to 22.
    pub level: i32,
}

impl Default for BrickFileOptions {
    fn default() -> Self {
        Self { edge: 12, level: 3 }
    }
}

/// The size of a file that was written.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BrickFileReport {
    /// The number of bricks.
    pub bricks: u64,
    /// The number of bytes of the voxels, without padding.
    pub voxel_bytes: u64,
    /// The number of bytes of the file.
    pub file_bytes: u64,
    /// The smallest and the largest voxel.
    pub range: [f64; 2],
}

/// Writes a volume as a file of bricks, and compresses the bricks with all workers. `on_slices` is
/// called with the number of slices that are done, and that of all.
///
/// Takes memory for as many slices as a multiple of four and of the edge has, and for the ranges of
/// the macrocells.
///
/// # Errors
/// An error of the source or the destination, and an edge that is out of range.
pub fn write_bricks(
    source: &impl VoxelSource,
    options: BrickFileOptions,
    into: &mut impl Write,
    on_slices: impl FnMut(usize, usize),
) -> io::Result<BrickFileReport> {
    let (grid, kind) = (source.grid(), source.kind());
    let layout = BrickLayout::new(&grid, options.edge, kind.bytes());
    let layout = layout.map_err(|error: BrickEdgeError| {
        io::Error::new(io::ErrorKind::InvalidInput, error.to_string())
    })?;
    let header = Header { grid, kind, layout };
    let out = Counted { into, bytes: 0 };
    let writer = Writer {
        header,
        level: options.level,
        out,
        index: Vec::new(),
    };
    match kind {
        VoxelKind::U8 => writer.write::<u8>(source, on_slices),
        VoxelKind::I8 => writer.write::<i8>(source, on_slices),
        VoxelKind::U16 => writer.write::<u16>(source, on_slices),
        VoxelKind::I16 => writer.write::<i16>(source, on_slices),
        VoxelKind::F32 => writer.write::<f32>(source, on_slices),
    }
}

/// A destination that counts its bytes.
struct Counted<'a, W> {
    into: &'a mut W,
    bytes: u64,
}

impl<W: Write> Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.into.write_all(bytes)
    }
}

struct Writer<'a, W> {
    header: Header,
    level: i32,
    out: Counted<'a, W>,
    index: Vec<u8>,
}

/// A brick on its way to the file.
#[derive(Default)]
struct Packed {
    key: u64,
    bytes: Vec<u8>,
    error: Option<io::Error>,
}

impl<W: Write> Writer<'_, W> {
    fn write<T: Voxel>(
        mut self,
        source: &impl VoxelSource,
        mut on_slices: impl FnMut(usize, usize),
    ) -> io::Result<BrickFileReport> {
        self.out.write(&self.header.write())?;
        let size = self.header.grid.size();
        let edge = self.header.layout.edge();
        // A slab has whole bricks and whole macrocells, so that each is in one slab only.
        let slab = (1..=macrocells::EDGE)
            .map(|times| times * edge)
            .find(|len| len % macrocells::EDGE == 0)
            .unwrap_or(macrocells::EDGE * edge);
        let mut ranges: Vec<[T; 2]> = Vec::new();
        for first in (0..size[2]).step_by(slab) {
            // The last slice of voxels of a macrocell is the first one of the next.
            let count = (size[2] - first).min(slab + 1);
            let voxels = source.slices(first, count)?;
            let list = list_of::<T>(&voxels).ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    "slices with voxels of two types",
                )
            })?;
            let part = [size[0], size[1], count];
            // The last slice alone belongs to the macrocells before it.
            if count > 1 {
                ranges.append(&mut Macrocells::leaf_ranges(part, list));
            }
            self.write_slab(list, first, count.min(slab))?;
            on_slices((first + slab).min(size[2]), size[2]);
        }
        self.finish(&ranges)
    }

    /// Writes the bricks that begin in some slices.
    fn write_slab<T: Voxel>(&mut self, list: &[T], first: usize, count: usize) -> io::Result<()> {
        let layout = self.header.layout;
        let [width, height, _] = layout.counts();
        let edge = layout.edge();
        let size = self.header.grid.size();
        for z in first / edge..(first + count).div_ceil(edge) {
            let layer = (z * width * height) as u64;
            let packed = |index: usize| Packed {
                key: layer + index as u64,
                ..Packed::default()
            };
            let mut bricks: Vec<Packed> = (0..width * height).map(packed).collect();
            let level = self.level;
            raddle::for_each_mut(&mut bricks, |_, brick| {
                let [xs, ys, zs] = layout.voxels_of(brick.key);
                let mut bytes = vec![0; layout.brick_bytes()];
                for z in zs {
                    for y in ys.clone() {
                        let row = size[0] * (y + size[1] * (z - first));
                        for x in xs.clone() {
                            let voxel = list[row + x];
                            let at = layout.offset_of([x, y, z]);
                            voxel.to_bytes(&mut bytes[at..at + size_of::<T>()]);
                        }
                    }
                }
                match zstd::bulk::compress(&bytes, level) {
                    Ok(packed) => brick.bytes = packed,
                    Err(error) => brick.error = Some(error),
                }
            });
            for brick in bricks {
                if let Some(error) = brick.error {
                    return Err(error);
                }
                self.index.extend_from_slice(&self.out.bytes.to_le_bytes());
                // A brick has at most 256³ voxels.
                self.out.write(&(brick.bytes.len() as u32).to_le_bytes())?;
                self.out
                    .write(&crc32c::crc32c(&brick.bytes).to_le_bytes())?;
                self.out.write(&brick.bytes)?;
            }
        }
        Ok(())
    }

    /// Writes the index, the ranges and the trailer.
    fn finish<T: Voxel>(mut self, ranges: &[[T; 2]]) -> io::Result<BrickFileReport> {
        let (scale, range) = Macrocells::scale_of(ranges);
        let index_at = self.out.bytes;
        let index_sum = crc32c::crc32c(&self.index);
        let index = std::mem::take(&mut self.index);
        self.out.write(&index)?;
        let ranges_at = self.out.bytes;
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), self.level)?;
        for range in ranges {
            let levels = scale.levels(*range).map(u16::to_le_bytes);
            encoder.write_all(levels.as_flattened())?;
        }
        let packed = encoder.finish()?;
        self.out.write(&packed)?;
        let trailer = Trailer {
            index_at,
            ranges_at,
            ranges_bytes: packed.len() as u64,
            range,
            scale,
            index_sum,
            ranges_sum: crc32c::crc32c(&packed),
        };
        self.out.write(&trailer.write())?;
        let voxels: usize = self.header.grid.size().iter().product();
        Ok(BrickFileReport {
            bricks: self.header.layout.brick_count(),
            voxel_bytes: (voxels * self.header.kind.bytes()) as u64,
            file_bytes: self.out.bytes,
            range,
        })
    }
}

/// Returns the voxels if they have this type.
fn list_of<T: Voxel>(voxels: &Voxels) -> Option<&[T]> {
    let list = with_voxels!(voxels, list => (list as &dyn Any).downcast_ref::<Vec<T>>());
    list.map(Vec::as_slice)
}
