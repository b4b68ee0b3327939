//! Surfaces of equal value that a page asks for.

use std::fmt::{self, Display, Formatter};

use glam::Vec3;
use raddle_graphics::picture::srgb;
use raddle_graphics::volume::isosurface::{SURFACES_MAX, Surface};
use serde::Deserialize;

/// A surface of equal value.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestedSurface {
    /// The value on the surface.
    iso: f64,
    colour: Colour,
    /// The share of light that the surface stops.
    opacity: f32,
}

/// A colour as a page has it: shares of red, green and blue from 0 to 255, as on a display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct Colour([u8; 3]);

impl Colour {
    /// Returns the nearest colour to the one that a place in a list of surfaces has by default.
    fn default_at(place: usize) -> Self {
        let linear = Surface::new(0.0, place).colour.to_array();
        Self(linear.map(|channel| (srgb(channel) * 255.0).round() as u8))
    }

    /// Returns the colour in linear light.
    fn linear(self) -> Vec3 {
        Vec3::from_array(self.0.map(linear))
    }
}

impl TryFrom<String> for Colour {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_colour = |digits: &&str| {
            digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        };
        let digits = text.strip_prefix('#').filter(is_colour);
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let [_, channels @ ..] = number
            .ok_or_else(|| format!("colour {text:?}; expected #rrggbb"))?
            .to_be_bytes();
        Ok(Self(channels))
    }
}

impl Display for Colour {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// Returns the default colours of all places, as `#rrggbb`.
pub(super) fn default_colours() -> [String; SURFACES_MAX] {
    std::array::from_fn(|place| Colour::default_at(place).to_string())
}

/// Returns true if every surface has the default colour of its place. Then the colours need not be
/// named, and are those of the library without rounding.
fn have_default_colours(surfaces: &[RequestedSurface]) -> bool {
    let mut places = surfaces.iter().enumerate();
    places.all(|(place, surface)| surface.colour == Colour::default_at(place))
}

/// Returns the surfaces to render.
pub(super) fn rendered(surfaces: &[RequestedSurface]) -> Vec<Surface> {
    let is_default = have_default_colours(surfaces);
    let surface = |(place, requested): (usize, &RequestedSurface)| {
        let surface = Surface::new(requested.iso, place);
        Surface {
            opacity: requested.opacity,
            colour: if is_default {
                surface.colour
            } else {
                requested.colour.linear()
            },
            ..surface
        }
    };
    surfaces.iter().enumerate().map(surface).collect()
}

/// Returns the options of `raddle isosurface` for the surfaces, each after a space.
pub(super) fn options(surfaces: &[RequestedSurface]) -> String {
    let list = |text: &dyn Fn(&RequestedSurface) -> String| {
        surfaces.iter().map(text).collect::<Vec<_>>().join(",")
    };
    let mut options = format!(" --iso={}", list(&|it| it.iso.to_string()));
    if !have_default_colours(surfaces) {
        // Without quotes, a shell would take the rest of the line as a comment.
        options += &format!(" --colour '{}'", list(&|it| it.colour.to_string()));
    }
    if surfaces.iter().any(|surface| surface.opacity != 1.0) {
        options += &format!(" --opacity {}", list(&|it| it.opacity.to_string()));
    }
    options
}

/// Converts a channel of a display, from 0 to 255, to linear light.
///
/// # Source
/// IEC 61966-2-1 (sRGB).
fn linear(channel: u8) -> f32 {
    let share = f32::from(channel) / 255.0;
    if share <= 0.04045 {
        share / 12.92
    } else {
        ((share + 0.055) / 1.055).powf(2.4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surfaces(text: &str) -> Result<Vec<RequestedSurface>, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn options_name_only_values_that_differ_from_the_defaults() {
        let [first, second] = [0, 1].map(|place| Colour::default_at(place).to_string());
        let text = format!(
            r#"[{{"iso":60.5,"colour":"{first}","opacity":1}},
                {{"iso":-2,"colour":"{second}","opacity":1}}]"#
        );
        let requested = surfaces(&text).expect("surfaces");
        assert_eq!(options(&requested), " --iso=60.5,-2");
        let expected = [Surface::new(60.5, 0), Surface::new(-2.0, 1)];
        assert_eq!(rendered(&requested), expected);
        let text = text.replace(&second, "#ff8000").replace("1}]", "0.3}]");
        let requested = surfaces(&text).expect("surfaces");
        assert_eq!(
            options(&requested),
            format!(" --iso=60.5,-2 --colour '{first},#ff8000' --opacity 1,0.3")
        );
        let [_, second] = rendered(&requested)[..] else {
            panic!("two surfaces");
        };
        assert_eq!(second.opacity, 0.3);
        assert_eq!((second.colour.x, second.colour.z), (1.0, 0.0));
        assert!((second.colour.y - 0.215_861).abs() < 1e-5);
    }

    #[test]
    fn colours_have_six_digits() {
        for colour in [
            "red", "#12345", "#1234567", "123456", "#12345g", "#+12345", "",
        ] {
            let text = format!(r#"[{{"iso":1,"colour":"{colour}","opacity":1}}]"#);
            let error = surfaces(&text).expect_err("no colour").to_string();
            assert!(error.contains("expected #rrggbb"), "{error}");
        }
        let colour = Colour::try_from("#0aFf80".to_owned()).expect("a colour");
        assert_eq!(colour.to_string(), "#0aff80");
    }

    #[test]
    fn channels_are_converted_there_and_back() {
        for channel in 0..=255 {
            assert_eq!((srgb(linear(channel)) * 255.0).round() as u8, channel);
        }
    }
}
