//! Sources of the bricks of a volume: a volume in memory, one that is loaded when it is needed, or
//! a formula.

use std::fmt;
use std::sync::{Arc, OnceLock};

use raddle::net::bricks::BrickSource;

use super::array::Volume;
use super::bricks::BrickLayout;
use super::generate::{Bounded, Formula, GenerateError, VoxelBox};
use super::grid::Grid;
use super::voxels::{Voxel, VoxelKind};

/// The bricks of a volume in memory.
#[derive(Debug, Clone)]
pub struct VolumeBricks {
    volume: Arc<Volume>,
    layout: BrickLayout,
}

impl VolumeBricks {
    /// Divides a volume into bricks.
    ///
    /// # Panics
    /// Panics if the layout is not one of the grid and the voxels of the volume.
    #[must_use]
    pub fn new(volume: Arc<Volume>, layout: BrickLayout) -> Self {
        let fits = BrickLayout::new(volume.grid(), layout.edge(), volume.voxels().kind().bytes());
        assert_eq!(fits, Ok(layout), "the layout of this volume");
        Self { volume, layout }
    }
}

impl BrickSource for VolumeBricks {
    fn read(&self, key: u64, into: &mut [u8]) -> Result<(), String> {
        self.layout.write_any(self.volume.voxels(), key, into);
        Ok(())
    }
}

/// The bricks of a volume that is loaded when the first one is read, and kept from then on.
///
/// It is a [backup](raddle::net::bricks::Backup) that costs nothing as long as no node ends.
pub struct LateBricks {
    layout: BrickLayout,
    load: Box<dyn Fn() -> Result<Volume, String> + Send + Sync>,
    loaded: OnceLock<Result<VolumeBricks, String>>,
}

impl LateBricks {
    /// Returns the bricks of the volume that `load` returns. The layout is that of this volume.
    #[must_use]
    pub fn new(
        layout: BrickLayout,
        load: impl Fn() -> Result<Volume, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            layout,
            load: Box::new(load),
            loaded: OnceLock::new(),
        }
    }

    fn bricks(&self) -> Result<VolumeBricks, String> {
        let volume = (self.load)()?;
        let edge = self.layout.edge();
        let layout = BrickLayout::new(volume.grid(), edge, volume.voxels().kind().bytes());
        if layout != Ok(self.layout) {
            return Err("the volume has changed since the run began".into());
        }
        Ok(VolumeBricks::new(Arc::new(volume), self.layout))
    }
}

impl BrickSource for LateBricks {
    fn read(&self, key: u64, into: &mut [u8]) -> Result<(), String> {
        let loaded = self.loaded.get_or_init(|| self.bricks());
        loaded.as_ref().map_err(Clone::clone)?.read(key, into)
    }
}

/// The bricks of a generated volume, of any size: each is generated when it is read.
#[derive(Debug, Clone)]
pub struct FormulaBricks {
    bounded: Bounded,
    kind: VoxelKind,
    layout: BrickLayout,
}

impl FormulaBricks {
    /// Divides a generated volume into bricks with an edge of `edge` voxels.
    ///
    /// # Errors
    /// [`GenerateError::Size`] if an axis is too short or too long, and [`GenerateError::Edge`] for
    /// an edge that is out of range.
    pub fn new(formula: Formula, size: [usize; 3], edge: usize) -> Result<Self, GenerateError> {
        let kind = formula.kind();
        let layout = BrickLayout::new(&Grid::new(size)?, edge, kind.bytes())?;
        Ok(Self {
            bounded: Bounded::new(formula, size),
            kind,
            layout,
        })
    }

    /// Returns the division into bricks.
    #[must_use]
    pub const fn layout(&self) -> &BrickLayout {
        &self.layout
    }

    fn write<T: Voxel>(&self, key: u64, into: &mut [u8], voxel: impl Fn(f64) -> T) {
        into.fill(0);
        let [xs, ys, zs] = self.layout.voxels_of(key);
        let axes = [&xs, &ys, &zs];
        let part = self.bounded.part(VoxelBox {
            first: axes.map(|axis| axis.start),
            last: axes.map(|axis| axis.end - 1),
        });
        for z in zs {
            for y in ys.clone() {
                for x in xs.clone() {
                    let at = [x, y, z];
                    let place = &mut into[self.layout.offset_of(at)..][..self.kind.bytes()];
                    voxel(part.voxel(at)).to_bytes(place);
                }
            }
        }
    }
}

impl BrickSource for FormulaBricks {
    fn read(&self, key: u64, into: &mut [u8]) -> Result<(), String> {
        if key >= self.layout.brick_count() || into.len() != self.layout.brick_bytes() {
            return Err("there is no such brick".into());
        }
        // The values are those of this type already.
        match self.kind {
            VoxelKind::I16 => self.write(key, into, |value| value as i16),
            _ => self.write(key, into, |value| value as f32),
        }
        Ok(())
    }
}

impl fmt::Debug for LateBricks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut late = formatter.debug_struct("LateBricks");
        late.field("layout", &self.layout);
        late.field("loaded", &self.loaded.get().is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use raddle_sync::prim::{AtomicU64, Relaxed};

    use super::*;

    fn volume(len: usize) -> Volume {
        let voxels: Vec<u8> = (0..len * len * len).map(|index| index as u8).collect();
        Volume::new([len; 3], voxels).expect("a sound volume")
    }

    #[test]
    fn generated_bricks_are_those_of_the_volume() {
        for formula in [Formula::Spheres, Formula::MarschnerLobb] {
            let size = [23, 30, 17];
            let volume = Arc::new(formula.volume(size).expect("a small volume"));
            let bricks = FormulaBricks::new(formula, size, 7).expect("a valid edge");
            assert_eq!(bricks.kind, volume.voxels().kind());
            let expected = VolumeBricks::new(volume, bricks.layout);
            for key in 0..bricks.layout.brick_count() {
                let bytes = bricks.layout.brick_bytes();
                let mut both = [vec![1; bytes], vec![2; bytes]];
                bricks.read(key, &mut both[0]).expect("a brick");
                expected.read(key, &mut both[1]).expect("a brick");
                assert!(both[0] == both[1], "{formula}, {key}");
            }
            assert!(
                bricks
                    .read(bricks.layout.brick_count(), &mut [0; 9])
                    .is_err()
            );
        }
    }

    #[test]
    fn a_late_volume_is_loaded_once() {
        let layout = BrickLayout::new(volume(6).grid(), 4, 1).expect("valid");
        let count = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&count);
        let late = LateBricks::new(layout, move || {
            // Relaxed: only a count.
            counted.fetch_add(1, Relaxed);
            Ok(volume(6))
        });
        let early = VolumeBricks::new(Arc::new(volume(6)), layout);
        thread::scope(|scope| {
            for key in 0..layout.brick_count() {
                let (early, late) = (&early, &late);
                scope.spawn(move || {
                    let mut bytes = [vec![1; 64], vec![2; 64]];
                    early.read(key, &mut bytes[0]).expect("in memory");
                    late.read(key, &mut bytes[1]).expect("loaded");
                    assert_eq!(bytes[0], bytes[1]);
                });
            }
        });
        // Relaxed: all threads have ended.
        assert_eq!(count.load(Relaxed), 1);
    }

    #[test]
    fn a_late_volume_that_is_gone_or_has_changed_is_an_error() {
        let layout = BrickLayout::new(volume(6).grid(), 4, 1).expect("valid");
        let mut bytes = [0; 64];
        let gone = LateBricks::new(layout, || Err("no such file".into()));
        assert_eq!(gone.read(0, &mut bytes), Err("no such file".into()));
        let other = LateBricks::new(layout, || Ok(volume(7)));
        let error = other.read(0, &mut bytes).expect_err("another size");
        assert_eq!(error, "the volume has changed since the run began");
    }
}
