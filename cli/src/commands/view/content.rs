//! The content of a page: a scene that this process renders, or one that nodes render.

use std::ops::ControlFlow;

use raddle::Runtime;
use serde_json::Value;

use super::request::Request;
use super::scene::{Rendered, Scene};

/// The content of a page, which any thread may ask for pictures.
pub(in crate::commands) trait Content: Send + Sync {
    /// Returns the description for a page: the first camera, values, presets.
    fn description(&self) -> &Value;

    /// Renders a picture. `size` may be smaller than the requested one. `proceeds` is asked for
    /// every tile whether to go on.
    ///
    /// # Errors
    /// A line for the user.
    fn render(
        &self,
        request: &Request,
        size: (u32, u32),
        proceeds: &(dyn Fn() -> ControlFlow<()> + Sync),
    ) -> Result<Rendered, String>;

    /// Returns the command that renders the picture of a request.
    fn command(&self, request: &Request) -> String;
}

/// A scene that the workers of this process render.
pub(super) struct Local {
    pub(super) scene: Scene,
    pub(super) runtime: Runtime,
}

impl Content for Local {
    fn description(&self) -> &Value {
        self.scene.description()
    }

    fn render(
        &self,
        request: &Request,
        size: (u32, u32),
        proceeds: &(dyn Fn() -> ControlFlow<()> + Sync),
    ) -> Result<Rendered, String> {
        let scene = &self.scene;
        self.runtime
            .install(|| scene.render(request, size, proceeds))
    }

    fn command(&self, request: &Request) -> String {
        self.scene.place.command(request)
    }
}
