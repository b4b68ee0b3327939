//! `raddle dirt --view`: the page of `raddle view`, with pictures of the nodes.
//!
//! The supervisor renders one picture at a time. A page may take nodes out of the work and put them
//! back. A node that ends is shown as ended, and the others render its tiles.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use glam::Vec3;
use raddle::net::Node;
use raddle_graphics::camera::View;
use raddle_graphics::dirt::{DirtError, DirtOptions, Supervisor, WorkerState};
use raddle_graphics::volume::isosurface::IsosurfaceOptions;
use serde_json::{Value, json};

use super::arguments::DirtArguments;
use super::nodes::failed;
use super::subject::Subject;
use crate::arguments::Options;
use crate::commands::view::{
    self, Content, Mode, Place, Rendered, Request, describe_camera, described, described_volume,
    words_of_volume,
};
use crate::error::{self, CliError};

/// Shows the volume until the process is ended.
///
/// # Errors
/// [`CliError`] if a node cannot begin, or the port is not free.
pub(super) fn show(
    node: &Node,
    subject: &Subject,
    arguments: &DirtArguments,
    dirt: &DirtOptions,
    options: &Options,
) -> Result<(), CliError> {
    let supervisor = Supervisor::start(node, dirt).map_err(failed)?;
    let place = Place {
        name: subject.name.clone(),
        input: words_of_volume(&arguments.input),
        surface_command: "dirt",
        offset: subject.offset,
        bounds: subject.grid.bounds(),
    };
    let mut description = described(&place);
    let first = arguments.surfaces.options(&arguments.view, subject.offset);
    let camera = subject
        .grid
        .camera(&first.view)
        .or_else(|_| subject.grid.camera(&View::default()));
    if let Ok(camera) = camera {
        let at = first.view.look_at.unwrap_or(place.bounds.center());
        describe_camera(&camera, Some(at), place.bounds, &mut description);
    }
    description["up"] = json!(first.view.up.unwrap_or(Vec3::Z).to_array());
    let type_name = subject.type_name;
    let more = described_volume(subject.grid.size(), type_name, &subject.histogram);
    if let (Value::Object(all), Value::Object(more)) = (&mut description, more) {
        all.extend(more);
    }
    if let [isovalue, ..] = arguments.surfaces.iso[..] {
        description["threshold"] = json!(isovalue);
    }
    // Nodes render surfaces only.
    description["modes"] = json!(["surface"]);
    description["nodes"] = states(&supervisor);
    let content = Distributed {
        place,
        description,
        supervisor: Mutex::new(supervisor),
    };
    view::show(Arc::new(content), &arguments.page, "dirt", options)
}

/// A volume that nodes render.
struct Distributed {
    place: Place,
    description: Value,
    supervisor: Mutex<Supervisor>,
}

/// Returns the states of the nodes, for a page.
fn states(supervisor: &Supervisor) -> Value {
    supervisor.workers().map(WorkerState::name).collect()
}

impl Content for Distributed {
    fn description(&self) -> &Value {
        &self.description
    }

    fn render(
        &self,
        request: &Request,
        size: (u32, u32),
        proceeds: &(dyn Fn() -> ControlFlow<()> + Sync),
    ) -> Result<Rendered, String> {
        if request.mode != Mode::Surface {
            return Err("nodes render surfaces only".to_owned());
        }
        let (view, frame) = self.place.frame(request, size);
        let options = IsosurfaceOptions {
            surfaces: request.surfaces_to_render(),
            has_shadows: request.shadows,
            is_smooth: request.smooth,
            view,
            frame,
        };
        // A panic while a picture was rendered leaves a supervisor that renders the next one.
        let supervisor = self.supervisor.lock();
        let mut supervisor = supervisor.unwrap_or_else(PoisonError::into_inner);
        if let Some(nodes) = &request.nodes {
            supervisor.set_active(nodes);
        }
        let rendered = supervisor.render(&options, |_, _| proceeds());
        let nodes = states(&supervisor);
        drop(supervisor);
        let frame = rendered.map_err(|error| match error {
            DirtError::Isosurface(error) => error.to_string(),
            error => error::one_line(&failed(error)),
        })?;
        Ok(Rendered::new(frame.picture, frame.hits, nodes))
    }

    fn command(&self, request: &Request) -> String {
        self.place.command(request)
    }
}
