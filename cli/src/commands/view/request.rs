//! Pictures that a page asks for.

use glam::{DVec3, Vec3};
use raddle_graphics::volume::Preset;
use raddle_graphics::volume::isosurface::Surface;
use serde::Deserialize;

use super::place::Place;
use super::surfaces::{self, RequestedSurface};

/// The maximum width and height of a picture for a page.
const SIDE_MAX: u32 = 4096;
/// The maximum number of samples per pixel.
const SAMPLES_MAX: u32 = 64;

/// A message of a page.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::commands) struct Request {
    /// A number that comes back with the picture.
    pub(super) id: u64,
    /// The kind of answer.
    pub(super) want: Want,
    /// True while the user changes something: speed matters more than detail.
    pub(super) moving: bool,
    /// Width and height in pixels.
    pub(super) size: [u32; 2],
    /// The number of samples per pixel of a picture at rest.
    pub(super) samples: u32,
    pub(in crate::commands) mode: Mode,
    /// The surfaces of equal value.
    pub(super) surfaces: Vec<RequestedSurface>,
    pub(in crate::commands) shadows: bool,
    /// True for normals that hide the grid of the voxels.
    #[serde(default)]
    pub(in crate::commands) smooth: bool,
    /// The name of a preset; none for the default transfer function.
    pub(super) preset: Option<String>,
    /// The value between background and object.
    pub(super) threshold: f64,
    /// The factor for all opacities.
    pub(super) opacity: f32,
    pub(super) eye: [f64; 3],
    pub(super) at: [f64; 3],
    /// The vertical field of view in degrees.
    pub(super) fov: f32,
    /// The shown part of each axis, as shares of the box of the scene.
    pub(super) clip: [[f64; 2]; 3],
    /// True for each node that is to render, if nodes do.
    #[serde(default)]
    pub(in crate::commands) nodes: Option<Vec<bool>>,
}

/// The kind of answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::commands) enum Want {
    /// A picture as JPEG, for the page.
    Frame,
    /// A picture as PNG, to be saved.
    Png,
}

/// The way in which the content is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::commands) enum Mode {
    /// The triangles of a mesh.
    Mesh,
    /// Surfaces of equal value.
    Surface,
    /// Direct rendering by a transfer function.
    Direct,
    /// The largest value along each ray.
    Maximum,
}

impl Request {
    /// Parses a message.
    ///
    /// # Errors
    /// A line for the user if it is not a request, or if a number is out of range.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let request: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let numbers = [request.eye, request.at];
        let is_sound = numbers.as_flattened().iter().all(|it| it.is_finite())
            && request.threshold.is_finite()
            && (0.0..=1e6).contains(&request.opacity)
            && (1.0..=170.0).contains(&request.fov)
            && (1..=SAMPLES_MAX).contains(&request.samples)
            && request
                .size
                .iter()
                .all(|side| (1..=SIDE_MAX).contains(side))
            && request
                .clip
                .iter()
                .all(|[low, high]| 0.0 <= *low && low < high && *high <= 1.0);
        match is_sound {
            true => Ok(request),
            false => Err("a number out of range".to_owned()),
        }
    }

    /// Returns the surfaces to render.
    pub(in crate::commands) fn surfaces_to_render(&self) -> Vec<Surface> {
        surfaces::rendered(&self.surfaces)
    }

    /// Returns the position of the camera.
    pub(super) fn eye(&self) -> Vec3 {
        DVec3::from_array(self.eye).as_vec3()
    }

    /// Returns the point that the camera looks at.
    pub(super) fn at(&self) -> Vec3 {
        DVec3::from_array(self.at).as_vec3()
    }

    /// Returns true if a part is cut off.
    pub(super) fn is_clipped(&self) -> bool {
        self.clip != [[0.0, 1.0]; 3]
    }

    /// Returns true if the threshold has an effect.
    fn has_threshold(&self) -> bool {
        let preset = self.preset.as_deref().and_then(Preset::named);
        match (preset, self.mode) {
            (Some(preset), _) => preset.has_threshold(),
            (None, mode) => mode != Mode::Maximum,
        }
    }

    /// Returns the command that renders the same picture. `clip` is the shown part in the
    /// coordinates of the file.
    pub(super) fn command(&self, place: &Place, clip: Option<[DVec3; 2]>) -> String {
        let Place { input, offset, .. } = place;
        let (name, mut options) = match self.mode {
            Mode::Mesh => ("render", String::new()),
            Mode::Surface => {
                let shadows = if self.shadows { " --shadows" } else { "" };
                let smooth = if self.smooth { " --smooth" } else { "" };
                let surfaces = surfaces::options(&self.surfaces);
                (place.surface_command, surfaces + shadows + smooth)
            }
            Mode::Direct | Mode::Maximum => {
                let preset = self.preset.as_ref();
                let preset = preset.map_or_else(String::new, |name| format!(" --preset {name}"));
                let mip = if self.mode == Mode::Maximum {
                    " --mip"
                } else {
                    ""
                };
                let threshold = match self.has_threshold() {
                    true => format!(" --threshold={}", self.threshold),
                    false => String::new(),
                };
                let options = format!("{preset}{threshold} --opacity {}{mip}", self.opacity);
                ("volume", options)
            }
        };
        let vector = |point: Vec3| {
            let DVec3 { x, y, z } = point.as_dvec3() + *offset;
            format!("{x},{y},{z}")
        };
        options += &format!(
            " --eye={} --look-at={}",
            vector(self.eye()),
            vector(self.at())
        );
        options += &format!(" --fov {}", self.fov);
        if let Some([min, max]) = clip {
            let numbers = [min.x, max.x, min.y, max.y, min.z, max.z].map(|it| it.to_string());
            options += &format!(" --clip={}", numbers.join(","));
        }
        let [width, height] = self.size;
        options += &format!(" --samples {} --size {width}x{height}", self.samples);
        format!("raddle {name} {input}{options} -o view.png")
    }
}

/// Returns a word for a shell.
pub(super) fn quoted(word: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "-_./+,:@".contains(character);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use raddle_graphics::bounds::Bounds;

    use super::*;

    const REQUEST: &str = r##"{"id":1,"want":"frame","moving":false,"size":[320,200],
        "samples":4,"mode":"surface","surfaces":[{"iso":60.5,"colour":"#102030","opacity":0.5}],
        "shadows":true,"preset":null,"threshold":3,"opacity":1,
        "eye":[1,2,3],"at":[0,0,0.5],"fov":45,"clip":[[0,1],[0,1],[0.25,1]]}"##;

    #[test]
    fn a_request_becomes_a_command() {
        let request = Request::parse(REQUEST).expect("a request");
        assert!(request.is_clipped());
        let clip = Some([DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0)]);
        let place = |input: &str, offset| Place {
            name: String::new(),
            input: input.to_owned(),
            surface_command: "isosurface",
            offset,
            bounds: Bounds::EMPTY,
        };
        assert_eq!(
            request.command(&place("'a b.raw' --raw-type u8", DVec3::X), clip),
            "raddle isosurface 'a b.raw' --raw-type u8 --iso=60.5 --colour '#102030' \
             --opacity 0.5 --shadows --eye=2,2,3 --look-at=1,0,0.5 --fov 45 --clip=0,1,0,2,0,3 \
             --samples 4 --size 320x200 -o view.png"
        );
        let direct = Request {
            mode: Mode::Maximum,
            preset: Some("bone".to_owned()),
            ..request
        };
        assert_eq!(
            direct.command(&place("a.nrrd", DVec3::ZERO), None),
            "raddle volume a.nrrd --preset bone --threshold=3 --opacity 1 --mip --eye=1,2,3 \
             --look-at=0,0,0.5 --fov 45 --samples 4 --size 320x200 -o view.png"
        );
    }

    #[test]
    fn bad_requests_are_refused() {
        for (from, to) in [
            ("[320,200]", "[320,0]"),
            ("[320,200]", "[320,99999]"),
            ("\"fov\":45", "\"fov\":0"),
            ("\"samples\":4", "\"samples\":0"),
            ("\"samples\":4", "\"samples\":1000"),
            ("[0.25,1]", "[1,0.25]"),
            ("60.5", "1e999"),
            ("\"surface\"", "\"other\""),
            ("\"id\":1", "\"id\":1,\"file\":\"/etc/passwd\""),
        ] {
            let text = REQUEST.replace(from, to);
            assert_ne!(text, REQUEST);
            assert!(Request::parse(&text).is_err(), "{to}");
        }
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a/b-1.raw"), "a/b-1.raw");
    }
}
