//! Surfaces of equal value that a page asks for.

use raddle_graphics::volume::isosurface::{SURFACES_MAX, Surface};
use serde::Deserialize;

use crate::arguments::Colour;

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

/// Returns the nearest colour to the one that a place in a list of surfaces has by default.
fn default_at(place: usize) -> Colour {
    Colour::nearest(Surface::new(0.0, place).colour)
}

/// Returns the default colours of all places, as `#rrggbb`.
pub(super) fn default_colours() -> [String; SURFACES_MAX] {
    std::array::from_fn(|place| default_at(place).to_string())
}

/// Returns true if every surface has the default colour of its place. Then the colours need not be
/// named, and are those of the library without rounding.
fn have_default_colours(surfaces: &[RequestedSurface]) -> bool {
    let mut places = surfaces.iter().enumerate();
    places.all(|(place, surface)| surface.colour == default_at(place))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn surfaces(text: &str) -> Result<Vec<RequestedSurface>, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn options_name_only_values_that_differ_from_the_defaults() {
        let [first, second] = [0, 1].map(|place| default_at(place).to_string());
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
}
