//! Checks for the readers of volumes and transfer functions.

use raddle_graphics::file::FileError;
use raddle_graphics::volume::{LoadOptions, TransferFunction, Volume};

/// Reads `bytes` as a volume called `name`, with and without a known length, and checks the
/// results.
///
/// # Panics
/// If a volume violates a guarantee of [`Volume`], if an error takes more than one line or does not
/// name the file, or if the same bytes give two different volumes.
pub fn read_volume(bytes: &[u8], name: &str) {
    let read = |length| {
        let options = LoadOptions {
            expanded_bytes_max: 16 << 20,
            ..LoadOptions::default()
        };
        Volume::read(bytes, length, name, &options, |_| ())
    };
    let (known, unknown) = (read(Some(bytes.len() as u64)), read(None));
    for outcome in [&known, &unknown] {
        match outcome {
            Ok(loaded) => check_volume(&loaded.volume),
            Err(error) => check_error(error, name),
        }
    }
    if let (Ok(known), Ok(unknown)) = (&known, &unknown) {
        assert_eq!(known.volume, unknown.volume);
    }
}

/// Reads `bytes` as a transfer function and checks the result.
///
/// # Panics
/// If an opacity is out of range, or if an error takes more than one line.
pub fn read_transfer(bytes: &[u8]) {
    match TransferFunction::read_bytes(bytes, "it.txt") {
        Ok(transfer) => {
            for point in transfer.points() {
                let colour = transfer.at(point.value);
                assert!((0.0..=1.0).contains(&colour.w), "{colour}");
            }
        }
        Err(error) => check_error(&error, "it.txt"),
    }
}

fn check_volume(volume: &Volume) {
    let size = volume.size();
    assert!(size.iter().all(|&len| len >= 2), "{size:?}");
    assert_eq!(volume.voxels().len(), size.iter().product::<usize>());
    let step = (volume.voxels().len() / 1000).max(1);
    let some = (0..volume.voxels().len()).step_by(step);
    assert!(
        some.into_iter()
            .all(|index| volume.voxels().value(index).is_finite())
    );
    assert!(volume.world_of_voxel().is_finite() && volume.origin().is_finite());
    assert!(volume.world_of_voxel().determinant() != 0.0);
}

fn check_error(error: &FileError, name: &str) {
    let message = error.to_string();
    assert!(message.starts_with(name), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(!message.contains(char::is_control), "{message:?}");
    assert!(message.contains("; expected "), "{message}");
}
