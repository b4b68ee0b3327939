//! Tests of files of bricks: what was written is read, and no damage passes unnoticed.

use std::fs;
use std::io::Cursor;

use glam::{DMat3, DVec3};
use proptest::prelude::*;

use super::*;
use crate::volume::{Formula, LoadOptions, Volume, Voxels};

/// A file in the folder for temporary files, which is removed at the end.
struct Written(PathBuf);

impl Written {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let name = format!("raddle-bricks-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, bytes).expect("a temporary file");
        Self(path)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // It may not exist if the test failed.
        let _ = fs::remove_file(&self.0);
    }
}

fn bytes_of(volume: &impl VoxelSource, edge: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = BrickFileOptions { edge, level: 1 };
    let mut slices = 0;
    let report = write_bricks(volume, options, &mut bytes, |done, all| {
        assert!(slices < done && done <= all);
        slices = done;
    });
    let report = report.expect("nothing fails");
    assert_eq!(report.file_bytes, bytes.len() as u64);
    assert_eq!(slices, volume.grid().size()[2]);
    bytes
}

fn volume(size: [usize; 3], kind: usize) -> Volume {
    let count: usize = size.iter().product();
    let value = |index: usize| (index.wrapping_mul(2_654_435_761) >> 7) % 300;
    let all = 0..count;
    let voxels: Voxels = match kind {
        0 => all
            .map(|index| value(index) as u8)
            .collect::<Vec<_>>()
            .into(),
        1 => all
            .map(|index| value(index) as i8)
            .collect::<Vec<_>>()
            .into(),
        2 => all
            .map(|index| value(index) as u16)
            .collect::<Vec<_>>()
            .into(),
        3 => all
            .map(|index| value(index) as i16 - 150)
            .collect::<Vec<_>>()
            .into(),
        _ => all
            .map(|index| value(index) as f32 / 7.0)
            .collect::<Vec<_>>()
            .into(),
    };
    let place = DVec3::new(0.5, 2.0, 1.25);
    let volume = Volume::new(size, voxels).expect("a sound volume");
    let placed = volume.with_geometry(place, 3.0 * place, DMat3::IDENTITY);
    placed.expect("a sound place")
}

/// Reads all that a file has. The bricks are those of the volume unless there is an error.
fn check(path: &Path, volume: &Volume) -> Result<(), String> {
    let file = BrickFile::open(path).map_err(|error| error.to_string())?;
    let macrocells = file.macrocells().map_err(|error| error.to_string())?;
    let layout = *file.layout();
    assert_eq!(
        (file.grid(), file.kind()),
        (volume.grid(), volume.voxels().kind())
    );
    assert_eq!(macrocells, Macrocells::of(volume));
    assert_eq!(file.range(), macrocells.range());
    let mut both = [vec![0; layout.brick_bytes()], vec![0; layout.brick_bytes()]];
    for key in 0..layout.brick_count() {
        BrickSource::read(&file, key, &mut both[0])?;
        layout.write_any(volume.voxels(), key, &mut both[1]);
        assert!(both[0] == both[1], "{key}");
    }
    let beyond = BrickSource::read(&file, layout.brick_count(), &mut both[0]);
    assert!(beyond.is_err_and(|error| error.contains("a number below")));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_was_written_is_read(
        size in prop::array::uniform3(2..24_usize),
        edge in 1..14_usize,
        kind in 0..5_usize,
    ) {
        let volume = volume(size, kind);
        let bytes = bytes_of(&volume, edge);
        let file = Written::new("same", &bytes);
        prop_assert!(BrickFile::is_at(&file.0));
        prop_assert_eq!(check(&file.0, &volume), Ok(()));
        let loaded = Volume::load(&file.0).expect("a file of bricks");
        prop_assert_eq!(&loaded, &volume);
        let (input, options) = (Cursor::new(&bytes), LoadOptions::default());
        let streamed = Volume::read(input, None, "stream", &options, |_| ());
        prop_assert_eq!(&streamed.expect("bricks").volume, &volume);
    }

    #[test]
    fn damage_is_an_error(
        at in any::<prop::sample::Index>(),
        bit in 0..8_u32,
        cut in any::<bool>(),
    ) {
        let volume = volume([13, 9, 11], 3);
        let mut bytes = bytes_of(&volume, 5);
        let at = at.index(bytes.len());
        match cut {
            true => bytes.truncate(at),
            false => bytes[at] ^= 1 << bit,
        }
        let file = Written::new("damaged", &bytes);
        let error = check(&file.0, &volume).expect_err("a checksum differs");
        prop_assert!(error.contains("raddle-bricks-"), "{error}");
        prop_assert!(error.contains("expected"), "{error}");
        prop_assert_eq!(error.lines().count(), 1);
        // A reader from front to back does not need the index, so it may not see the damage.
        if let Ok(loaded) = Volume::load(&file.0) {
            prop_assert_eq!(&loaded, &volume);
        }
    }
}

#[test]
fn a_volume_far_from_the_origin_keeps_its_place() {
    let volume = volume([7, 8, 9], 2);
    let far = DVec3::new(5_400_000.0, -0.25, 1e9);
    let file = Written::new("far", &bytes_of(&(&volume, far), 4));
    let opened = BrickFile::open(&file.0).expect("bricks");
    let loaded = Volume::load_with(&file.0, &LoadOptions::default(), |_| ()).expect("bricks");
    assert_eq!(opened.grid(), loaded.volume.grid());
    assert_eq!(opened.offset(), loaded.report.offset);
    assert_eq!(
        opened.offset() + opened.grid().origin(),
        far + volume.grid().origin()
    );
    assert!(opened.grid().origin().abs().max_element() < 1e3);
}

#[test]
fn a_generated_volume_is_written_slab_by_slab() {
    let size = [30, 20, 41];
    let volume = Formula::Spheres.volume(size).expect("a small volume");
    let source = (Formula::Spheres, *volume.grid());
    for edge in [3, 4, 12, 50] {
        assert!(bytes_of(&source, edge) == bytes_of(&volume, edge), "{edge}");
    }
}

#[test]
fn other_files_are_not_bricks() {
    assert!(!BrickFile::is_at(Path::new("/")));
    assert!(!BrickFile::is_at(Path::new("no/such/file")));
    let file = Written::new("text", b"RADBRIC");
    assert!(!BrickFile::is_at(&file.0));
    let error = BrickFile::open(&file.0).expect_err("too short").to_string();
    assert!(error.contains("a complete file of bricks"), "{error}");
}
