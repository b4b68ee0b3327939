//! Tests of encoding and writing.

use std::fs;

use exr::prelude::{ReadChannels as _, ReadLayers as _};

use super::*;

fn gradient() -> Picture {
    let mut picture = Picture::new(7, 5);
    for (index, pixel) in picture.pixels_mut().iter_mut().enumerate() {
        *pixel = [index as f32 / 34.0, 0.25, 1.0 - index as f32 / 34.0];
    }
    picture
}

/// Creates a separate directory for a test.
fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("raddle-picture-{name}-{}", std::process::id()));
    fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn srgb_agrees_with_known_values() {
    assert_eq!(srgb(0.0), 0.0);
    assert_eq!(srgb(1.0), 1.0);
    assert_eq!(srgb(-3.0), 0.0);
    assert_eq!(srgb(7.0), 1.0);
    assert_eq!(srgb(f32::NAN), 0.0);
    assert!((srgb(0.5) - 0.735_357).abs() < 1e-5);
    assert!((srgb(0.001) - 0.012_92).abs() < 1e-6);
}

#[test]
fn exact_levels_stay_exact_and_others_are_off_by_at_most_one() {
    for (x, y) in (0..40).flat_map(|x| (0..40).map(move |y| (x, y))) {
        let threshold = dither(x, y);
        for level in [0.0_f32, 17.0, 255.0] {
            assert_eq!((level + threshold) as u8, level as u8);
        }
        assert!((0.25..=0.75).contains(&threshold));
    }
}

#[test]
fn a_png_decodes_to_the_levels_of_the_ppm() {
    let picture = gradient();
    let png = picture.encode(PictureFormat::Png).unwrap();
    let decoded = image::load_from_memory(&png).unwrap().into_rgb8();
    let ppm = picture.encode(PictureFormat::Ppm).unwrap();
    assert_eq!(decoded.dimensions(), (7, 5));
    assert_eq!(&ppm[..11], b"P6\n7 5\n255\n");
    assert_eq!(decoded.as_raw()[..], ppm[11..]);
    assert_eq!(&ppm[11..14], [0, (srgb(0.25) * 255.0).round() as u8, 255]);
}

#[test]
fn an_exr_keeps_the_floats() {
    let mut picture = gradient();
    picture.pixels_mut()[3] = [12.5, 0.0, 1e-6];
    let bytes = picture.encode(PictureFormat::Exr).unwrap();
    let decoded = exr::prelude::read()
        .no_deep_data()
        .largest_resolution_level()
        .rgb_channels(
            |size, _| Picture::new(size.width() as u32, size.height() as u32),
            |picture: &mut Picture, at, (red, green, blue): (f32, f32, f32)| {
                let width = picture.width() as usize;
                picture.pixels_mut()[at.y() * width + at.x()] = [red, green, blue];
            },
        )
        .first_valid_layer()
        .all_attributes()
        .non_parallel()
        .from_buffered(Cursor::new(bytes))
        .unwrap();
    assert_eq!(decoded.layer_data.channel_data.pixels, picture);
}

#[test]
fn a_picture_without_pixels_is_rejected_by_formats_that_cannot_store_it() {
    let empty = Picture::new(0, 3);
    assert!(empty.encode(PictureFormat::Exr).is_err());
    let message = empty.encode(PictureFormat::Png).unwrap_err().to_string();
    assert!(message.starts_with("0 × 3 pixels; expected"), "{message}");
}

#[test]
fn saving_replaces_the_old_file_and_leaves_no_other_file() {
    let directory = directory("replace");
    let path = directory.join("picture.ppm");
    fs::write(&path, "old").unwrap();
    gradient().save(&path).unwrap();
    assert_eq!(
        fs::read(&path).unwrap(),
        gradient().encode(PictureFormat::Ppm).unwrap()
    );
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    fs::remove_dir_all(directory).unwrap();
}

#[cfg(unix)]
#[test]
fn saving_through_a_link_replaces_the_file_and_not_the_link() {
    let directory = directory("link");
    let (file, link) = (directory.join("real.ppm"), directory.join("link.ppm"));
    fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    gradient().save(&link).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read(&file).unwrap().starts_with(b"P6"));
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn checking_a_path_leaves_no_trace() {
    let directory = directory("check");
    let (old, new) = (directory.join("old.png"), directory.join("new.exr"));
    fs::write(&old, "old").unwrap();
    assert_eq!(check_path(&old).unwrap(), PictureFormat::Png);
    assert_eq!(check_path(&new).unwrap(), PictureFormat::Exr);
    assert_eq!(fs::read(&old).unwrap(), b"old");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    fs::remove_dir_all(directory).unwrap();
}

// Regression: a picture too large for the memory used to abort the process.
#[test]
fn a_lack_of_memory_is_an_error() {
    let picture = Picture::try_new(u32::MAX, u32::MAX);
    let error = picture.expect_err("more bytes than addresses");
    let bytes = u64::from(u32::MAX).pow(2).saturating_mul(12);
    assert!(matches!(error, PictureProblem::OutOfMemory { bytes: asked } if asked == bytes));
    assert_eq!(
        Picture::try_new(3, 2).expect("memory for six pixels"),
        Picture::new(3, 2)
    );
}
