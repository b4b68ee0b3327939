//! Tests of histograms and thresholds.

use super::*;

#[test]
fn every_voxel_is_counted_once() {
    let voxels: Vec<u8> = (0..2 * 300 * 1000)
        .map(|index| (index % 11) as u8)
        .collect();
    let volume = Volume::new([300, 1000, 2], voxels).expect("a sound volume");
    let histogram = Histogram::of(&volume, [0.0, 10.0], 11);
    assert_eq!(histogram.counts.iter().sum::<u64>(), 600_000);
    assert!(
        histogram
            .counts
            .iter()
            .all(|&count| count.abs_diff(600_000 / 11) <= 1)
    );
    let whole = Histogram::of(&volume, [0.0, 10.0], 1);
    assert_eq!(whole.counts, [600_000]);
}

#[test]
fn the_threshold_is_between_two_classes() {
    let voxels = (0..8000_i16).map(|index| {
        if index % 10 == 0 {
            900 + index % 100
        } else {
            index % 80
        }
    });
    let volume = Volume::new([20; 3], voxels.collect::<Vec<_>>()).expect("a sound volume");
    let histogram = Histogram::of(&volume, [0.0, 990.0], 256);
    let threshold = histogram.threshold();
    assert!((79.0..900.0).contains(&threshold), "{threshold}");
}

#[test]
fn a_volume_of_one_value_has_a_histogram() {
    let volume = Volume::new([2; 3], vec![5.0_f32; 8]).expect("a sound volume");
    let histogram = Histogram::of(&volume, [5.0, 5.0], 4);
    assert_eq!(histogram.counts, [8, 0, 0, 0]);
    assert_eq!(histogram.threshold(), 5.0);
}
