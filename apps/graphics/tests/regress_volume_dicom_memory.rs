//! Regression test: a series with a slope for each image was read as integers, and then converted
//! in a second list. That took 150 % of the memory of the volume.
#![cfg(target_os = "linux")]

mod volume_support;

use raddle_graphics::volume::Volume;
use volume_support::{SLICE, Slice};

/// The number of columns and rows of an image, and the number of images.
const EDGE: u16 = 1024;
const DEPTH: u16 = 16;

/// Returns a number of bytes that the kernel reports for this process.
fn memory_of_process(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the kernel reports it");
    let line = status.lines().find(|line| line.starts_with(name));
    let mut words = line.expect("a line").split_ascii_whitespace();
    let kilobytes: u64 = words
        .nth(1)
        .and_then(|word| word.parse().ok())
        .expect("a number");
    1024 * kilobytes
}

#[test]
fn slopes_that_differ_take_no_second_volume() {
    let folder = std::env::temp_dir().join(format!("raddle-dicom-memory-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    for index in 0..DEPTH {
        let slope = if index == 0 { "1" } else { "2.5" };
        let z = f64::from(index);
        let slice = Slice {
            z,
            slope,
            columns: EDGE,
            rows: EDGE,
            ..SLICE
        };
        std::fs::write(folder.join(index.to_string()), slice.bytes()).expect("a file");
    }
    let before = memory_of_process("VmRSS:");
    let loaded = Volume::load(&folder);
    let taken = memory_of_process("VmHWM:").saturating_sub(before);
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    let volume = loaded.expect("a series");
    assert_eq!(volume.value([2, 0, 1]), 2.5 * 12.0 - 1024.0);
    let bytes = volume.voxels().bytes();
    assert_eq!(
        bytes,
        4 * u64::from(EDGE) * u64::from(EDGE) * u64::from(DEPTH)
    );
    assert!(taken < bytes + bytes / 4, "{taken} bytes for {bytes}");
}
