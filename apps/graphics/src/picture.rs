//! Pictures in linear light, and their files: PNG, PPM, OpenEXR and JPEG; and grey ones: PGM.
//!
//! A file is encoded in memory and then [written atomically](whole_file). A reader finds the whole
//! picture or none, even if the disk is full.
//!
//! # Source
//! The transfer function of PNG and PPM: IEC 61966-2-1 (sRGB).

use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use raddle_trace::whole_file::{self, WholeFile};
use thiserror::Error;

use crate::memory::{self, NoMemory, reserve};

mod grey;
#[cfg(test)]
mod tests;

pub use self::grey::GreyPicture;

/// A picture: rows from top to bottom, each from left to right, with red, green and blue in linear
/// light.
///
/// # Examples
/// ```
/// use raddle_graphics::picture::Picture;
///
/// let mut picture = Picture::new(2, 1);
/// picture.pixels_mut()[1] = [1.0, 0.5, 0.0];
/// assert_eq!(picture.row(0)[1], [1.0, 0.5, 0.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    width: u32,
    height: u32,
    pixels: Vec<[f32; 3]>,
}

/// The format of a picture file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PictureFormat {
    /// Portable Network Graphics: 8 bits per channel, sRGB.
    Png,
    /// Portable Pixmap, binary (P6): 8 bits per channel, sRGB.
    Ppm,
    /// OpenEXR: 32-bit floats in linear light.
    Exr,
}

/// A picture that could not be written: the file and the reason.
#[derive(Debug, Error)]
#[error("{}: {problem}", path.display())]
#[non_exhaustive]
pub struct PictureError {
    /// The file, as the caller named it.
    pub path: PathBuf,
    /// The reason.
    pub problem: PictureProblem,
}

/// The reason why a picture could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PictureProblem {
    /// The extension of the name does not denote a format.
    #[error("{found}; expected a name that ends in {expected}")]
    Extension {
        /// A description of the extension.
        found: String,
        /// The extensions of the formats.
        expected: &'static str,
    },
    /// The path refers to a directory.
    #[error("a directory; expected the name of a file")]
    Directory,
    /// The directory for the file does not exist or is not a directory.
    #[error("no directory {}; expected one to write the file in", .0.display())]
    NoDirectory(PathBuf),
    /// The file could not be written.
    #[error("{0}; expected to write {1} bytes")]
    Write(io::Error, usize),
    /// The file or its directory is not writable.
    #[error("{0}; expected a file that can be written")]
    Open(io::Error),
    /// There is not enough memory.
    #[error("no memory for {bytes} bytes of pixels; expected a smaller picture")]
    OutOfMemory {
        /// The number of bytes that were requested from the system.
        bytes: u64,
    },
    /// The format does not support a picture of this size.
    #[error("{width} × {height} pixels; expected a picture that the format can hold: {reason}")]
    Encode {
        /// The number of pixels per row.
        width: u32,
        /// The number of rows.
        height: u32,
        /// The message of the encoder.
        reason: String,
    },
}

impl From<NoMemory> for PictureProblem {
    fn from(NoMemory(bytes): NoMemory) -> Self {
        Self::OutOfMemory { bytes }
    }
}

impl PictureProblem {
    fn at(self, path: &Path) -> PictureError {
        PictureError {
            path: path.to_path_buf(),
            problem: self,
        }
    }
}

impl PictureFormat {
    /// Returns the format for the extension of a file name, in lower or upper case.
    ///
    /// # Errors
    /// Returns [`PictureProblem::Extension`] for any other extension, or none.
    ///
    /// # Examples
    /// ```
    /// use raddle_graphics::picture::PictureFormat;
    ///
    /// assert_eq!(PictureFormat::of("out/dragon.PNG")?, PictureFormat::Png);
    /// assert!(PictureFormat::of("dragon.gif").is_err());
    /// # Ok::<(), raddle_graphics::picture::PictureError>(())
    /// ```
    pub fn of(path: impl AsRef<Path>) -> Result<Self, PictureError> {
        let path = path.as_ref();
        let (extension, found) = extension(path);
        match extension.as_str() {
            "png" => Ok(Self::Png),
            "ppm" => Ok(Self::Ppm),
            "exr" => Ok(Self::Exr),
            _ => {
                let expected = ".png, .ppm or .exr";
                Err(PictureProblem::Extension { found, expected }.at(path))
            }
        }
    }
}

/// Checks whether a picture could be written to a path, as far as that is possible without writing
/// one.
///
/// This is useful before a long computation. An existing file is left unchanged.
///
/// # Errors
/// Returns a [`PictureError`] as [`Picture::save`] does. A disk that will be full later is not
/// detected.
pub fn check_path(path: impl AsRef<Path>) -> Result<PictureFormat, PictureError> {
    let path = path.as_ref();
    let format = PictureFormat::of(path)?;
    whole_file::check(path).map_err(|error| cannot_open(error, path))?;
    Ok(format)
}

impl Picture {
    /// Creates a black picture.
    ///
    /// # Panics
    /// Panics if the picture has more pixels than the address space. If memory is not available,
    /// the process is aborted; see [`try_new`](Self::try_new).
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        let len = (width as usize)
            .checked_mul(height as usize)
            .expect("fewer pixels than addresses");
        Self {
            width,
            height,
            pixels: vec![[0.0; 3]; len],
        }
    }

    /// Creates a black picture, if there is memory for it.
    ///
    /// # Errors
    /// Returns [`PictureProblem::OutOfMemory`] if 12 bytes per pixel are not available.
    pub fn try_new(width: u32, height: u32) -> Result<Self, PictureProblem> {
        Ok(Self {
            width,
            height,
            pixels: black(u64::from(width) * u64::from(height))?,
        })
    }

    /// Returns the number of pixels per row.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns all pixels, row by row.
    #[must_use]
    pub fn pixels(&self) -> &[[f32; 3]] {
        &self.pixels
    }

    /// Returns all pixels, row by row, for modification.
    pub fn pixels_mut(&mut self) -> &mut [[f32; 3]] {
        &mut self.pixels
    }

    /// Returns a row, counted from 0 at the top.
    ///
    /// # Panics
    /// Panics if `row` is not below the height.
    #[must_use]
    pub fn row(&self, row: u32) -> &[[f32; 3]] {
        assert!(row < self.height, "row {row} of {}", self.height);
        &self.pixels[row as usize * self.width as usize..][..self.width as usize]
    }

    /// Writes the picture to a file in the format of its extension.
    ///
    /// An existing file at the path is replaced atomically. The encoded picture is kept in memory.
    ///
    /// # Errors
    /// Returns a [`PictureError`] if the extension is unknown, if the directory does not exist, if
    /// the path is a directory, or if writing fails. In that case no part of a picture is left.
    ///
    /// # Examples
    /// ```
    /// use raddle_graphics::picture::Picture;
    ///
    /// let path = std::env::temp_dir().join(format!("raddle-doc-{}.ppm", std::process::id()));
    /// Picture::new(4, 3).save(&path)?;
    /// assert_eq!(std::fs::read(&path)?.len(), "P6\n4 3\n255\n".len() + 36);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PictureError> {
        let path = path.as_ref();
        let format = PictureFormat::of(path)?;
        save(path, || self.encode(format))
    }

    /// Encodes the picture as a file. The same picture always gives the same bytes.
    ///
    /// # Errors
    /// Returns [`PictureProblem::Encode`] for a picture that has no pixels or is too large for the
    /// format, and [`PictureProblem::OutOfMemory`] if there is no memory for its bytes.
    pub fn encode(&self, format: PictureFormat) -> Result<Vec<u8>, PictureProblem> {
        match format {
            PictureFormat::Png => self.png(),
            PictureFormat::Ppm => self.ppm(),
            PictureFormat::Exr => self.exr(),
        }
    }

    /// Encodes the picture as JPEG, with a quality from 1 to 100.
    ///
    /// # Errors
    /// As for [`encode`](Self::encode).
    pub fn jpeg(&self, quality: u8) -> Result<Vec<u8>, PictureProblem> {
        let mut bytes = Vec::new();
        let quantised = self.quantised()?;
        reserve(&mut bytes, quantised.len() as u64)?;
        let encoder = JpegEncoder::new_with_quality(&mut bytes, quality.clamp(1, 100));
        self.write(encoder, &quantised)?;
        Ok(bytes)
    }

    fn encode_error(&self, reason: impl ToString) -> PictureProblem {
        PictureProblem::Encode {
            width: self.width,
            height: self.height,
            reason: reason.to_string(),
        }
    }

    fn png(&self) -> Result<Vec<u8>, PictureProblem> {
        let mut bytes = Vec::new();
        let quantised = self.quantised()?;
        // The encoder filters into a list of its own, and compresses into another one before it
        // writes the result.
        memory::ask_for_each(self.pixels.len(), 3 * size_of::<[u8; 3]>() as u64)?;
        let (compression, filter) = (CompressionType::Default, FilterType::Adaptive);
        let encoder = PngEncoder::new_with_quality(&mut bytes, compression, filter);
        self.write(encoder, &quantised)?;
        Ok(bytes)
    }

    /// Writes the picture in 8 bits per channel.
    fn write(
        &self,
        encoder: impl ImageEncoder,
        quantised: &[[u8; 3]],
    ) -> Result<(), PictureProblem> {
        let (width, height) = (self.width, self.height);
        encoder
            .write_image(
                quantised.as_flattened(),
                width,
                height,
                ExtendedColorType::Rgb8,
            )
            .map_err(|error| self.encode_error(error))
    }

    fn ppm(&self) -> Result<Vec<u8>, PictureProblem> {
        let quantised = self.quantised()?;
        let mut bytes = format!("P6\n{} {}\n255\n", self.width, self.height).into_bytes();
        reserve(&mut bytes, quantised.as_flattened().len() as u64)?;
        bytes.extend_from_slice(quantised.as_flattened());
        Ok(bytes)
    }

    fn exr(&self) -> Result<Vec<u8>, PictureProblem> {
        use exr::prelude::{Image, SpecificChannels, WritableImage};

        if self.pixels.is_empty() {
            return Err(self.encode_error("no pixels"));
        }
        let (width, height) = (self.width as usize, self.height as usize);
        let channels = SpecificChannels::rgb(|position: exr::math::Vec2<usize>| {
            let [red, green, blue] = self.pixels[position.y() * width + position.x()];
            (red, green, blue)
        });
        // Reserve space for the rows and their offsets behind a header. Where compression gains
        // nothing, rows have their original size.
        let mut bytes = Vec::new();
        let row_bytes = (width * size_of::<[f32; 3]>()) as u64 + 64;
        reserve(&mut bytes, u64::from(self.height) * row_bytes + (64 << 10))?;
        let mut bytes = Cursor::new(bytes);
        Image::from_channels((width, height), channels)
            .write()
            .non_parallel()
            .to_buffered(&mut bytes)
            .map_err(|error| self.encode_error(error))?;
        Ok(bytes.into_inner())
    }

    /// Returns the picture in 8 bits per channel.
    fn quantised(&self) -> Result<Vec<[u8; 3]>, PictureProblem> {
        let width = self.width.max(1) as usize;
        let mut quantised = Vec::new();
        reserve(&mut quantised, self.pixels.len() as u64)?;
        quantised.resize(self.pixels.len(), [0; 3]);
        let mut rows: Vec<_> = quantised.chunks_mut(width).collect();
        raddle::for_each_mut(&mut rows, |y, row| {
            let pixels = &self.pixels[y * width..];
            for (x, (to, pixel)) in row.iter_mut().zip(pixels).enumerate() {
                let threshold = dither(x, y);
                *to = pixel.map(|channel| (srgb(channel) * 255.0 + threshold) as u8);
            }
        });
        Ok(quantised)
    }
}

/// Returns `len` black pixels, if there is memory for them.
fn black(len: u64) -> Result<Vec<[f32; 3]>, PictureProblem> {
    let mut pixels = Vec::new();
    reserve(&mut pixels, len)?;
    pixels.resize(len as usize, [0.0; 3]);
    Ok(pixels)
}

/// Encodes linear light from 0 to 1. Values outside of this range are clamped, and NaN becomes
/// black.
#[must_use]
pub fn srgb(linear: f32) -> f32 {
    let linear = if linear > 0.0 { linear.min(1.0) } else { 0.0 };
    if linear <= 0.003_130_8 {
        linear * 12.92
    } else if linear == 1.0 {
        1.0
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    }
}

/// Converts a channel from sRGB, from 0 to 1, to linear light.
///
/// # Source
/// IEC 61966-2-1, as for [`srgb`].
#[must_use]
pub fn linear(channel: f32) -> f32 {
    match channel <= 0.040_45 {
        true => channel / 12.92,
        false => ((channel + 0.055) / 1.055).powf(2.4),
    }
}

/// Returns a threshold for rounding, which varies from pixel to pixel so that smooth gradients show
/// no steps.
///
/// It is between 0.25 and 0.75, so that an exact value of a channel stays exact.
///
/// # Source
/// J. Jimenez: Next Generation Post Processing in Call of Duty, 2014 (interleaved gradient noise).
fn dither(x: usize, y: usize) -> f32 {
    let phase = 0.067_110_56 * x as f32 + 0.005_837_15 * y as f32;
    0.25 + 0.5 * (52.982_918 * phase.fract()).fract()
}

/// Writes the bytes that `encode` returns to a file, atomically.
fn save(
    path: &Path,
    encode: impl FnOnce() -> Result<Vec<u8>, PictureProblem>,
) -> Result<(), PictureError> {
    let mut file = WholeFile::create(path).map_err(|error| cannot_open(error, path))?;
    let bytes = encode().map_err(|problem| problem.at(path))?;
    file.write_all(&bytes)
        .and_then(|()| file.finish())
        .map_err(|error| PictureProblem::Write(error, bytes.len()).at(path))
}

/// Returns the extension of a path in lower case, and a description of it for errors.
fn extension(path: &Path) -> (String, String) {
    let extension = path.extension().map(|it| it.to_string_lossy());
    let found = match &extension {
        Some(extension) => format!("extension .{}", extension.escape_debug()),
        None => "no extension".to_owned(),
    };
    (extension.unwrap_or_default().to_ascii_lowercase(), found)
}

/// Returns the reason why no file can be created at `path`.
fn cannot_open(error: io::Error, path: &Path) -> PictureError {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if error.kind() == io::ErrorKind::IsADirectory {
        PictureProblem::Directory.at(path)
    } else if directory.is_dir() {
        PictureProblem::Open(error).at(path)
    } else {
        PictureProblem::NoDirectory(directory.to_path_buf()).at(path)
    }
}
