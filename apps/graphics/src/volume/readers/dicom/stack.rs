//! Slices in the order of their positions: the images of a series, or the frames of a file.

use std::fmt;
use std::path::Path;

use glam::{DMat3, DVec3};

use super::attributes::wrong;
use super::image::{Frame, Image, Pixels};
use crate::file::{Fault, Place, Source};
use crate::volume::format::VolumeFormat;
use crate::volume::parsed::{Geometry, Parsed};
use crate::volume::voxels::{Voxels, with_voxels};

/// The permitted difference between two gaps, as a share of the gap.
const GAP_TOLERANCE: f64 = 0.02;
/// The permitted difference between steps that should be equal, as a share of their length.
const STEP_TOLERANCE: f64 = 1e-3;
/// The gap below which two positions are equal, as a share of the step between columns.
const GAP_MIN: f64 = 1e-3;

/// A slice of a volume.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice<'s> {
    /// The file, unless all slices are frames of one file.
    path: Option<&'s Path>,
    /// The number of the frame in the file, from 1; `None` if the file has only one.
    number: Option<usize>,
    pixels: &'s Pixels,
    frame: &'s Frame,
}

/// The slices of a volume, and its place in the world.
#[derive(Debug)]
pub(super) struct Stack {
    pixels: Pixels,
    depth: u64,
    geometry: Geometry,
    /// The slope and the intercept of each slice in the order of the files; or only one, if they
    /// are equal.
    scales: Vec<[f64; 2]>,
    /// The place in the volume of each slice in the order of the files; empty if the order is that
    /// of the volume.
    places: Vec<usize>,
}

impl fmt::Display for Slice<'_> {
    /// Prints the file, the number of the frame, or both.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path, self.number) {
            (Some(path), None) => write!(formatter, "{}", path.display()),
            (Some(path), Some(number)) => write!(formatter, "frame {number} of {}", path.display()),
            (None, number) => write!(formatter, "frame {}", number.unwrap_or(1)),
        }
    }
}

impl<'s> Slice<'s> {
    /// Returns the slices of a file. `path` is its name, if there are other files.
    ///
    /// # Errors
    /// Returns a fault if the file has several frames without a description of each.
    pub(super) fn all_of(
        path: Option<&'s Path>,
        image: &'s Image,
    ) -> Result<impl Iterator<Item = Self>, Fault> {
        if image.is_regular() {
            let found = format!("{} frames without positions", image.count);
            return Err(wrong(found, "one image in each file of a series"));
        }
        let has_several = image.frames.len() > 1;
        Ok(image
            .frames
            .iter()
            .enumerate()
            .map(move |(index, frame)| Self {
                path,
                number: has_several.then_some(index + 1),
                pixels: &image.pixels,
                frame,
            }))
    }

    /// Checks that two slices can belong to one volume.
    fn check_like(&self, first: &Self) -> Result<(), Fault> {
        let is_close =
            |a: DVec3, b: DVec3| (a - b).length() <= STEP_TOLERANCE * (a.length() + b.length());
        let [a, b] = [self.frame.steps, first.frame.steps];
        if self.pixels != first.pixels || !is_close(a[0], b[0]) || !is_close(a[1], b[1]) {
            let found = format!("{self} with another size, type or direction");
            return Err(wrong(found, format!("an image like {first}")));
        }
        if self.frame.stack != first.frame.stack {
            return Err(not_one_image(&format!(
                "{first} and {self} in different stacks"
            )));
        }
        Ok(())
    }
}

/// Returns the fault of images that are several volumes.
#[cold]
fn not_one_image(found: &str) -> Fault {
    let expected = "one image at each position: one stack, one time and one echo";
    wrong(found, expected)
}

impl Stack {
    /// Returns the frames of a file.
    pub(super) fn of_frames(image: &Image) -> Result<Self, Fault> {
        if image.count < 2 {
            let expected = "several frames, or the folder of a series";
            return Err(wrong("a single image", expected));
        }
        if !image.is_regular() {
            return Self::of(&Slice::all_of(None, image)?.collect::<Vec<_>>());
        }
        let frame = &image.frames[0];
        let steps = DMat3::from_cols(frame.steps[0], frame.steps[1], frame.gap * frame.normal());
        Ok(Self {
            pixels: image.pixels,
            depth: image.count,
            geometry: Geometry::of_steps(steps, frame.position.unwrap_or_default()),
            scales: vec![frame.scale],
            places: Vec::new(),
        })
    }

    /// Sorts at least two slices by their positions along the normal, and checks that they are the
    /// slices of one volume. They are in the order of the files.
    pub(super) fn of(slices: &[Slice<'_>]) -> Result<Self, Fault> {
        let first = &slices[0];
        for slice in slices {
            slice.check_like(first)?;
        }
        let heights = heights(slices)?;
        let mut order: Vec<usize> = (0..slices.len()).collect();
        // On ties, the order of the files remains.
        order.sort_by(|&a, &b| heights[a].total_cmp(&heights[b]));
        check_gaps(slices, &heights, &order)?;
        let [low, high] = [order[0], order[order.len() - 1]].map(|index| slices[index].frame);
        let [low_at, high_at] = [low, high].map(|frame| frame.position.unwrap_or_default());
        let step = (high_at - low_at) / (slices.len() - 1) as f64;
        let steps = DMat3::from_cols(low.steps[0], low.steps[1], step);
        let mut scales: Vec<_> = slices.iter().map(|slice| slice.frame.scale).collect();
        if scales.iter().all(|scale| *scale == scales[0]) {
            scales.truncate(1);
        }
        let mut places = vec![0; order.len()];
        for (place, &index) in order.iter().enumerate() {
            places[index] = place;
        }
        Ok(Self {
            pixels: *first.pixels,
            depth: slices.len() as u64,
            geometry: Geometry::of_steps(steps, low_at),
            scales,
            places,
        })
    }

    /// Reads the pixels of all slices, in the order of the files, as a volume.
    ///
    /// `file_bytes` is the number of bytes of the files, if it is known.
    pub(super) fn read(
        &self,
        source: &mut Source<'_>,
        file_bytes: Option<u64>,
    ) -> Result<Parsed, Fault> {
        let mut layout = self.pixels.layout(self.depth);
        let mut voxels = match self.scales[..] {
            [[slope, intercept]] => {
                (layout.slope, layout.intercept) = (slope, intercept);
                layout.read(source, file_bytes)?
            }
            _ => layout.read_slices(source, file_bytes, &self.scales)?,
        };
        arrange(&mut voxels, self.places.clone());
        let format = VolumeFormat::Dicom;
        Parsed::new(format, &layout, voxels, self.geometry, Place::Whole)
    }
}

/// Returns the positions of slices along their normal.
fn heights(slices: &[Slice<'_>]) -> Result<Vec<f64>, Fault> {
    let normal = slices[0].frame.normal();
    let height = |slice: &Slice<'_>| {
        let position = slice.frame.position.ok_or_else(|| {
            let found = format!("{slice} without a position");
            wrong(found, "the position of each image (0020,0032)")
        });
        Ok(position?.dot(normal))
    };
    slices.iter().map(height).collect()
}

/// Checks that the gaps between slices are equal.
fn check_gaps(slices: &[Slice<'_>], heights: &[f64], order: &[usize]) -> Result<(), Fault> {
    let gaps = order
        .windows(2)
        .map(|two| heights[two[1]] - heights[two[0]]);
    let gaps: Vec<f64> = gaps.collect();
    let mut by_size = gaps.clone();
    by_size.sort_by(f64::total_cmp);
    let usual = by_size[(by_size.len() - 1) / 2];
    let least = GAP_MIN * slices[0].frame.steps[0].length();
    let pairs = || gaps.iter().zip(order.windows(2));
    let slices_of = |two: &[usize]| [&slices[two[0]], &slices[two[1]]];
    if let Some((_, two)) = pairs().find(|(gap, _)| **gap <= least) {
        let [low, high] = slices_of(two);
        return Err(not_one_image(&format!("{low} and {high} at one position")));
    }
    let is_odd = |gap: f64| (gap - usual).abs() > GAP_TOLERANCE * usual;
    if let Some((gap, two)) = pairs().find(|(gap, _)| is_odd(**gap)) {
        let [low, high] = slices_of(two);
        let found = format!("a gap of {gap:.3} between {low} and {high}");
        let expected = format!("{usual:.3}, as between other images; is one missing?");
        return Err(wrong(found, expected));
    }
    Ok(())
}

/// Moves each slice to its place. Takes one swap for each slice, and no further memory.
fn arrange(voxels: &mut Voxels, mut places: Vec<usize>) {
    let slice_len = voxels.len() / places.len().max(1);
    with_voxels!(voxels, list => {
        for index in 0..places.len() {
            while places[index] != index {
                let place = places[index];
                // Places below the index are occupied by their own slices, so it is above.
                let (head, tail) = list.split_at_mut(place * slice_len);
                let from = &mut head[index * slice_len..][..slice_len];
                from.swap_with_slice(&mut tail[..slice_len]);
                places.swap(index, place);
            }
        }
    });
}
