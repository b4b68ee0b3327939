//! Volumes in bricks in a file (`.bricks`): each brick can be read by itself, so a volume may be
//! larger than the memory.
//!
//! # Format
//! Numbers are little-endian. Floats are IEEE 754 doubles.
//!
//! | part | bytes | content |
//! |---|---|---|
//! | header | 8 | `RADBRICK` |
//! | | 4, 4, 4 | version (1), edge of a brick, type of the voxels (0 to 4: u8, i8, u16, i16, f32) |
//! | | 3 × 8 | voxels along x, y and z |
//! | | 15 × 8 | spacing, origin, and the directions of the axes |
//! | | 4 | checksum of the header so far |
//! | bricks, by key | 4, 4 | length and checksum of the following |
//! | | length | voxels of the brick, x fastest, padded with zeros, as a zstd frame |
//! | index, for each brick | 8 | offset of its length |
//! | ranges | | of each macrocell of 4³ cells: two 16-bit levels, as a zstd frame |
//! | trailer | 3 × 8 | offsets of the index and the ranges, length of the ranges |
//! | | 4 × 8 | smallest and largest voxel; value of level 0, and levels for each unit |
//! | | 4, 4, 4 | checksums of the index, the ranges, and the trailer so far |
//! | | 8 | `RADBRICK` |
//!
//! Checksums are CRC-32C. A program that reads the file from front to back needs only the header
//! and the bricks.
//!
//! # Why the file is not mapped
//! A mapped file that another program shortens kills the process. Each brick is read by one call
//! of the system instead, and the system keeps the pages in memory in either case.

#[cfg(test)]
mod tests;
mod write;

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use glam::{DMat3, DVec3};
use raddle::net::bricks::BrickSource;

use super::bricks::BrickLayout;
use super::grid::{AXIS_MAX, Grid};
use super::macrocells::{Blocks, Macrocells, Scale};
use super::parsed::volume_fault;
use super::voxels::VoxelKind;
use crate::file::{Fault, FileError, FileProblem, Place};
use crate::memory;

pub use self::write::{BrickFileOptions, BrickFileReport, VoxelSource, write_bricks};

/// The first and the last bytes of a file.
pub(crate) const MAGIC: &[u8; 8] = b"RADBRICK";
const VERSION: u32 = 1;
/// The number of bytes of the header, of the head of a brick, of an entry of the index, and of the
/// trailer.
pub(crate) const HEADER_BYTES: usize = 168;
pub(crate) const HEAD_BYTES: usize = 8;
const ENTRY_BYTES: usize = 8;
const TRAILER_BYTES: usize = 76;
/// The types of voxels, in the order of their numbers.
const KINDS: [VoxelKind; 5] = [
    VoxelKind::U8,
    VoxelKind::I8,
    VoxelKind::U16,
    VoxelKind::I16,
    VoxelKind::F32,
];

/// The header of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Header {
    pub(crate) grid: Grid,
    pub(crate) kind: VoxelKind,
    pub(crate) layout: BrickLayout,
}

impl Header {
    /// Returns the bytes of the header.
    fn write(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend_from_slice(MAGIC);
        let kind = KINDS.iter().position(|&kind| kind == self.kind);
        // An edge is at most 256, and there are five types.
        let words = [
            VERSION,
            self.layout.edge() as u32,
            kind.unwrap_or_default() as u32,
        ];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        let size = self.grid.size().map(|len| (len as u64).to_le_bytes());
        bytes.extend(size.as_flattened());
        let (spacing, origin) = (self.grid.spacing(), self.grid.origin());
        let place = [spacing.to_array(), origin.to_array()];
        let direction = self.grid.direction().to_cols_array();
        let floats = place.as_flattened().iter().chain(&direction);
        bytes.extend(floats.flat_map(|value| value.to_le_bytes()));
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        bytes.try_into().expect("the bytes of a header")
    }

    /// Reads a header.
    pub(crate) fn read(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Fault> {
        let fault = |at: u64, found: String, expected: &str| {
            Err(Fault::syntax(Place::Byte(at), found, expected))
        };
        if !bytes.starts_with(MAGIC) {
            return fault(0, "other bytes".into(), "RADBRICK, as bricks begin");
        }
        let fields = Fields(bytes);
        if fields.u32(8) != VERSION {
            let found = format!("version {}", fields.u32(8));
            return fault(8, found, "version 1");
        }
        let end = HEADER_BYTES - 4;
        if fields.u32(end) != crc32c::crc32c(&bytes[..end]) {
            return fault(end as u64, "another checksum".into(), "that of the header");
        }
        let Some(&kind) = KINDS.get(fields.u32(16) as usize) else {
            let found = format!("type {}", fields.u32(16));
            return fault(16, found, "0 to 4");
        };
        let size = [20, 28, 36].map(|at| fields.u64(at));
        if size.iter().any(|&len| len > AXIS_MAX as u64) {
            let found = format!("{size:?} voxels");
            return fault(20, found, "at most 2²⁴ along each axis");
        }
        let [spacing, origin] =
            [44, 68].map(|at| DVec3::from_array([0, 8, 16].map(|more| fields.f64(at + more))));
        let columns = std::array::from_fn(|index| fields.f64(92 + 8 * index));
        let direction = DMat3::from_cols_array(&columns);
        let grid = Grid::new(size.map(|len| len as usize))
            .and_then(|grid| grid.with_geometry(spacing, origin, direction))
            .map_err(|error| volume_fault(Place::Byte(20), &error))?;
        let edge = fields.u32(12) as usize;
        match BrickLayout::new(&grid, edge, kind.bytes()) {
            Ok(layout) => Ok(Self { grid, kind, layout }),
            Err(_) => fault(12, format!("an edge of {edge}"), "1 to 256"),
        }
    }
}

/// Numbers in bytes.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        std::array::from_fn(|index| self.0[at + index])
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes(at))
    }

    fn f64(&self, at: usize) -> f64 {
        f64::from_le_bytes(self.bytes(at))
    }
}

/// The end of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Trailer {
    index_at: u64,
    ranges_at: u64,
    ranges_bytes: u64,
    range: [f64; 2],
    scale: Scale,
    index_sum: u32,
    ranges_sum: u32,
}

impl Trailer {
    fn write(&self) -> [u8; TRAILER_BYTES] {
        let mut bytes = Vec::with_capacity(TRAILER_BYTES);
        for word in [self.index_at, self.ranges_at, self.ranges_bytes] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        let (lowest, levels_per_value) = self.scale.parts();
        for value in [self.range[0], self.range[1], lowest, levels_per_value] {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        for sum in [self.index_sum, self.ranges_sum] {
            bytes.extend_from_slice(&sum.to_le_bytes());
        }
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        bytes.extend_from_slice(MAGIC);
        bytes.try_into().expect("the bytes of a trailer")
    }

    /// Reads the trailer at an offset of a file.
    fn read(bytes: &[u8; TRAILER_BYTES], at: u64) -> Result<Self, Fault> {
        let (fields, end) = (Fields(bytes), TRAILER_BYTES - MAGIC.len() - 4);
        if !bytes.ends_with(MAGIC) || fields.u32(end) != crc32c::crc32c(&bytes[..end]) {
            let found = "no trailer of bricks";
            return Err(Fault::syntax(Place::Byte(at), found, "a complete file"));
        }
        Ok(Self {
            index_at: fields.u64(0),
            ranges_at: fields.u64(8),
            ranges_bytes: fields.u64(16),
            range: [fields.f64(24), fields.f64(32)],
            scale: Scale::of_parts(fields.f64(40), fields.f64(48)),
            index_sum: fields.u32(56),
            ranges_sum: fields.u32(60),
        })
    }
}

/// A file of bricks, of which any brick can be read.
#[derive(Debug)]
pub struct BrickFile {
    file: File,
    path: PathBuf,
    header: Header,
    /// The grid near the origin, and the vector by which it was moved.
    near: (Grid, DVec3),
    trailer: Trailer,
    /// The offset of each brick.
    offsets: Vec<u64>,
}

impl BrickFile {
    /// Returns true if a file begins as a file of bricks. A file that cannot be read does not.
    #[must_use]
    pub fn is_at(path: &Path) -> bool {
        let mut first = [0; MAGIC.len()];
        let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
        is_file
            && File::open(path).is_ok_and(|mut file| file.read_exact(&mut first).is_ok())
            && first == *MAGIC
    }

    /// Opens a file, and reads its index: 8 bytes for each brick.
    ///
    /// # Errors
    /// A [`FileError`] if the file cannot be read, is not complete, or violates the format.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        Self::open_at(path).map_err(|fault| fault.at(path))
    }

    fn open_at(path: &Path) -> Result<Self, Fault> {
        let file = File::open(path);
        let file = file.map_err(|error| Fault::new(Place::Whole, FileProblem::Open(error)))?;
        let header: [u8; HEADER_BYTES] = read_array(&file, 0)?;
        let header = Header::read(&header)?;
        let len = file.metadata().map_err(read_error(0))?.len();
        let trailer_at = len.saturating_sub(TRAILER_BYTES as u64);
        let trailer = Trailer::read(&read_array(&file, trailer_at)?, trailer_at)?;
        let count = header.layout.brick_count();
        let index_bytes = count.saturating_mul(ENTRY_BYTES as u64);
        // Both parts lie between the header and the trailer, so their sizes are no surprise.
        let is_inside = |at: u64, bytes: u64| {
            let end = at.checked_add(bytes);
            at >= HEADER_BYTES as u64 && end.is_some_and(|end| end <= trailer_at)
        };
        if !is_inside(trailer.index_at, index_bytes)
            || !is_inside(trailer.ranges_at, trailer.ranges_bytes)
        {
            let found = "an index that is not in the file";
            let place = Place::Byte(trailer_at);
            return Err(Fault::syntax(place, found, "offsets before the trailer"));
        }
        let index = read_part(&file, trailer.index_at, index_bytes, trailer.index_sum)?;
        let (entries, _) = index.as_chunks::<ENTRY_BYTES>();
        let offsets = entries.iter().map(|&entry| u64::from_le_bytes(entry));
        let offsets = offsets.collect();
        Ok(Self {
            file,
            path: path.to_owned(),
            header,
            near: header.grid.near_origin(),
            trailer,
            offsets,
        })
    }

    /// Returns the grid of the voxels. It is near the origin for its size, as that of a volume that
    /// is loaded.
    #[must_use]
    pub const fn grid(&self) -> &Grid {
        &self.near.0
    }

    /// Returns the point of the file that is the origin of the world.
    #[must_use]
    pub const fn offset(&self) -> DVec3 {
        self.near.1
    }

    /// Returns the type of the voxels.
    #[must_use]
    pub const fn kind(&self) -> VoxelKind {
        self.header.kind
    }

    /// Returns the division into bricks.
    #[must_use]
    pub const fn layout(&self) -> &BrickLayout {
        &self.header.layout
    }

    /// Returns the smallest and the largest voxel.
    #[must_use]
    pub const fn range(&self) -> [f64; 2] {
        self.trailer.range
    }

    /// Reads the ranges of the macrocells.
    ///
    /// # Errors
    /// A [`FileError`] if they cannot be read, or are not those of this grid.
    pub fn macrocells(&self) -> Result<Macrocells, FileError> {
        self.read_macrocells().map_err(|fault| fault.at(&self.path))
    }

    fn read_macrocells(&self) -> Result<Macrocells, Fault> {
        let Trailer {
            ranges_at,
            ranges_bytes,
            ranges_sum,
            ..
        } = self.trailer;
        let packed = read_part(&self.file, ranges_at, ranges_bytes, ranges_sum)?;
        let size = Macrocells::leaf_size(self.header.grid.size());
        let count: usize = size.iter().product();
        let place = Place::Byte(ranges_at);
        let no_memory = |error| Fault::no_memory(place, error);
        memory::ask_for_each(count, 4).map_err(no_memory)?;
        let mut ranges = Vec::with_capacity(count);
        let mut decoder =
            zstd::stream::read::Decoder::new(&packed[..]).map_err(read_error(ranges_at))?;
        let mut part = vec![0; 1 << 16];
        while ranges.len() < count {
            let want = part.len().min(4 * (count - ranges.len()));
            let read = decoder.read_exact(&mut part[..want]);
            read.map_err(|error| Fault::new(place, FileProblem::Expand(error)))?;
            let (pairs, _) = part[..want].as_chunks::<4>();
            ranges.extend(
                pairs.iter().map(|[a, b, c, d]| {
                    [u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d])]
                }),
            );
        }
        let leaves = Blocks { size, ranges };
        Ok(Macrocells::of_leaves(
            self.trailer.scale,
            self.trailer.range,
            leaves,
        ))
    }

    fn read_brick(&self, key: u64, into: &mut [u8]) -> Result<(), Fault> {
        let offset = usize::try_from(key)
            .ok()
            .and_then(|key| self.offsets.get(key));
        let Some(&offset) = offset else {
            let found = format!("brick {key}");
            let expected = format!("a number below {}", self.offsets.len());
            return Err(Fault::syntax(Place::Whole, found, expected));
        };
        let head: [u8; HEAD_BYTES] = read_array(&self.file, offset)?;
        let (len, sum) = (Fields(&head).u32(0), Fields(&head).u32(4));
        check_length(len, into.len(), offset)?;
        let packed = read_part(&self.file, offset + HEAD_BYTES as u64, len.into(), sum)?;
        unpack(&packed, into, offset)
    }
}

impl BrickSource for BrickFile {
    fn read(&self, key: u64, into: &mut [u8]) -> Result<(), String> {
        let read = self.read_brick(key, into);
        read.map_err(|fault| fault.at(&self.path).to_string())
    }
}

/// Checks the length of a compressed brick, which may be a little longer than the brick itself.
pub(crate) fn check_length(len: u32, brick_bytes: usize, offset: u64) -> Result<(), Fault> {
    let expected = zstd::zstd_safe::compress_bound(brick_bytes);
    if len as usize <= expected {
        return Ok(());
    }
    let found = format!("a brick of {len} bytes");
    let expected = format!("at most {expected}");
    Err(Fault::syntax(Place::Byte(offset), found, expected))
}

/// Expands a brick.
pub(crate) fn unpack(packed: &[u8], into: &mut [u8], offset: u64) -> Result<(), Fault> {
    let place = Place::Byte(offset);
    let expanded = zstd::bulk::decompress_to_buffer(packed, into);
    match expanded {
        Ok(len) if len == into.len() => Ok(()),
        Ok(len) => {
            let found = format!("a brick of {len} bytes when expanded");
            Err(Fault::syntax(place, found, into.len().to_string()))
        }
        Err(error) => Err(Fault::new(place, FileProblem::Expand(error))),
    }
}

/// Reads bytes at an offset.
fn read_array<const N: usize>(file: &File, at: u64) -> Result<[u8; N], Fault> {
    let mut bytes = [0; N];
    file.read_exact_at(&mut bytes, at).map_err(read_error(at))?;
    Ok(bytes)
}

/// Reads a part of a file, and checks it.
fn read_part(file: &File, at: u64, len: u64, sum: u32) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    let no_memory = |error| Fault::no_memory(Place::Byte(at), error);
    memory::reserve(&mut bytes, len).map_err(no_memory)?;
    // The memory for this many bytes has been reserved.
    bytes.resize(len as usize, 0);
    file.read_exact_at(&mut bytes, at).map_err(read_error(at))?;
    check_sum(&bytes, sum, at)?;
    Ok(bytes)
}

/// Checks the bytes at an offset.
pub(crate) fn check_sum(bytes: &[u8], sum: u32, at: u64) -> Result<(), Fault> {
    if crc32c::crc32c(bytes) == sum {
        return Ok(());
    }
    let found = format!("{} bytes with another checksum", bytes.len());
    Err(Fault::syntax(
        Place::Byte(at),
        found,
        "a file that has not changed",
    ))
}

fn read_error(at: u64) -> impl Fn(std::io::Error) -> Fault {
    move |error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            Fault::truncated(Place::Byte(at), "a complete file of bricks")
        }
        _ => Fault::new(Place::Byte(at), FileProblem::Read(error)),
    }
}
