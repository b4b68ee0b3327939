//! Pictures in 8-bit grey, and their files: PGM and PNG.

use std::path::Path;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};

use super::{PictureError, PictureProblem, cannot_open, extension, save};
use crate::memory::{self, reserve};

#[cfg(test)]
mod tests;

/// A picture in grey. The numbers are stored in files as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GreyPicture {
    width: u32,
    pixels: Vec<u8>,
}

impl GreyPicture {
    /// Creates a picture from its rows, from top to bottom.
    ///
    /// # Panics
    /// Panics if the rows are not `width` pixels long.
    #[must_use]
    pub fn new(width: u32, pixels: Vec<u8>) -> Self {
        let is_whole = width > 0 && pixels.len().is_multiple_of(width as usize);
        assert!(is_whole, "{} pixels in rows of {width}", pixels.len());
        Self { width, pixels }
    }

    /// Checks whether a picture could be written to a path, like
    /// [`check_path`](super::check_path).
    ///
    /// # Errors
    /// As for [`save`](Self::save).
    pub fn check_path(path: impl AsRef<Path>) -> Result<(), PictureError> {
        let path = path.as_ref();
        is_pgm(path)?;
        raddle_trace::whole_file::check(path).map_err(|error| cannot_open(error, path))
    }

    /// Writes the picture to a file, in the format of its extension: `.pgm` or `.png`.
    ///
    /// An existing file at the path is replaced atomically.
    ///
    /// # Errors
    /// Returns a [`PictureError`] if the extension is another one, or if writing fails.
    ///
    /// # Examples
    /// ```
    /// use raddle_graphics::picture::GreyPicture;
    ///
    /// let path = std::env::temp_dir().join(format!("raddle-doc-{}.pgm", std::process::id()));
    /// GreyPicture::new(2, vec![0, 255, 128, 7]).save(&path)?;
    /// assert_eq!(std::fs::read(&path)?, b"P5\n2 2\n255\n\x00\xff\x80\x07");
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PictureError> {
        let path = path.as_ref();
        let is_pgm = is_pgm(path)?;
        save(path, || if is_pgm { self.pgm() } else { self.png() })
    }

    fn height(&self) -> u32 {
        (self.pixels.len() / self.width as usize) as u32
    }

    fn pgm(&self) -> Result<Vec<u8>, PictureProblem> {
        let mut bytes = format!("P5\n{} {}\n255\n", self.width, self.height()).into_bytes();
        reserve(&mut bytes, self.pixels.len() as u64)?;
        bytes.extend_from_slice(&self.pixels);
        Ok(bytes)
    }

    fn png(&self) -> Result<Vec<u8>, PictureProblem> {
        let (width, height) = (self.width, self.height());
        memory::ask_for_each(self.pixels.len(), 3)?;
        let mut bytes = Vec::new();
        PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, FilterType::Adaptive)
            .write_image(&self.pixels, width, height, ExtendedColorType::L8)
            .map_err(|error| PictureProblem::Encode {
                width,
                height,
                reason: error.to_string(),
            })?;
        Ok(bytes)
    }
}

/// Returns true for a PGM file, and false for a PNG file.
fn is_pgm(path: &Path) -> Result<bool, PictureError> {
    let (extension, found) = extension(path);
    match extension.as_str() {
        "pgm" => Ok(true),
        "png" => Ok(false),
        _ => {
            let expected = ".pgm or .png";
            Err(PictureProblem::Extension { found, expected }.at(path))
        }
    }
}
