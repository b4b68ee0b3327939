//! The content that a view shows.

use std::fmt::Display;
use std::ops::ControlFlow;
use std::path::Path;

use glam::{DVec3, Vec3};
use raddle_graphics::bounds::Bounds;
use raddle_graphics::camera::{Setting, View};
use raddle_graphics::kdtree::KdTree;
use raddle_graphics::mesh::Mesh;
use raddle_graphics::picture::Picture;
use raddle_graphics::render::FrameOptions;
use raddle_graphics::render_mesh::{self, RenderOptions};
use raddle_graphics::volume::direct::{self, Blend, DirectOptions};
use raddle_graphics::volume::isosurface::{self, IsosurfaceOptions};
use raddle_graphics::volume::{Histogram, Macrocells, PRESETS, Preset, TransferFunction, Volume};
use serde_json::{Value, json};

use super::request::{Mode, Request, quoted};
use super::surfaces;
use crate::arguments::{ContentInput, InputArguments, VolumeArguments};
use crate::error::CliError;
use crate::input::Input;
use crate::volume_input::{BIN_COUNT, VolumeInput};

/// The distance between samples while something moves, in voxels.
const STEP_MOVING: f64 = 1.0;

/// The content of a file or a generated volume, ready to be rendered.
pub(super) struct Scene {
    /// The name of the file or of the generated volume.
    name: String,
    /// The words of a command that name the content.
    input: String,
    /// The origin of the scene in the coordinates of the file.
    offset: DVec3,
    bounds: Bounds,
    content: Shown,
    /// The message that describes the scene to a page.
    description: Value,
}

/// A picture of a scene.
pub(super) struct Rendered {
    pub(super) picture: Picture,
    /// True if nothing is visible.
    pub(super) is_empty: bool,
}

impl Rendered {
    fn new(picture: Picture, hits: u64) -> Self {
        let is_empty = hits == 0;
        Self { picture, is_empty }
    }
}

/// The content itself.
enum Shown {
    Volume {
        volume: Volume,
        macrocells: Macrocells,
        histogram: Histogram,
    },
    Mesh {
        mesh: Mesh,
        tree: KdTree,
        up: Option<Vec3>,
        setting: Option<Setting>,
    },
}

/// Returns the options for direct rendering.
///
/// # Errors
/// A line for the user if the preset does not exist.
fn direct_options(
    request: &Request,
    histogram: &Histogram,
    view: View,
    frame: FrameOptions,
) -> Result<DirectOptions, String> {
    let blend = match request.mode {
        Mode::Maximum => Blend::Maximum,
        _ => Blend::Composite,
    };
    let preset = match &request.preset {
        None => blend.preset(),
        Some(name) => Some(Preset::named(name).ok_or("a preset that does not exist")?),
    };
    let transfer = TransferFunction::relative(preset, histogram.range, request.threshold);
    let options = DirectOptions::new(transfer.with_opacity(request.opacity));
    Ok(DirectOptions {
        blend,
        is_shaded: preset.is_none_or(Preset::is_lit),
        step: match request.moving {
            true => STEP_MOVING,
            false => options.step,
        },
        view,
        frame: FrameOptions {
            background: blend.background(preset),
            ..frame
        },
        ..options
    })
}

/// Returns the words of a command that name a file or a generated scene.
fn words_of(file: Option<&Path>, scene: Option<impl Display>) -> String {
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

impl Scene {
    /// Loads a file or generates a scene with the workers of the calling thread's runtime.
    ///
    /// # Errors
    /// [`CliError`] if the file has neither a volume nor a mesh.
    pub(super) fn load(input: ContentInput, quiet: bool) -> Result<Self, CliError> {
        let mut scene = match input {
            ContentInput::Mesh(arguments) => Self::of_mesh(&arguments, quiet)?,
            ContentInput::Volume(arguments) => Self::of_volume(&arguments, quiet)?,
            ContentInput::Unknown(path) => return Err(CliError::NothingToShow { path }),
        };
        // The camera of a mesh takes some work, so it is computed here and not for each page.
        scene.description = scene.described();
        Ok(scene)
    }

    /// Returns the description for a page: the first camera, values, presets.
    pub(super) fn description(&self) -> &Value {
        &self.description
    }

    fn of_volume(arguments: &VolumeArguments, quiet: bool) -> Result<Self, CliError> {
        let input = VolumeInput::get(arguments, quiet)?;
        let histogram = Histogram::of(&input.volume, input.macrocells.range(), BIN_COUNT);
        let mut all = words_of(arguments.file.as_deref(), arguments.scene);
        for option in arguments.reading.options() {
            // The name of the option, and its value.
            let words: Vec<String> = option.splitn(2, ' ').map(quoted).collect();
            all += &format!(" {}", words.join(" "));
        }
        Ok(Self {
            name: input.name,
            input: all,
            offset: input.offset,
            bounds: input.volume.bounds(),
            content: Shown::Volume {
                volume: input.volume,
                macrocells: input.macrocells,
                histogram,
            },
            description: Value::Null,
        })
    }

    fn of_mesh(arguments: &InputArguments, quiet: bool) -> Result<Self, CliError> {
        let input = Input::get(arguments, quiet)?;
        let (tree, _) = input.tree(quiet)?;
        Ok(Self {
            name: input.name,
            input: words_of(arguments.file.as_deref(), arguments.scene),
            offset: input.offset,
            bounds: tree.bounds(),
            content: Shown::Mesh {
                mesh: input.mesh,
                tree,
                up: input.up,
                setting: input.setting,
            },
            description: Value::Null,
        })
    }

    fn described(&self) -> Value {
        let name = Path::new(&self.name).file_name();
        let name = name.map_or(self.name.as_str().into(), |name| name.to_string_lossy());
        let (min, max) = (self.bounds.min.to_array(), self.bounds.max.to_array());
        let offset = self.offset.to_array();
        let mut description =
            json!({ "kind": "scene", "name": name, "box": [min, max], "offset": offset });
        let (camera, up, more) = match &self.content {
            Shown::Volume {
                volume, histogram, ..
            } => {
                let camera = volume.camera(&View::default());
                let presets = PRESETS.map(|it| {
                    json!({ "name": it.name, "about": it.about, "threshold": it.has_threshold() })
                });
                let [x, y, z] = volume.size();
                let more = json!({
                    "content": "volume",
                    "details": format!("{x} × {y} × {z} {}", volume.voxels().type_name()),
                    "range": histogram.range,
                    "histogram": histogram.counts,
                    "threshold": histogram.threshold(),
                    "presets": presets,
                    "colours": surfaces::default_colours(),
                });
                (camera, Vec3::Z, more)
            }
            Shown::Mesh {
                mesh,
                tree,
                up,
                setting,
            } => {
                let view = View {
                    up_default: *up,
                    setting: *setting,
                    ..View::default()
                };
                let camera = view.camera(mesh, tree, (1024, 768));
                let triangles = mesh.triangles.len();
                let more = json!({
                    "content": "mesh",
                    "details": format!("{triangles} triangles"),
                });
                (camera.map(|(camera, _)| camera), view.up(), more)
            }
        };
        // The cameras of defaults exist for every scene.
        if let Ok(camera) = camera {
            let [forward, ..] = camera.axes();
            let depth = (self.bounds.center() - camera.eye()).dot(forward);
            let depth = depth.max(0.05 * self.bounds.extent().length());
            let at = match &self.content {
                Shown::Volume { .. } => self.bounds.center(),
                Shown::Mesh { .. } => camera.eye() + depth * forward,
            };
            description["eye"] = json!(camera.eye().to_array());
            description["at"] = json!(at.to_array());
            description["fov"] = json!(camera.fov_degrees());
        }
        description["up"] = json!(up.to_array());
        if let (Value::Object(all), Value::Object(more)) = (&mut description, more) {
            all.extend(more);
        }
        description
    }

    /// Renders a picture with the workers of the calling thread's runtime. `size` may be smaller
    /// than the requested one. `proceeds` is asked for every tile whether to go on.
    ///
    /// # Errors
    /// A line for the user.
    pub(super) fn render(
        &self,
        request: &Request,
        size: (u32, u32),
        proceeds: impl Fn() -> ControlFlow<()> + Sync,
    ) -> Result<Rendered, String> {
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
        match (&self.content, request.mode) {
            (
                Shown::Mesh {
                    mesh,
                    tree,
                    up,
                    setting,
                },
                Mode::Mesh,
            ) => {
                let options = RenderOptions {
                    view: View {
                        up_default: *up,
                        setting: *setting,
                        ..view
                    },
                    frame,
                };
                let rendering = render_mesh::render(mesh, tree, &options, |_| proceeds());
                rendering
                    .map(|it| Rendered::new(it.picture, it.report.rays_hit))
                    .map_err(|error| error.to_string())
            }
            (
                Shown::Volume {
                    volume, macrocells, ..
                },
                Mode::Surface,
            ) => {
                let options = IsosurfaceOptions {
                    surfaces: surfaces::rendered(&request.surfaces),
                    has_shadows: request.shadows,
                    is_smooth: request.smooth,
                    view,
                    frame,
                };
                let rendering = isosurface::render(volume, macrocells, &options, |_| proceeds());
                rendering
                    .map(|it| Rendered::new(it.picture, it.counts.hits))
                    .map_err(|error| error.to_string())
            }
            (
                Shown::Volume {
                    volume,
                    macrocells,
                    histogram,
                },
                Mode::Direct | Mode::Maximum,
            ) => {
                let options = direct_options(request, histogram, view, frame)?;
                let rendering = direct::render(volume, macrocells, &options, |_| proceeds());
                rendering
                    .map(|it| Rendered::new(it.picture, it.counts.hits))
                    .map_err(|error| error.to_string())
            }
            _ => Err("a way to show another kind of content".to_owned()),
        }
    }

    /// Returns the command that renders the picture of a request.
    pub(super) fn command(&self, request: &Request) -> String {
        request.command(&self.input, self.offset, self.clip(request))
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
