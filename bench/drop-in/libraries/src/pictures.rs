//! Pictures: filters by `imageproc`, and sizes by `fast_image_resize`.

use std::error::Error;
use std::path::Path;

use fast_image_resize::images::Image as Resizable;
use fast_image_resize::{PixelType, Resizer};
use image::{GrayImage, Luma};
use imageproc::definitions::Image;
use imageproc::filter::{filter_parallel, laplacian_filter_parallel, sharpen3x3_parallel};
use imageproc::kernel::Kernel;

use crate::Outcome;

/// The number of sizes, from small to the size of the picture.
const SIZES: u32 = 200;

/// Reads the brightness of a picture.
pub(crate) fn gray(file: &Path) -> Result<GrayImage, Box<dyn Error>> {
    Ok(image::open(file)?.to_luma8())
}

/// Filters a picture.
pub(crate) fn filter(file: &Path) -> Outcome {
    let picture = gray(file)?;
    let weights: [f32; 49] = std::array::from_fn(|index| (index % 7) as f32 / 147.0);
    let kernel = Kernel::new(&weights, 7, 7);
    for _ in 0..4 {
        let blurred: Image<Luma<u8>> = filter_parallel(&picture, kernel, |value: f32| value as u8);
        let edges = laplacian_filter_parallel(&blurred);
        let sharp = sharpen3x3_parallel(&blurred);
        let edges: i64 = edges.pixels().map(|pixel| i64::from(pixel[0])).sum();
        let sharp: i64 = sharp.pixels().map(|pixel| i64::from(pixel[0])).sum();
        println!("{}", edges + sharp);
    }
    Ok(())
}

/// Makes smaller versions of a picture.
pub(crate) fn resize(file: &Path) -> Outcome {
    let picture = image::open(file)?.to_rgb8();
    let (width, height) = picture.dimensions();
    let source = Resizable::from_vec_u8(width, height, picture.into_raw(), PixelType::U8x3)?;
    let mut resizer = Resizer::new();
    let mut sum = 0_u64;
    for size in 1..SIZES {
        let (width, height) = (width * size / SIZES, height * size / SIZES);
        let mut target = Resizable::new(width, height, PixelType::U8x3);
        resizer.resize(&source, &mut target, None)?;
        sum += target
            .buffer()
            .iter()
            .map(|&byte| u64::from(byte))
            .sum::<u64>();
    }
    println!("{sum}");
    Ok(())
}
