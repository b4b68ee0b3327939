//! Facts on how a mesh is meant to be shown.
//!
//! PLY has no place for them except comments, which all programs accept and most ignore:
//!
//! ```text
//! comment raddle up 0 0 1
//! comment raddle outside
//! ```

use std::fmt;

use glam::Vec3;

/// Facts on how a mesh is meant to be shown, as far as a file has them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Presentation {
    /// The direction that points up.
    pub up: Option<Vec3>,
    /// True if the mesh is an object, to be seen from outside. Hollows inside of it are no rooms.
    pub is_object: bool,
}

impl Presentation {
    /// Adds the fact in a comment; the words of the line behind `comment raddle`.
    pub(super) fn add(&mut self, words: &[&[u8]]) {
        let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<f32>().ok();
        match words {
            [b"outside"] => self.is_object = true,
            [b"up", x, y, z] => {
                let up = [x, y, z].map(|word| number(word).unwrap_or(f32::NAN));
                self.up = Vec3::from_array(up).try_normalize().or(self.up);
            }
            _ => {}
        }
    }
}

impl fmt::Display for Presentation {
    /// Formats the comments, each with the end of its line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Vec3 { x, y, z }) = self.up {
            writeln!(formatter, "comment raddle up {x} {y} {z}")?;
        }
        if self.is_object {
            writeln!(formatter, "comment raddle outside")?;
        }
        Ok(())
    }
}
