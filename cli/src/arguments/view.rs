//! The camera of the commands that render.

use clap::Args;
use glam::{DVec3, Vec3};
use raddle_graphics::camera::View;
use raddle_graphics::render::FrameOptions;

use super::colour::Background;
use super::values::{self, Clip, Size};

/// The camera, the size and the background of a picture.
#[derive(Debug, Clone, Args)]
pub(crate) struct ViewArguments {
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "768x768")]
    pub(crate) size: Size,
    /// Samples per pixel
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) samples: u32,
    /// Position of the camera [default: outside, 1.9 times the longest side from the middle]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::vector, allow_hyphen_values = true)]
    pub(crate) eye: Option<DVec3>,
    /// Point that the camera looks at [default: the middle of the volume]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::vector, allow_hyphen_values = true)]
    pub(crate) look_at: Option<DVec3>,
    /// Direction that is up [default: 0,0,1]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::direction)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) up: Option<Vec3>,
    /// Vertical field of view in degrees [default: 45]
    #[arg(long, value_name = "DEGREES", value_parser = values::field_of_view)]
    pub(crate) fov: Option<f32>,
    /// Parallel rays: the size of a part does not depend on its distance
    #[arg(long)]
    pub(crate) orthographic: bool,
    /// Show only a part: the smallest and the largest x, y and z, in the unit of the file
    #[arg(long, value_name = "X0,X1,Y0,Y1,Z0,Z1", value_parser = values::clip)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) clip: Option<Clip>,
    /// Colour behind the volume: #rrggbb, black, white, grey or backdrop [default: backdrop]
    #[arg(long, value_name = "COLOUR")]
    pub(crate) background: Option<Background>,
}

impl ViewArguments {
    /// Returns the arguments for a picture of some size, seen by the default camera.
    pub(crate) fn of(size: Size, samples: u32) -> Self {
        Self {
            size,
            samples,
            eye: None,
            look_at: None,
            up: None,
            fov: None,
            orthographic: false,
            clip: None,
            background: None,
        }
    }

    /// Returns the requested properties of the camera, for content that is relative to
    /// an offset.
    pub(crate) fn view(&self, offset: DVec3) -> View {
        let relative = |point: DVec3| (point - offset).as_vec3();
        View {
            eye: self.eye.map(relative),
            look_at: self.look_at.map(relative),
            up: self.up,
            fov_degrees: self.fov,
            is_orthographic: self.orthographic,
            ..View::default()
        }
    }

    /// Returns the options of the picture, for content that is relative to an offset.
    ///
    /// `background` is the colour if none was given; `None` is a backdrop.
    pub(crate) fn frame(&self, offset: DVec3, background: Option<Vec3>) -> FrameOptions {
        FrameOptions {
            size: (self.size.width, self.size.height),
            samples: self.samples,
            clip: self.clip.map(|clip| clip.moved_by(-offset)),
            background: match self.background {
                None => background,
                Some(Background::Backdrop) => None,
                Some(Background::Colour(colour)) => Some(colour.linear()),
            },
            ..FrameOptions::default()
        }
    }

    /// Returns the options for the camera that were given, with their values.
    pub(crate) fn given(&self) -> String {
        let vector = |name: &str, value: Option<DVec3>| {
            value.map(|DVec3 { x, y, z }| format!("--{name}={x},{y},{z}"))
        };
        let given = [
            vector("eye", self.eye),
            vector("look-at", self.look_at),
            vector("up", self.up.map(|up| up.as_dvec3())),
            self.fov.map(|degrees| format!("--fov {degrees}")),
        ];
        given.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}
