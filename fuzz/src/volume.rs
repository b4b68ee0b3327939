//! Checks for the readers of volumes and transfer functions.

use std::fs;
use std::path::{Path, PathBuf};

use raddle_graphics::file::FileError;
use raddle_graphics::volume::{LoadOptions, Loaded, TransferFunction, Volume};

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

/// The bytes between the files of an input that has several.
const BETWEEN_FILES: &[u8] = b"\n----\n";
/// The maximum number of files.
const FILES_MAX: usize = 16;

/// Splits an input into files.
pub fn files_in(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    let next = move || {
        let bytes = rest?;
        let mut windows = bytes.windows(BETWEEN_FILES.len());
        let end = windows.position(|window| window == BETWEEN_FILES);
        rest = end.map(|end| &bytes[end + BETWEEN_FILES.len()..]);
        Some(&bytes[..end.unwrap_or(bytes.len())])
    };
    std::iter::from_fn(next).take(FILES_MAX)
}

/// Reads a folder with `files`, and checks the result.
///
/// # Panics
/// As [`read_volume`] does, and if a file cannot be written.
pub fn read_series(files: &[Vec<u8>]) {
    let folder = Folder::with(files);
    match load(&folder.0) {
        Ok(loaded) => check_volume(&loaded.volume),
        Err(error) => check_error(&error, &folder.0.display().to_string()),
    }
}

/// Reads a header that may name the files `0`, `1` and so on, and checks the result.
///
/// # Panics
/// As [`read_volume`] does, and if a file cannot be written.
pub fn read_detached(header: &[u8], files: &[&[u8]]) {
    let folder = Folder::with(files);
    let path = folder.0.join("it");
    fs::write(&path, header).expect("a file in the folder");
    match load(&path) {
        Ok(loaded) => check_volume(&loaded.volume),
        // The header may name a file outside of the folder, and the error is that of this file.
        Err(error) => check_error(&error, &error.path.display().to_string()),
    }
}

fn load(path: &Path) -> Result<Loaded, FileError> {
    let options = LoadOptions {
        expanded_bytes_max: 16 << 20,
        ..LoadOptions::default()
    };
    Volume::load_with(path, &options, |_| ())
}

/// A folder of this process, which is removed at the end of an input.
struct Folder(PathBuf);

impl Folder {
    /// Creates a folder of files that are named by their indices.
    fn with(files: &[impl AsRef<[u8]>]) -> Self {
        let folder = format!("raddle-fuzz-{}", std::process::id());
        let folder = Self(std::env::temp_dir().join(folder));
        fs::create_dir_all(&folder.0).expect("a folder for temporary files");
        for (index, bytes) in files.iter().enumerate() {
            let path = folder.0.join(index.to_string());
            fs::write(path, bytes).expect("a file in the folder");
        }
        folder
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("the folder can be removed");
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
