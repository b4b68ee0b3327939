//! Reads a whole volume from a file of bricks, from front to back. The format is described in
//! [`brick_file`](crate::volume::brick_file).

use super::{Context, VolumeReader};
use crate::file::{Fault, Head, Source};
use crate::memory;
use crate::volume::array::Volume;
use crate::volume::brick_file::{
    HEAD_BYTES, HEADER_BYTES, Header, MAGIC, check_length, check_sum, unpack,
};
use crate::volume::format::VolumeFormat;
use crate::volume::parsed::{Parsed, Scalar, volume_fault};
use crate::volume::voxels::{Voxel, VoxelKind, Voxels};

/// The reader of files of bricks.
pub(super) const READER: VolumeReader = VolumeReader {
    extensions: &["bricks"],
    is_text: Some(false),
    recognizes,
    read,
};

fn recognizes(head: &Head<'_>) -> bool {
    head.bytes.starts_with(MAGIC)
}

fn read(source: &mut Source<'_>, _: &mut Context<'_>) -> Result<Parsed, Fault> {
    let place = source.byte();
    let header: [u8; HEADER_BYTES] = source.take("a header of 168 bytes")?;
    let header = Header::read(&header)?;
    let (scalar, voxels) = match header.kind {
        VoxelKind::U8 => (Scalar::U8, voxels::<u8>(source, &header)?),
        VoxelKind::I8 => (Scalar::I8, voxels::<i8>(source, &header)?),
        VoxelKind::U16 => (Scalar::U16, voxels::<u16>(source, &header)?),
        VoxelKind::I16 => (Scalar::I16, voxels::<i16>(source, &header)?),
        VoxelKind::F32 => (Scalar::F32, voxels::<f32>(source, &header)?),
    };
    // The index follows, which is not needed to read all voxels.
    source.drain()?;
    let grid = &header.grid;
    let volume = Volume::new(grid.size(), voxels)
        .and_then(|volume| volume.with_geometry(grid.spacing(), grid.origin(), grid.direction()))
        .map_err(|error| volume_fault(place, &error))?;
    Ok(Parsed {
        volume,
        format: VolumeFormat::Bricks,
        scalar,
    })
}

/// Reads all voxels. Memory is reserved layer by layer of bricks, as the bricks arrive.
fn voxels<T: Voxel>(source: &mut Source<'_>, header: &Header) -> Result<Voxels, Fault>
where
    Vec<T>: Into<Voxels>,
{
    let (layout, size) = (header.layout, header.grid.size());
    let mut voxels: Vec<T> = Vec::new();
    let mut bytes = vec![0; layout.brick_bytes()];
    for key in 0..layout.brick_count() {
        let [xs, ys, zs] = layout.voxels_of(key);
        let offset = source.offset();
        let head: [u8; HEAD_BYTES] = source.take("a brick")?;
        let [len, sum] = [[0, 1, 2, 3], [4, 5, 6, 7]]
            .map(|places| u32::from_le_bytes(places.map(|place: usize| head[place])));
        check_length(len, bytes.len(), offset)?;
        let packed = source.peek(len as usize, "a brick")?;
        check_sum(packed, sum, offset)?;
        unpack(packed, &mut bytes, offset)?;
        source.consume(len as usize);
        let end = zs.end * size[0] * size[1];
        if voxels.len() < end {
            let more = (end - voxels.len()) as u64;
            let no_memory = |error| Fault::no_memory(source.byte(), error);
            memory::reserve(&mut voxels, more).map_err(no_memory)?;
            voxels.resize(end, T::LOWEST);
        }
        for z in zs {
            for y in ys.clone() {
                let row = size[0] * (y + size[1] * z);
                let from = layout.offset_of([xs.start, y, z]);
                let packed = bytes[from..].chunks_exact(size_of::<T>());
                for (place, voxel) in voxels[row + xs.start..row + xs.end].iter_mut().zip(packed) {
                    *place = T::from_bytes(voxel);
                }
            }
        }
    }
    Ok(voxels.into())
}
