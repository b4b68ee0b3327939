//! The place of a scene: its box, and the words that name it on a command line.

use std::fmt::Display;
use std::path::Path;

use glam::DVec3;
use raddle_graphics::bounds::Bounds;
use raddle_graphics::camera::View;
use raddle_graphics::render::FrameOptions;

use super::request::{Request, quoted};
use crate::arguments::VolumeArguments;

/// The place of a scene, and its names.
#[derive(Debug, Clone)]
pub(in crate::commands) struct Place {
    /// The name of the file or of the generated volume.
    pub(in crate::commands) name: String,
    /// The words of a command that name the content.
    pub(in crate::commands) input: String,
    /// The command that renders surfaces.
    pub(in crate::commands) surface_command: &'static str,
    /// The origin of the scene in the coordinates of the file.
    pub(in crate::commands) offset: DVec3,
    pub(in crate::commands) bounds: Bounds,
}

/// Returns the words of a command that name a file or a generated scene.
pub(super) fn words_of(file: Option<&Path>, scene: Option<impl Display>) -> String {
    let file = file.map(|file| {
        let name = file.display().to_string();
        // A name must not look like an option.
        quoted(&if name.starts_with('-') {
            format!("./{name}")
        } else {
            name
        })
    });
    let scene = || scene.map(|scene| format!("--scene {scene}"));
    file.or_else(scene).unwrap_or_default()
}

/// Returns the words of a command that name a volume, and say how it is read.
pub(in crate::commands) fn words_of_volume(arguments: &VolumeArguments) -> String {
    let mut all = words_of(arguments.file.as_deref(), arguments.scene);
    for option in arguments.reading.options() {
        // The name of the option, and its value.
        let words: Vec<String> = option.splitn(2, ' ').map(quoted).collect();
        all += &format!(" {}", words.join(" "));
    }
    all
}

impl Place {
    /// Returns the name to be shown: the last part of a path.
    pub(in crate::commands) fn short_name(&self) -> String {
        let name = Path::new(&self.name).file_name();
        name.map_or(self.name.clone(), |name| {
            name.to_string_lossy().into_owned()
        })
    }

    /// Returns the command that renders the picture of a request.
    pub(in crate::commands) fn command(&self, request: &Request) -> String {
        request.command(self, self.clip(request))
    }

    /// Returns the camera of a request, and the size, the samples and the clip planes of its
    /// picture. `size` may be smaller than the requested one.
    pub(in crate::commands) fn frame(
        &self,
        request: &Request,
        size: (u32, u32),
    ) -> (View, FrameOptions) {
        let view = View {
            eye: Some(request.eye()),
            look_at: Some(request.at()),
            fov_degrees: Some(request.fov),
            ..View::default()
        };
        let clip = self.clip(request).map(|[min, max]| Bounds {
            min: (min - self.offset).as_vec3(),
            max: (max - self.offset).as_vec3(),
        });
        let samples = if request.moving { 1 } else { request.samples };
        let frame = FrameOptions {
            size,
            samples,
            clip,
            ..FrameOptions::default()
        };
        (view, frame)
    }

    /// Returns the shown part, in the coordinates of the file.
    fn clip(&self, request: &Request) -> Option<[DVec3; 2]> {
        let (min, max) = (self.bounds.min.as_dvec3(), self.bounds.max.as_dvec3());
        // Where nothing is cut off, the plane is outside of the box.
        let margin = 0.01 * (max - min).max_element();
        let place = |axis: usize, share: f64| match share {
            0.0 => min[axis] - margin,
            1.0 => max[axis] + margin,
            _ => min[axis] + share * (max[axis] - min[axis]),
        };
        let corner = |end: usize| {
            let place = |axis: usize| place(axis, request.clip[axis][end]);
            DVec3::new(place(0), place(1), place(2)) + self.offset
        };
        request.is_clipped().then(|| [corner(0), corner(1)])
    }
}
