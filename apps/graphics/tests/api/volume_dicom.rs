//! Tests of series of DICOM images, which are written here in explicit little endian.

use std::path::PathBuf;

use glam::DVec3;

use raddle_graphics::volume::{LoadOptions, Volume, VolumeFormat};

use crate::volume_support::{SLICE, Slice};

/// A folder for the images of a series, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = format!("raddle-dicom-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        Self(folder)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.join(name), bytes).expect("a file can be written");
    }

    fn error(&self) -> String {
        let error = Volume::load(&self.0)
            .expect_err("the series is bad")
            .to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains("; expected "), "{error}");
        error
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn at(z: f64) -> Slice {
    Slice { z, ..SLICE }
}

#[test]
fn images_are_sorted_by_their_positions() {
    let folder = Folder::new("sorted");
    for (name, z) in [("a", 5.0), ("b", 0.0), ("c", 2.5), ("d", 7.5)] {
        folder.write(name, &at(z).bytes());
    }
    folder.write("notes.txt", b"not an image");
    folder.write("empty", b"");
    let loaded = Volume::load_with(&folder.0, &LoadOptions::default(), |_| ()).expect("a series");
    let volume = loaded.volume;
    assert_eq!(loaded.report.format, VolumeFormat::Dicom);
    assert_eq!(loaded.report.file_count, 4);
    assert_eq!(volume.size(), [3, 2, 4]);
    assert_eq!(volume.voxels().type_name(), "i16");
    assert_eq!(volume.spacing(), DVec3::new(0.25, 0.5, 2.5));
    assert_eq!(volume.origin(), DVec3::new(10.0, 20.0, 0.0));
    for z in 0..4 {
        assert_eq!(volume.value([1, 1, z]), 25.0 * z as f64 + 4.0 - 1024.0);
    }
}

#[test]
fn a_missing_image_and_two_at_one_place_are_errors() {
    let folder = Folder::new("gap");
    for (name, z) in [("a", 0.0), ("b", 2.5), ("d", 7.5), ("e", 10.0)] {
        folder.write(name, &at(z).bytes());
    }
    let error = folder.error();
    assert!(error.contains("a gap of 5.000 between"), "{error}");
    assert!(
        error.contains("expected 2.500, as between other images; is one missing?"),
        "{error}"
    );
    folder.write("c", &at(5.0).bytes());
    assert!(Volume::load(&folder.0).is_ok());
    folder.write("f", &at(5.0).bytes());
    assert!(folder.error().contains("a gap of 0.000 between"));
}

#[test]
fn slopes_that_differ_apply_to_their_own_images() {
    let folder = Folder::new("slopes");
    folder.write("a", &at(0.0).bytes());
    let steep = Slice {
        slope: "2.5",
        ..at(2.5)
    };
    folder.write("b", &steep.bytes());
    let volume = Volume::load(&folder.0).expect("a series");
    assert_eq!(volume.value([2, 0, 0]), 2.0 - 1024.0);
    assert_eq!(volume.value([2, 0, 1]), 2.5 * 27.0 - 1024.0);
}

#[test]
fn the_spacing_of_the_options_replaces_that_of_the_images() {
    let folder = Folder::new("spacing");
    folder.write("a", &at(0.0).bytes());
    folder.write("b", &at(2.5).bytes());
    let options = LoadOptions {
        spacing: Some(DVec3::new(1.0, 2.0, 4.0)),
        ..LoadOptions::default()
    };
    let loaded = Volume::load_with(&folder.0, &options, |_| ()).expect("a series");
    assert_eq!(loaded.volume.spacing(), DVec3::new(1.0, 2.0, 4.0));
}

#[test]
fn bits_above_the_stored_ones_do_not_count() {
    // The value of the last pixel: in 12 bits 0x8FE, which is negative with a sign.
    for (is_signed, expected) in [(1, f64::from(0x8FE - 0x1000)), (0, f64::from(0x8FE))] {
        let folder = Folder::new(&format!("stored{is_signed}"));
        for (name, z) in [("a", 0.0), ("b", 2.5)] {
            let mut bytes = at(z).bytes();
            let at = bytes
                .windows(4)
                .position(|it| it == b"\x28\0\x00\x01")
                .expect("bits");
            let stored = b"\x28\0\x01\x01US\x02\0\x0C\0\x28\0\x02\x01US\x02\0\x0B\0";
            bytes.splice(at + 10..at + 10, stored.iter().copied());
            let at = bytes
                .windows(4)
                .position(|it| it == b"\x28\0\x03\x01")
                .expect("a sign");
            bytes[at + 8] = is_signed;
            let end = bytes.len();
            bytes[end - 2..].copy_from_slice(&0xF8FE_u16.to_le_bytes());
            folder.write(name, &bytes);
        }
        let volume = Volume::load(&folder.0).expect("a series");
        assert_eq!(volume.value([2, 1, 1]), expected - 1024.0);
    }
}

#[test]
fn one_file_may_have_all_frames() {
    let folder = Folder::new("frames");
    let frames = Slice { frames: 3, ..SLICE };
    folder.write("a.dcm", &frames.bytes());
    let volume = Volume::load(folder.0.join("a.dcm")).expect("three frames");
    assert_eq!(volume.size(), [3, 2, 3]);
    assert_eq!(volume.value([2, 1, 2]), 17.0 - 1024.0);
    assert_eq!(volume.spacing(), DVec3::new(0.25, 0.5, 2.5));
    folder.write("b.dcm", &SLICE.bytes());
    let error = Volume::load(folder.0.join("b.dcm"))
        .expect_err("one frame")
        .to_string();
    assert!(
        error.contains("a single image; expected several frames"),
        "{error}"
    );
}

#[test]
fn series_that_are_no_volume_are_refused() {
    let folder = Folder::new("refused");
    assert!(folder.error().contains("a folder without DICOM images"));
    folder.write("a", &at(0.0).bytes());
    assert!(folder.error().contains("a single image"));
    let other = Slice {
        series: "1.2.4",
        ..at(2.5)
    };
    folder.write("b", &other.bytes());
    let error = folder.error();
    assert!(
        error.contains("2 series, 1.2.3 (1 images, such as a), 1.2.4"),
        "{error}"
    );
    let wide = Slice {
        columns: 4,
        ..at(2.5)
    };
    folder.write("b", &wide.bytes());
    assert!(
        folder
            .error()
            .contains("with another size, type or direction")
    );
    let compressed = Slice {
        syntax: "1.2.840.10008.1.2.4.70",
        ..at(2.5)
    };
    folder.write("b", &compressed.bytes());
    let error = folder.error();
    assert!(
        error.contains("images compressed by transfer syntax 1.2.840.10008.1.2.4.70"),
        "{error}"
    );
    assert!(
        error.contains("refused"),
        "the error names the file: {error}"
    );
    let bytes = at(2.5).bytes();
    folder.write("b", &bytes[..bytes.len() - 3]);
    let error = folder.error();
    assert!(error.contains("b: byte "), "{error}");
    assert!(
        error.contains("the end of the file; expected 12 bytes of pixels"),
        "{error}"
    );
}

/// Loads three frames after a change of their file.
fn frames_with(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Result<Volume, String> {
    let mut bytes = Slice { frames: 3, ..SLICE }.bytes();
    change(&mut bytes);
    let options = LoadOptions::default();
    let loaded = Volume::read(&bytes[..], None, name, &options, |_| ());
    loaded
        .map(|loaded| loaded.volume)
        .map_err(|error| error.to_string())
}

/// Returns the place of the first element of the image.
fn image_start(bytes: &[u8]) -> usize {
    let len = bytes[140..144].try_into().expect("four bytes");
    144 + u32::from_le_bytes(len) as usize
}

#[test]
fn a_claimed_length_reserves_no_memory() {
    // Private data of 4 GB, of which the file has nothing; and pixels of 4 GB.
    let error = frames_with("a.dcm", |bytes| {
        let start = image_start(bytes);
        bytes.truncate(start);
        bytes.extend(b"\x09\0\x01\x10OB\0\0\xFE\xFF\xFF\xFFabcd");
    });
    let error = error.expect_err("an error");
    assert!(error.contains("an image without"), "{error}");
    let error = frames_with("b.dcm", |bytes| {
        let place = bytes.len() - 36 - 4;
        bytes[place..place + 4].copy_from_slice(&[0xFE, 0xFF, 0xFF, 0xFF]);
    });
    let error = error.expect_err("an error");
    assert!(
        error.contains("4294967294 bytes of pixels; expected 36 bytes"),
        "{error}"
    );
    // A header of 4 GB.
    let error = frames_with("c.dcm", |bytes| bytes[140..144].fill(0xFF));
    assert!(error.is_err());
}

#[test]
fn the_image_in_a_sequence_is_not_the_image() {
    let plain = frames_with("a.dcm", |_| ()).expect("three frames");
    let nested = frames_with("b.dcm", |bytes| {
        let start = image_start(bytes);
        // A sequence of undefined length with an item, which has a number of rows and pixels.
        let icon: &[u8] = b"\x08\0\x40\x11SQ\0\0\xFF\xFF\xFF\xFF\xFE\xFF\0\xE0\xFF\xFF\xFF\xFF\
            \x28\0\x10\0US\x02\0\x63\0\xE0\x7F\x10\0OW\0\0\x02\0\0\0\x01\x02\
            \xFE\xFF\x0D\xE0\0\0\0\0\xFE\xFF\xDD\xE0\0\0\0\0";
        bytes.splice(start..start, icon.iter().copied());
    });
    assert_eq!(nested, Ok(plain));
}

#[test]
fn deflated_images_are_expanded() {
    let plain = frames_with("a.dcm", |_| ()).expect("three frames");
    let syntax = "1.2.840.10008.1.2.1.99";
    let mut bytes = Slice {
        frames: 3,
        syntax,
        ..SLICE
    }
    .bytes();
    let image = bytes.split_off(image_start(&bytes));
    let mut encoder = flate2::write::DeflateEncoder::new(bytes, flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, &image).expect("memory takes it");
    let bytes = encoder.finish().expect("memory takes it");
    let options = LoadOptions::default();
    let loaded = Volume::read(&bytes[..], None, "a.dcm", &options, |_| ()).expect("three frames");
    assert_eq!(loaded.volume, plain);
}
