//! Tests of series of DICOM images, which are written here in explicit little endian.

use std::path::PathBuf;

use glam::DVec3;

use crate::volume::{LoadOptions, Volume, VolumeFormat};

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

/// An image of 3 × 2 pixels of 16 bits.
#[derive(Clone)]
struct Slice {
    z: f64,
    series: &'static str,
    slope: &'static str,
    syntax: &'static str,
    frames: usize,
    columns: u16,
}

const SLICE: Slice = Slice {
    z: 0.0,
    series: "1.2.3",
    slope: "1",
    syntax: "1.2.840.10008.1.2.1",
    frames: 1,
    columns: 3,
};

/// Appends an element with a type of a short length.
fn element(bytes: &mut Vec<u8>, group: u16, number: u16, kind: &[u8; 2], value: &[u8]) {
    let mut value = value.to_vec();
    if value.len() % 2 == 1 {
        value.push(if kind == b"UI" { 0 } else { b' ' });
    }
    bytes.extend(group.to_le_bytes());
    bytes.extend(number.to_le_bytes());
    bytes.extend(kind);
    bytes.extend((value.len() as u16).to_le_bytes());
    bytes.extend(value);
}

impl Slice {
    fn bytes(&self) -> Vec<u8> {
        let mut meta = Vec::new();
        element(&mut meta, 2, 2, b"UI", b"1.2.840.10008.5.1.4.1.1.2");
        element(&mut meta, 2, 3, b"UI", b"1.2.3.4");
        element(&mut meta, 2, 0x10, b"UI", self.syntax.as_bytes());
        let mut bytes = vec![0; 128];
        bytes.extend(b"DICM");
        element(&mut bytes, 2, 0, b"UL", &(meta.len() as u32).to_le_bytes());
        bytes.extend(meta);
        element(&mut bytes, 0x18, 0x88, b"DS", b"2.5");
        element(&mut bytes, 0x20, 0xE, b"UI", self.series.as_bytes());
        element(
            &mut bytes,
            0x20,
            0x32,
            b"DS",
            format!("10\\20\\{}", self.z).as_bytes(),
        );
        element(&mut bytes, 0x20, 0x37, b"DS", b"1\\0\\0\\0\\1\\0");
        element(&mut bytes, 0x28, 2, b"US", &1_u16.to_le_bytes());
        element(
            &mut bytes,
            0x28,
            8,
            b"IS",
            self.frames.to_string().as_bytes(),
        );
        element(&mut bytes, 0x28, 0x10, b"US", &2_u16.to_le_bytes());
        element(&mut bytes, 0x28, 0x11, b"US", &self.columns.to_le_bytes());
        element(&mut bytes, 0x28, 0x30, b"DS", b"0.5\\0.25");
        element(&mut bytes, 0x28, 0x100, b"US", &16_u16.to_le_bytes());
        element(&mut bytes, 0x28, 0x103, b"US", &0_u16.to_le_bytes());
        element(&mut bytes, 0x28, 0x1052, b"DS", b"-1024");
        element(&mut bytes, 0x28, 0x1053, b"DS", self.slope.as_bytes());
        let count = self.frames * 2 * usize::from(self.columns);
        let first = (10.0 * self.z) as u16;
        let pixels = (0..count as u16).flat_map(|index| (first + index).to_le_bytes());
        bytes.extend(0x7FE0_u16.to_le_bytes());
        bytes.extend(0x10_u16.to_le_bytes());
        bytes.extend(b"OW\0\0");
        bytes.extend((2 * count as u32).to_le_bytes());
        bytes.extend(pixels);
        bytes
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
    assert!(
        error.contains("a DICOM file that cannot be parsed"),
        "{error}"
    );
}
