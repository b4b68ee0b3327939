//! Tests of series of DICOM images, which are written here in explicit little endian.

use std::path::PathBuf;

use glam::DVec3;

use raddle_graphics::volume::{LoadOptions, Volume, VolumeFormat};

use crate::volume_support::{FRAME, Frame, SLICE, Slice, enhanced};

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
    folder.write("empty.log", b"");
    let loaded = Volume::load_with(&folder.0, &LoadOptions::default(), |_| ()).expect("a series");
    let volume = loaded.volume;
    assert_eq!(loaded.report.format, VolumeFormat::Dicom);
    assert_eq!(loaded.report.files.len(), 4);
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
    let error = folder.error();
    assert!(
        error.contains("f at one position; expected one image"),
        "{error}"
    );
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
    assert!(folder.error().contains("2 series: "));
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

/// Loads an enhanced file.
fn of_frames(frames: &[Frame]) -> Result<Volume, String> {
    let options = LoadOptions::default();
    let loaded = Volume::read(&enhanced(frames)[..], None, "it.dcm", &options, |_| ());
    loaded
        .map(|loaded| loaded.volume)
        .map_err(|error| error.to_string())
}

fn frame(z: f64) -> Frame {
    Frame { z, ..FRAME }
}

#[test]
fn frames_are_sorted_by_the_positions_in_their_descriptions() {
    let volume = of_frames(&[5.0, 0.0, 7.5, 2.5].map(frame)).expect("four frames");
    assert_eq!(volume.size(), [3, 2, 4]);
    assert_eq!(volume.voxels().type_name(), "i16");
    assert_eq!(volume.spacing(), DVec3::new(0.25, 0.5, 2.5));
    assert_eq!(volume.origin(), DVec3::new(10.0, 20.0, 0.0));
    for (z, frame) in [1, 3, 0, 2].into_iter().enumerate() {
        for index in 0..6 {
            let expected = f64::from(100 * frame) + index as f64 - 1024.0;
            assert_eq!(volume.value([index % 3, index / 3, z]), expected);
        }
    }
}

#[test]
fn slopes_that_differ_apply_to_their_own_frames() {
    let steep = Frame {
        slope: "2.5",
        ..frame(0.0)
    };
    let volume = of_frames(&[frame(2.5), steep]).expect("two frames");
    assert_eq!(volume.value([2, 1, 0]), 2.5 * 105.0 - 1024.0);
    assert_eq!(volume.value([2, 1, 1]), 5.0 - 1024.0);
}

#[test]
fn frames_that_are_no_volume_are_refused_with_their_numbers() {
    let turned = Frame {
        orientation: "0\\1\\0\\0\\0\\1",
        ..frame(2.5)
    };
    let other = Frame {
        stack: "2",
        ..frame(2.5)
    };
    let steps = [0.0, 2.5, 7.5, 10.0].map(frame);
    let twice = [0.0, 2.5, 5.0, 2.5].map(frame);
    for (frames, expected) in [
        (
            &steps[..],
            "a gap of 5.000 between frame 2 and frame 3; expected 2.500",
        ),
        (
            &twice,
            "frame 2 and frame 4 at one position; expected one image at each position",
        ),
        (
            &[frame(0.0), turned],
            "frame 2 with another size, type or direction",
        ),
        (
            &[frame(0.0), other],
            "frame 1 and frame 2 in different stacks; expected one image at",
        ),
        (&[frame(0.0)], "a single image; expected several frames"),
    ] {
        let error = of_frames(frames).expect_err("no volume");
        assert!(error.contains(expected), "{error}");
    }
    // The number of frames does not fit their descriptions.
    let mut bytes = enhanced(&steps);
    let at = bytes
        .windows(8)
        .position(|it| it == b"\x28\0\x08\0IS\x02\0")
        .expect("frames");
    bytes[at + 8] = b'5';
    let error = Volume::read(&bytes[..], None, "it.dcm", &LoadOptions::default(), |_| ());
    let error = error.expect_err("five frames").to_string();
    assert!(
        error.contains("descriptions of 4 frames (5200,9230); expected 5"),
        "{error}"
    );
}

#[test]
fn files_with_several_frames_are_parts_of_a_series() {
    let folder = Folder::new("concatenation");
    folder.write("a", &enhanced(&[10.0, 5.0].map(frame)));
    let one = Volume::load(&folder.0).expect("one file in a folder");
    assert_eq!(one.value([0, 0, 0]), 100.0 - 1024.0);
    folder.write("b", &enhanced(&[2.5, 7.5].map(frame)));
    let loaded = Volume::load_with(&folder.0, &LoadOptions::default(), |_| ()).expect("two files");
    assert_eq!(loaded.volume.spacing().z, 2.5);
    let firsts: Vec<f64> = (0..4)
        .map(|z| loaded.volume.value([0, 0, z]) + 1024.0)
        .collect();
    assert_eq!(firsts, [0.0, 100.0, 100.0, 0.0]);
    assert_eq!(loaded.report.files.len(), 2);
    folder.write("c", &enhanced(&[7.5, 12.5].map(frame)));
    let error = folder.error();
    for part in ["frame 2 of ", "b and frame 1 of ", "c at one position"] {
        assert!(error.contains(part), "{error}");
    }
}

/// Writes a scan of two images with number 3, and one with number 2 and other images.
fn two_series(folder: &Folder, kind: &'static str) {
    for (name, z) in [("a", 0.0), ("b", 2.5)] {
        folder.write(
            name,
            &Slice {
                number: "3",
                ..at(z)
            }
            .bytes(),
        );
    }
    let other = Slice {
        number: "2",
        series: "1.2.4",
        kind,
        columns: 4,
        ..at(0.0)
    };
    folder.write("c", &other.bytes());
    folder.write("d", &Slice { z: 2.5, ..other }.bytes());
}

#[test]
fn series_without_different_numbers_are_listed_by_their_identifiers() {
    const LONG: &str = "1.2.826.0.1.3680043.8.498.55601912466372123456789012345678901234";
    for number in ["", "3"] {
        let folder = Folder::new(&format!("same-number-{number}"));
        for (name, series, z) in [("a", LONG, 0.0), ("b", LONG, 2.5), ("c", "1.2.4", 0.0)] {
            let slice = Slice {
                number,
                series,
                z,
                ..SLICE
            };
            folder.write(name, &slice.bytes());
        }
        let error = folder.error();
        assert!(
            error.contains(&format!("{LONG} \"a series\" (2 images)")),
            "{error}"
        );
        assert!(error.contains("1.2.4 \"a series\" (1 image)"), "{error}");
    }
}

#[test]
fn one_of_several_series_is_chosen_by_its_number_or_identifier() {
    let folder = Folder::new("choice");
    two_series(&folder, SLICE.kind);
    let error = folder.error();
    let expected = "2 series: 2 \"a series\" (2 images), 3 \"a series\" (2 images); expected one \
        series; --series with its number or its UID";
    assert!(error.contains(expected), "{error}");
    let load = |series: &str| {
        let series = Some(series.to_owned());
        let options = LoadOptions {
            series,
            ..LoadOptions::default()
        };
        Volume::load_with(&folder.0, &options, |_| ()).map_err(|error| error.to_string())
    };
    for (series, columns) in [("3", 3), ("1.2.3", 3), ("2", 4), ("1.2.4", 4)] {
        let loaded = load(series).expect("a series");
        assert_eq!(loaded.volume.size()[0], columns, "{series}");
        assert_eq!(loaded.report.images_left_out, 2);
    }
    let options = LoadOptions {
        series: Some("3".to_owned()),
        array: Some("a".to_owned()),
        ..LoadOptions::default()
    };
    let named = Volume::load_with(&folder.0, &options, |_| ()).expect_err("no arrays");
    assert!(named.to_string().contains("expected no name of an array"));
    let error = load("4").expect_err("no series");
    assert!(
        error.contains("no series with the number or UID \"4\"; there are 2 \"a series\""),
        "{error}"
    );
    // A file that cannot be read matters only if its series is chosen.
    let bytes = Slice {
        number: "2",
        series: "1.2.4",
        ..SLICE
    }
    .bytes();
    let bits = bytes
        .windows(6)
        .position(|it| it == b"\x28\0\x00\x01US")
        .expect("bits");
    folder.write(
        "d",
        &[&bytes[..bits + 8], &[12], &bytes[bits + 9..]].concat(),
    );
    assert!(load("3").is_ok());
    let error = load("2").expect_err("12 bits");
    assert!(error.contains("d: 12 bits per pixel"), "{error}");
}

#[test]
fn localizers_beside_a_series_are_left_out() {
    let folder = Folder::new("localizer");
    two_series(&folder, "ORIGINAL\\PRIMARY\\LOCALIZER");
    let loaded = Volume::load_with(&folder.0, &LoadOptions::default(), |_| ()).expect("a series");
    assert_eq!(loaded.volume.size(), [3, 2, 2]);
    assert_eq!(
        (loaded.report.images_left_out, loaded.report.files.len()),
        (2, 2)
    );
    // A third series makes the choice unclear, whatever it has.
    folder.write(
        "e",
        &Slice {
            series: "1.2.5",
            number: "",
            ..SLICE
        }
        .bytes(),
    );
    let error = folder.error();
    assert!(
        error.contains("3 series: 2 \"a series\" (2 images), 3 "),
        "{error}"
    );
    assert!(error.contains("1.2.5 \"a series\" (1 image)"), "{error}");
}

// Regression: the end of the fragments also ended the sequence around them, and further attributes
// in it counted as those of the image.
#[test]
fn compressed_pixels_in_a_sequence_do_not_end_it() {
    let plain = frames_with("a.dcm", |_| ()).expect("three frames");
    let nested = frames_with("b.dcm", |bytes| {
        let start = image_start(bytes);
        let icon: &[u8] = b"\x08\0\x40\x11SQ\0\0\xFF\xFF\xFF\xFF\xFE\xFF\0\xE0\xFF\xFF\xFF\xFF\
            \xE0\x7F\x10\0OB\0\0\xFF\xFF\xFF\xFF\xFE\xFF\0\xE0\0\0\0\0\
            \xFE\xFF\0\xE0\x02\0\0\0\x01\x02\xFE\xFF\xDD\xE0\0\0\0\0\
            \x28\0\x02\x01US\x02\0\x05\0\
            \xFE\xFF\x0D\xE0\0\0\0\0\xFE\xFF\xDD\xE0\0\0\0\0";
        bytes.splice(start..start, icon.iter().copied());
    });
    assert_eq!(nested, Ok(plain));
}

#[test]
fn a_disc_with_an_index_and_sub_folders_is_read() {
    let folder = Folder::new("disc");
    // The index is damaged, but it is not needed.
    folder.write("DICOMDIR", &at(0.0).bytes()[..200]);
    folder.write("readme.txt", b"How to look at the images");
    std::fs::create_dir_all(folder.0.join("IMAGES/PAT0/SERIES0")).expect("folders");
    std::fs::create_dir_all(folder.0.join("VIEWER")).expect("a folder");
    folder.write("VIEWER/viewer.exe", &[7; 300]);
    let empty = folder.error();
    assert!(
        empty.contains("a folder without DICOM images; expected "),
        "{empty}"
    );
    for (name, z) in [("0", 0.0), ("1", 2.5), ("2", 5.0)] {
        folder.write(&format!("IMAGES/PAT0/SERIES0/{name}"), &at(z).bytes());
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(&folder.0, folder.0.join("IMAGES/up")).expect("a link");
    let volume = Volume::load(&folder.0).expect("the series in the folders");
    assert_eq!(volume.size(), [3, 2, 3]);
    // Images beside sub-folders are read without them.
    for (name, z) in [("0", 0.0), ("1", 2.5)] {
        folder.write(name, &at(z).bytes());
    }
    let volume = Volume::load(&folder.0).expect("the series in the folder itself");
    assert_eq!(volume.size(), [3, 2, 2]);
}

#[test]
fn an_image_without_distances_between_pixels_needs_them_from_the_caller() {
    let folder = Folder::new("no-spacing");
    for (name, z) in [("a", 0.0), ("b", 2.5)] {
        let mut bytes = at(z).bytes();
        let spacing = [0x28, 0, 0x30, 0];
        let place = bytes.windows(4).position(|tag| tag == spacing);
        bytes[place.expect("the tag") + 2] += 1;
        folder.write(name, &bytes);
    }
    let error = folder.error();
    assert!(
        error.contains("without distances between its pixels"),
        "{error}"
    );
    assert!(error.contains("--spacing"), "{error}");
    let options = LoadOptions {
        spacing: Some(DVec3::new(0.5, 0.5, 2.5)),
        ..LoadOptions::default()
    };
    let loaded = Volume::load_with(&folder.0, &options, |_| ()).expect("a series");
    assert_eq!(loaded.volume.spacing(), DVec3::new(0.5, 0.5, 2.5));
}

// Regression: an image at the end of a series that was not copied was left out silently.
#[test]
fn a_file_that_is_too_short_for_an_image_is_none_that_was_copied() {
    for length in [0, 131] {
        let folder = Folder::new(&format!("copied-{length}"));
        for (name, z) in [("a.dcm", 0.0), ("b.dcm", 2.5), ("c.dcm", 5.0)] {
            folder.write(name, &at(z).bytes());
        }
        folder.write("list.txt", b"");
        assert_eq!(Volume::load(&folder.0).expect("a series").size(), [3, 2, 3]);
        folder.write("d.dcm", &at(7.5).bytes()[..length]);
        let error = folder.error();
        assert!(error.contains("d.dcm: "), "{error}");
        assert!(
            error.contains(&format!("a file of {length} bytes")),
            "{error}"
        );
    }
}

#[test]
fn the_index_of_a_disc_refers_to_its_folder() {
    let folder = Folder::new("index");
    folder.write("DICOMDIR", &at(0.0).bytes());
    let error = Volume::load(folder.0.join("DICOMDIR")).expect_err("an index");
    let error = error.to_string();
    assert!(
        error.ends_with("the index of a disc; expected its folder"),
        "{error}"
    );
}
