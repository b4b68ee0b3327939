//! Colours of options.

use std::fmt;
use std::str::FromStr;

use glam::Vec3;
use raddle_graphics::picture;
use serde::Deserialize;

/// The colours with a name.
const NAMED: [(&str, [u8; 3]); 3] = [("black", [0; 3]), ("white", [255; 3]), ("grey", [124; 3])];

/// A colour: red, green and blue in sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Colour([u8; 3]);

/// The colour behind a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Background {
    /// Bright in the middle, and darker towards the corners.
    Backdrop,
    /// One colour everywhere.
    Colour(Colour),
}

impl Colour {
    /// Returns the nearest colour to one in linear light.
    pub(crate) fn nearest(linear: Vec3) -> Self {
        let channel = |linear: f32| (picture::srgb(linear) * 255.0).round() as u8;
        Self(linear.to_array().map(channel))
    }

    /// Returns the colour in linear light.
    pub(crate) fn linear(self) -> Vec3 {
        Vec3::from_array(
            self.0
                .map(|channel| picture::linear(f32::from(channel) / 255.0)),
        )
    }

    fn parse(text: &str) -> Option<Self> {
        if let Some((_, colour)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Some(Self(*colour));
        }
        let digits = text.strip_prefix('#')?;
        if digits.len() != 6 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let [_, red, green, blue] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
        Some(Self([red, green, blue]))
    }
}

impl FromStr for Colour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text).ok_or_else(|| "expected #rrggbb, black, white or grey".to_owned())
    }
}

impl TryFrom<String> for Colour {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(formatter, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl FromStr for Background {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "backdrop" {
            return Ok(Self::Backdrop);
        }
        let colour = Colour::parse(text).map(Self::Colour);
        colour.ok_or_else(|| "expected #rrggbb, black, white, grey or backdrop".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_names_or_six_digits() {
        assert_eq!("#FF8000".parse(), Ok(Colour([255, 128, 0])));
        assert_eq!("white".parse::<Colour>().map(Colour::linear), Ok(Vec3::ONE));
        assert_eq!("backdrop".parse(), Ok(Background::Backdrop));
        assert_eq!(Colour([255, 128, 0]).to_string(), "#ff8000");
        for channel in 0..=255 {
            let colour = Colour([channel; 3]);
            assert_eq!(Colour::nearest(colour.linear()), colour);
        }
        for text in ["", "#", "ff8000", "#ff800", "#ff80000", "#+f8000", "mauve"] {
            assert!(text.parse::<Colour>().is_err(), "{text}");
            assert!(text.parse::<Background>().is_err(), "{text}");
        }
    }
}
