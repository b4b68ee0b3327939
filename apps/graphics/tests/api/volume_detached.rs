//! Voxels in files beside their header, and errors that name these files.

use std::path::{Path, PathBuf};

use raddle_graphics::volume::{LoadOptions, Loaded, Volume, Voxels};

use crate::volume_support::*;

/// A folder that is removed at the end of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = format!("raddle-volume-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        Self(folder)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("a file can be written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).expect("the folder can be removed");
    }
}

fn load(path: &Path) -> Loaded {
    let loaded = Volume::load_with(path, &LoadOptions::default(), |_| ());
    loaded.unwrap_or_else(|error| panic!("{error}"))
}

fn error(path: &Path) -> String {
    let error = Volume::load(path)
        .expect_err("the files are bad")
        .to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("; expected "), "{error}");
    error
}

/// Returns a MetaImage header that ends with the field of the data.
fn metaimage_of(data_file: &str) -> Vec<u8> {
    let header = metaimage("", b"");
    let text = String::from_utf8(header).expect("a header is text");
    text.replace("LOCAL\n", &format!("{data_file}\n"))
        .into_bytes()
}

/// Returns an NRRD header with the field of the data, and further lines.
fn nrrd_of(data_file: &str) -> Vec<u8> {
    let fields = format!("endian: little\nencoding: raw\ndata file: {data_file}");
    let mut header = nrrd(&fields, b"");
    // The empty line at the end.
    header.pop();
    header
}

#[test]
fn data_in_a_file_of_its_own_are_found_and_their_errors_name_it() {
    let folder = Folder::new("beside");
    let header = nrrd_of("it.bin");
    let path = folder.write("it.nhdr", &header);
    let missing = error(&path);
    assert!(
        missing.contains("it.nhdr: line 9: the file of voxels"),
        "{missing}"
    );
    folder.write("it.bin", &little()[..100]);
    let short = error(&path);
    assert!(
        short.contains("it.bin: byte 0: 100 bytes of voxels"),
        "{short}"
    );
    folder.write("it.bin", &little());
    let loaded = load(&path);
    assert!(*loaded.volume.voxels() == Voxels::from(voxels()));
    assert_eq!(loaded.report.file_bytes, header.len() as u64 + 120);
    assert_eq!(loaded.report.files.len(), 2);
}

#[test]
fn compressed_data_in_a_file_of_its_own_are_expanded_once() {
    let folder = Folder::new("twice");
    // Programs name such data .raw.gz, which other files with this name are, too.
    for name in ["it.raw.gz", "it.bin"] {
        let fields = format!("endian: little\nencoding: gzip\ndata file: {name}");
        let path = folder.write("it.nhdr", &nrrd(&fields, b""));
        folder.write(name, &gzip(&little()));
        let loaded = load(&path);
        assert!(*loaded.volume.voxels() == Voxels::from(voxels()), "{name}");
        assert_eq!(loaded.report.trailing_bytes, 0, "{name}");
    }
}

#[test]
fn data_in_many_files_follow_each_other() {
    let folder = Folder::new("many");
    // 5 × 4 × 3 voxels of two bytes: slices of 40 bytes, rows of 10.
    let mut slices = String::new();
    let mut rows = String::new();
    for (index, slice) in little().chunks(40).enumerate() {
        folder.write(&format!("s{:03}.raw", 10 + 5 * index), slice);
        folder.write(&format!("back {}.raw", 3 - index), slice);
        folder.write(&format!("50%-{}.raw", index + 1), slice);
        slices += &format!("s{:03}.raw\n", 10 + 5 * index);
    }
    for (index, row) in little().chunks(10).enumerate() {
        folder.write(&format!("row{index}"), row);
        rows += &format!("row{index}\n");
    }
    folder.write("all.raw", &little());
    let cases = [
        (metaimage_of(&format!("LIST\n{slices}")), 3),
        (metaimage_of(&format!("LIST 2\n{slices}further lines\n")), 3),
        (metaimage_of(&format!("LIST 1\n{rows}")), 12),
        (metaimage_of("LIST 3\nall.raw"), 1),
        (metaimage_of("s%03d.raw 10 20 5"), 3),
        (metaimage_of("50%%-%d.raw"), 3),
        (metaimage_of("50%%-%d.raw 1"), 3),
        (metaimage_of("50%%-%i.raw 1 3"), 3),
        (nrrd_of(&format!("LIST\n{slices}")), 3),
        (nrrd_of(&format!("LIST 2\n\n{slices}")), 3),
        (nrrd_of(&format!("LIST 1\n{rows}")), 12),
        (nrrd_of("LIST 3\nall.raw\n"), 1),
        (nrrd_of(&format!("LIST 3\n{slices}")), 3),
        (nrrd_of("s%03d.raw 10 20 5"), 3),
        (nrrd_of("s%03d.raw 10 24 5 2\n"), 3),
        (nrrd_of("row%d 0 11 1 1"), 12),
        (nrrd_of("50%%-%u.raw 1 3 1 3"), 3),
    ];
    for (header, count) in cases {
        let path = folder.write("it", &header);
        let loaded = load(&path);
        let header = String::from_utf8_lossy(&header);
        assert!(
            *loaded.volume.voxels() == Voxels::from(voxels()),
            "{header}"
        );
        assert_eq!(loaded.report.files.len(), 1 + count, "{header}");
    }
    // An axis of size 1 counts among the dimensions of a file.
    for (sizes, data_file) in [
        ("1 5 4 3", "s%03d.raw 10 20 5"),
        ("1 5 4 3", "s%03d.raw 10 20 5 3"),
        ("1 5 4 3", "row%d 0 11 1 2"),
        ("5 4 3 1", "LIST\nall.raw\n"),
    ] {
        let header = String::from_utf8(nrrd_of(data_file)).expect("a header is text");
        let axes = format!("dimension: 4\nsizes: {sizes}");
        let header = header.replace("dimension: 3\nsizes: 5 4 3", &axes);
        let path = folder.write("it", header.as_bytes());
        assert!(*load(&path).volume.voxels() == Voxels::from(voxels()));
    }
    let path = folder.write("it", &nrrd_of("back%2d.raw 3 1 -1"));
    assert!(*load(&path).volume.voxels() == Voxels::from(voxels()));
}

#[test]
fn compressed_slices_are_expanded_one_by_one() {
    let folder = Folder::new("slices");
    for (index, slice) in little().chunks(40).enumerate() {
        folder.write(&format!("{index}.gz"), &gzip(slice));
        folder.write(&format!("{index}.z"), &zlib(slice));
        folder.write(&format!("{index}.raw"), &[&[1, 2, 3], slice].concat());
    }
    let gzipped = nrrd_of("%d.gz 0 2 1");
    let gzipped = String::from_utf8(gzipped)
        .expect("text")
        .replace("raw\n", "gzip\n");
    let text = |data_file| String::from_utf8(metaimage_of(data_file)).expect("a header is text");
    let deflated = text("%d.z 0 2").replace("ElementD", "CompressedData = True\nElementD");
    let behind = text("%d.raw 0 2").replace("ElementD", "HeaderSize = 3\nElementD");
    let last = text("%d.raw 0 2").replace("ElementD", "HeaderSize = -1\nElementD");
    for header in [gzipped, deflated, behind, last] {
        let path = folder.write("it", header.as_bytes());
        assert!(
            *load(&path).volume.voxels() == Voxels::from(voxels()),
            "{header}"
        );
    }
}

#[test]
fn files_of_data_that_do_not_fit_the_header_are_errors() {
    let folder = Folder::new("wrong");
    for (index, slice) in little().chunks(40).enumerate() {
        folder.write(&format!("{index}"), slice);
    }
    folder.write("short", &little()[..39]);
    let cases = [
        (
            nrrd_of("LIST\n0\n1\n"),
            "line 9: 2 files; expected 3, one for each slice",
        ),
        (
            nrrd_of("LIST\n0\n1\n2\n2\n"),
            "4 files; expected 3, one for each slice",
        ),
        (
            nrrd_of("LIST 1\n0\n1\n2\n"),
            "3 files; expected 12, one for each row",
        ),
        (
            nrrd_of("LIST 3\n0\n1\n"),
            "2 files; expected a number of files that divides 3",
        ),
        (
            nrrd_of("LIST 3\n"),
            "0 files; expected a number of files that divides 3",
        ),
        (
            nrrd_of("LIST 4\n0\n"),
            "line 9: \"LIST 4\"; expected a name, \"LIST [1 to 3]\"",
        ),
        (nrrd_of("LIST x\n0\n"), "\"LIST x\"; expected"),
        (nrrd_of("%d 0 2 x"), "\"%d 0 2 x\"; expected"),
        (nrrd_of("%d 0 2 0"), "0 files; expected 3"),
        (nrrd_of("%d 2 0 1"), "0 files; expected 3"),
        (
            nrrd_of("%d 0 9223372036854775807 1"),
            "9223372036854775808 files; expected 3",
        ),
        (
            nrrd_of("%d -9223372036854775808 9223372036854775807 1"),
            "0 files; expected 3",
        ),
        (nrrd_of("%d 1 3 1"), "line 9: the file of voxels"),
        (
            nrrd_of("LIST\n0\nshort\n2\n"),
            "short: byte 0: 39 bytes of voxels; expected 40 bytes for 1/3 of 5 × 4 × 3 voxels",
        ),
        (
            nrrd_of("LIST\n0\nnowhere\n2\n"),
            "line 11: the file of voxels",
        ),
        (
            metaimage_of("LIST 4\n0"),
            "expected a name, \"LOCAL\", \"LIST\"",
        ),
        (
            metaimage_of("LIST 2 2\n0"),
            "expected a name, \"LOCAL\", \"LIST\"",
        ),
        (
            metaimage_of("LIST\n0\n1"),
            "line 7: 2 files; expected 3, one for each slice",
        ),
        (
            metaimage_of("LIST"),
            "line 7: 0 files; expected 3, one for each slice",
        ),
        (metaimage_of("%d"), "line 7: the file of voxels"),
        (metaimage_of("%d 0"), "4 files; expected 3"),
        (
            metaimage_of("%d 0 2 1 1"),
            "expected a name, \"LOCAL\", \"LIST\"",
        ),
        // Without one number in the name, it is a name.
        (metaimage_of("%s"), "line 7: the file of voxels"),
        (metaimage_of("%d%d"), "line 7: the file of voxels"),
        (metaimage_of("%999d"), "line 7: the file of voxels"),
    ];
    for (header, expected) in cases {
        let path = folder.write("it", &header);
        let message = error(&path);
        assert!(message.contains(expected), "{message}\n{expected}");
    }
}

#[test]
fn devices_and_pipes_are_no_files_of_data() {
    let folder = Folder::new("special");
    // Opening a pipe without a writer would never return, and the device has no end.
    let made = std::process::Command::new("mkfifo")
        .arg(folder.0.join("pipe"))
        .status();
    assert!(made.expect("mkfifo runs").success());
    for name in ["pipe", "/dev/zero"] {
        let message = error(&folder.write("it", &metaimage_of(name)));
        let expected = format!("{name}: not a regular file; expected a file");
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn a_voxel_that_is_no_number_names_its_file() {
    let folder = Folder::new("nan");
    folder.write("nan", &f32::NAN.to_le_bytes().repeat(20));
    let floats = String::from_utf8(nrrd_of("LIST\nnan\nnan\nnan\n")).expect("a header is text");
    let path = folder.write(
        "it",
        floats.replace("type: short", "type: float").as_bytes(),
    );
    let message = error(&path);
    assert!(
        message.contains("nan: byte 0: voxel (0, 0, 0) is NaN"),
        "{message}"
    );
}
