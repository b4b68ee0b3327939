//! The inputs of the programs: the sources that were downloaded, pictures of a real volume, and the
//! points of a real mesh.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use image::{ImageError, RgbImage};
use raddle_graphics::mesh::Mesh;

use super::builds::{Builds, system};
use crate::error::BenchError;
use crate::suites::{check_data, data_folder};

/// The volume of which the pictures are slices: its file, and the points in each direction.
const VOLUME: (&str, usize) = ("heptane_302x302x302_u8.raw.zst", 302);
/// The mesh.
const MESH: &str = "stanford_bunny_69k.ply.zst";
/// The number of frames of the animation.
const FRAMES: usize = 50;
/// The number of slices in a row, and in a column, of the large picture.
const TILES: usize = 4;
/// The size of the large file. Sources are repeated until it is reached.
const FILE_BYTES: u64 = 1 << 29;

/// The inputs of one program.
pub(super) struct Inputs {
    sources: PathBuf,
    files: PathBuf,
}

impl Inputs {
    /// Makes the inputs for the case, if they do not exist.
    ///
    /// # Errors
    /// [`BenchError::NoData`] without the volume, or the failure of the file system.
    pub(super) fn make(builds: &Builds, case: &str) -> Result<Self, BenchError> {
        let inputs = Self {
            sources: builds.sources(),
            files: builds.files(),
        };
        fs::create_dir_all(&inputs.files).map_err(system("the folder of inputs"))?;
        match case {
            "b3sum" => inputs.make_file()?,
            "oxipng" | "dssim" | "gifski" | "faer" | "imageproc" | "ndarray" | "resize" => {
                inputs.make_pictures()?;
            }
            "bvh" | "hnsw" => inputs.make_points()?,
            _ => {}
        }
        Ok(inputs)
    }

    /// Returns the arguments for which a placeholder stands; any other word stands for itself.
    pub(super) fn of(&self, word: &str) -> Vec<String> {
        let text = |path: PathBuf| path.display().to_string();
        let file = |name: &str| text(self.files.join(name));
        match word {
            "SOURCES" => vec![text(self.sources.clone())],
            "FILE" => vec![file("large")],
            "PICTURE" => vec![file("large.png")],
            "PICTURES" => vec![file("large.png"), file("coarse.png")],
            "FRAME" => vec![file(&frame_name(FRAMES / 2))],
            "POINTS" => vec![file("points")],
            "FRAMES" => (0..FRAMES).map(|index| file(&frame_name(index))).collect(),
            other => vec![other.to_owned()],
        }
    }

    /// Writes a large file of source code.
    fn make_file(&self) -> Result<(), BenchError> {
        let path = self.files.join("large");
        let what = path.display().to_string();
        if fs::metadata(&path).is_ok_and(|file| file.len() >= FILE_BYTES) {
            return Ok(());
        }
        let mut text = Vec::new();
        append_sources(&self.sources, &mut text)?;
        let mut file = fs::File::create(&path).map_err(system(&what))?;
        let mut written = 0;
        while written < FILE_BYTES {
            file.write_all(&text).map_err(system(&what))?;
            written += text.len() as u64;
        }
        Ok(())
    }

    /// Writes the points of the mesh: three coordinates each, as 32-bit numbers with the lowest
    /// byte first.
    fn make_points(&self) -> Result<(), BenchError> {
        let written = self.files.join("points");
        if written.exists() {
            return Ok(());
        }
        let path = data_folder().join("mesh").join(MESH);
        check_data(&path)?;
        let mesh = Mesh::load(&path).map_err(|error| BenchError::contender(MESH, error))?;
        let points = mesh.positions.iter();
        let bytes: Vec<u8> = points
            .flat_map(|point| [point.x, point.y, point.z])
            .flat_map(f32::to_le_bytes)
            .collect();
        fs::write(&written, bytes).map_err(system(&written.display().to_string()))
    }

    /// Writes slices of the volume: a large picture of several slices, a coarse version of it, and
    /// the frames of an animation.
    fn make_pictures(&self) -> Result<(), BenchError> {
        if self.files.join("coarse.png").exists() {
            return Ok(());
        }
        let (name, side) = VOLUME;
        let path = data_folder().join("volume").join(name);
        check_data(&path)?;
        let what = path.display().to_string();
        let file = fs::File::open(&path).map_err(system(&what))?;
        let voxels = zstd::decode_all(file).map_err(system(&what))?;
        let pixel = |slice: usize, x: usize, y: usize| {
            let value = voxels[(slice * side + y) * side + x];
            image::Rgb([value, value.wrapping_mul(3), 255 - value])
        };
        let save = |name: &str, width: usize, of: &dyn Fn(usize, usize) -> image::Rgb<u8>| {
            let width = width as u32;
            let picture = RgbImage::from_fn(width, width, |x, y| of(x as usize, y as usize));
            let saved = picture.save(self.files.join(name));
            saved.map_err(|error: ImageError| BenchError::contender(name, error))
        };
        for index in 0..FRAMES {
            let slice = side / 4 + index * side / (2 * FRAMES);
            save(&frame_name(index), side, &|x, y| pixel(slice, x, y))?;
        }
        let tiled = |x: usize, y: usize| {
            let slice = side / 4 + (y / side * TILES + x / side) * 8;
            pixel(slice, x % side, y % side)
        };
        save("large.png", TILES * side, &tiled)?;
        save("coarse.png", TILES * side, &|x, y| {
            tiled(x / 2 * 2, y / 2 * 2)
        })
    }
}

fn frame_name(index: usize) -> String {
    format!("frame{index:03}.png")
}

/// Appends all source files below a folder, in the order of their names.
fn append_sources(folder: &Path, text: &mut Vec<u8>) -> Result<(), BenchError> {
    let what = folder.display().to_string();
    let entries = fs::read_dir(folder).map_err(system(&what))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            append_sources(&path, text)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.extend(fs::read(&path).map_err(system(&what))?);
        }
    }
    Ok(())
}
