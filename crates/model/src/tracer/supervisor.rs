//! The link of the supervisor, by which all tiles of a frame come back.
//!
//! The study's model has no supervisor: with enough nodes it predicts frames that this link cannot
//! carry. Its figures stay as they are. This part says how much of the link a prediction uses.
//!
//! # Source
//! Parker, Efficient user-level event notification, sections 6.2 and 6.3: a tile is a message with
//! three bytes for each pixel and a header, from a worker to the supervisor.

use serde::Serialize;

use super::{Scenario, predict};
use crate::error::ModelError;
use crate::parameters::Parameters;
use crate::units::{self, Bytes, Nanoseconds};

/// The largest number of nodes for which a prediction is made.
const NODES_MAX: u32 = 1_000_000;

/// The load of the supervisor's link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Supervisor {
    /// The number of tiles of a frame.
    pub tiles: f64,
    /// The size of a tile on the wire.
    #[serde(rename = "tile_bytes")]
    pub tile: Bytes,
    /// The time of all tiles on the link: the shortest time of a frame.
    #[serde(rename = "frame_min_ms", serialize_with = "units::milliseconds")]
    pub frame_min: Nanoseconds,
    /// The largest number of frames in a second.
    #[serde(rename = "frames_max_per_s")]
    pub frames_max: f64,
    /// The share of the link's capacity that the predicted frames need. Above 1, they cannot arrive
    /// in time.
    pub link_load: f64,
    /// The smallest number of nodes, with as many renderers each, for which the load is above 1.
    /// `None` if there is none for which a prediction is possible.
    pub saturated_nodes: Option<u32>,
}

impl Supervisor {
    /// Returns the load of the link for frames that take `frame`.
    pub(super) fn of(parameters: &Parameters, frame: Nanoseconds) -> Self {
        let (tracer, network) = (&parameters.tracer, &parameters.network);
        let tiles = tracer.tiles();
        let data = u64::from(tracer.tile_pixels) * u64::from(tracer.pixel_bytes);
        let data = data + u64::from(tracer.tile_header_bytes);
        let tile = parameters.packets().wire(data);
        let frame_min = tile / network.bandwidth * tiles;
        Self {
            tiles,
            tile,
            frame_min,
            frames_max: 1e9 / frame_min.0,
            link_load: frame_min / frame,
            saturated_nodes: None,
        }
    }

    /// Finds the number of nodes from which on the link is saturated.
    ///
    /// # Errors
    /// [`ModelError`] if the scenario itself is outside of the model.
    pub fn with_saturation(
        mut self,
        parameters: &Parameters,
        scenario: &Scenario,
    ) -> Result<Self, ModelError> {
        predict(parameters, scenario)?;
        // Beyond some number of nodes there is no prediction, so errors count as not saturated.
        let is_over = |nodes: u32| {
            let found = predict(parameters, &Scenario { nodes, ..*scenario });
            found.is_ok_and(|found| found.supervisor.link_load > 1.0)
        };
        let mut high = 1;
        while !is_over(high) {
            if high == NODES_MAX {
                return Ok(self);
            }
            high = high.saturating_mul(2).min(NODES_MAX);
        }
        let mut low = high / 2;
        // The link is not saturated by `low` nodes, and is by `high`.
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if is_over(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.saturated_nodes = Some(high);
        Ok(self)
    }
}
