//! The content that a view shows.

use std::ops::ControlFlow;

use glam::Vec3;
use raddle_graphics::bounds::Bounds;
use raddle_graphics::camera::{Camera, Setting, View};
use raddle_graphics::kdtree::KdTree;
use raddle_graphics::mesh::Mesh;
use raddle_graphics::picture::Picture;
use raddle_graphics::render::FrameOptions;
use raddle_graphics::render_mesh::{self, RenderOptions};
use raddle_graphics::volume::direct::{self, Blend, DirectOptions};
use raddle_graphics::volume::isosurface::{self, IsosurfaceOptions};
use raddle_graphics::volume::{Histogram, Macrocells, PRESETS, Preset, TransferFunction, Volume};
use serde_json::{Value, json};

use super::place::{Place, words_of, words_of_volume};
use super::request::{Mode, Request};
use super::surfaces;
use crate::arguments::{ContentInput, InputArguments, VolumeArguments};
use crate::error::CliError;
use crate::input::Input;
use crate::volume_input::{BIN_COUNT, VolumeInput};

/// The distance between samples while something moves, in voxels.
const STEP_MOVING: f64 = 1.0;

/// The content of a file or a generated volume, ready to be rendered.
pub(super) struct Scene {
    pub(super) place: Place,
    content: Shown,
    /// The message that describes the scene to a page.
    description: Value,
}

/// A picture of a scene.
pub(in crate::commands) struct Rendered {
    pub(super) picture: Picture,
    /// True if nothing is visible.
    pub(super) is_empty: bool,
    /// The states of the nodes that have rendered it; null without nodes.
    pub(super) nodes: Value,
}

impl Rendered {
    pub(in crate::commands) fn new(picture: Picture, hits: u64, nodes: Value) -> Self {
        Self {
            picture,
            is_empty: hits == 0,
            nodes,
        }
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

/// Begins the description of a scene for a page.
pub(in crate::commands) fn described(place: &Place) -> Value {
    let (min, max) = (place.bounds.min.to_array(), place.bounds.max.to_array());
    let (name, offset) = (place.short_name(), place.offset.to_array());
    json!({ "kind": "scene", "name": name, "box": [min, max], "offset": offset })
}

/// Adds the first camera to a description. Without a point to look at, it looks at the depth of the
/// middle of the box.
pub(in crate::commands) fn describe_camera(
    camera: &Camera,
    at: Option<Vec3>,
    bounds: Bounds,
    description: &mut Value,
) {
    let [forward, ..] = camera.axes();
    let depth = (bounds.center() - camera.eye()).dot(forward);
    let depth = depth.max(0.05 * bounds.extent().length());
    let at = at.unwrap_or(camera.eye() + depth * forward);
    description["eye"] = json!(camera.eye().to_array());
    description["at"] = json!(at.to_array());
    description["fov"] = json!(camera.fov_degrees());
}

/// Returns the part of a description that all volumes have.
pub(in crate::commands) fn described_volume(
    [x, y, z]: [usize; 3],
    type_name: &str,
    histogram: &Histogram,
) -> Value {
    let presets = PRESETS
        .map(|it| json!({ "name": it.name, "about": it.about, "threshold": it.has_threshold() }));
    json!({
        "content": "volume",
        "details": format!("{x} × {y} × {z} {type_name}"),
        "range": histogram.range,
        "histogram": histogram.counts,
        "threshold": histogram.threshold(),
        "presets": presets,
        "colours": surfaces::default_colours(),
    })
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
        Ok(Self {
            place: Place {
                name: input.name,
                input: words_of_volume(arguments),
                surface_command: "isosurface",
                offset: input.offset,
                bounds: input.volume.bounds(),
            },
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
            place: Place {
                name: input.name,
                input: words_of(arguments.file.as_deref(), arguments.scene),
                surface_command: "isosurface",
                offset: input.offset,
                bounds: tree.bounds(),
            },
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
        let bounds = self.place.bounds;
        let mut description = described(&self.place);
        let (camera, up, more) = match &self.content {
            Shown::Volume {
                volume, histogram, ..
            } => {
                let camera = volume.camera(&View::default());
                let type_name = volume.voxels().type_name();
                let more = described_volume(volume.size(), type_name, histogram);
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
            let at = match &self.content {
                Shown::Volume { .. } => Some(bounds.center()),
                Shown::Mesh { .. } => None,
            };
            describe_camera(&camera, at, bounds, &mut description);
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
        let (view, frame) = self.place.frame(request, size);
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
                    .map(|it| Rendered::new(it.picture, it.report.rays_hit, Value::Null))
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
                    .map(|it| Rendered::new(it.picture, it.counts.hits, Value::Null))
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
                    .map(|it| Rendered::new(it.picture, it.counts.hits, Value::Null))
                    .map_err(|error| error.to_string())
            }
            _ => Err("a way to show another kind of content".to_owned()),
        }
    }
}
