//! The common part of all sweeps: the scenario at which they begin, and the frames of similar
//! scenarios.

use super::chart::Chart;
use crate::error::ModelError;
use crate::parameters::Parameters;
use crate::tracer::{Prediction, Scenario, predict};

/// The maximum number of renderers on a node in the study's figures.
const RENDERERS_MAX: u32 = 7;
/// The numbers of nodes in the study's figures.
pub(super) const NODES: [u32; 7] = [8, 16, 32, 64, 128, 256, 512];

/// Parameters, and the scenario at which sweeps begin.
pub(super) struct Asked<'parameters> {
    pub(super) parameters: &'parameters Parameters,
    pub(super) base: Scenario,
}

impl<'parameters> Asked<'parameters> {
    pub(super) fn new(parameters: &'parameters Parameters, base: Scenario) -> Self {
        Self { parameters, base }
    }

    pub(super) fn predict(&self, scenario: &Scenario) -> Result<Prediction, ModelError> {
        predict(self.parameters, scenario)
    }

    /// Returns the time of a frame without waiting for the last node, in milliseconds.
    pub(super) fn mean_frame(&self, scenario: &Scenario) -> Result<f64, ModelError> {
        Ok(self.predict(scenario)?.mean_frame.milliseconds())
    }

    /// Returns the time of a frame including the wait for the last node, in milliseconds.
    pub(super) fn frame(&self, scenario: &Scenario) -> Result<f64, ModelError> {
        Ok(self.predict(scenario)?.frame.milliseconds())
    }

    /// Returns the time of a frame relative to that in another scenario.
    pub(super) fn slowdown(&self, slow: &Scenario, fast: &Scenario) -> Result<f64, ModelError> {
        Ok(self.mean_frame(slow)? / self.mean_frame(fast)?)
    }

    /// Returns the numbers of nodes and renderers of the base, for titles.
    pub(super) fn size(&self) -> String {
        let nodes = counted(self.base.nodes, "node");
        let renderers = counted(self.base.renderers, "renderer");
        format!("{nodes}, {renderers}")
    }

    /// Returns the base with another number of nodes.
    pub(super) fn on(&self, nodes: u32) -> Scenario {
        Scenario { nodes, ..self.base }
    }

    /// Returns the base with another number of renderers.
    pub(super) fn with(&self, renderers: u32) -> Scenario {
        Scenario {
            renderers,
            ..self.base
        }
    }

    /// Returns these increasing numbers of nodes, and that of the base among them.
    pub(super) fn nodes_among(&self, counts: &[u32]) -> Vec<u32> {
        let mut counts = counts.to_vec();
        if let Err(place) = counts.binary_search(&self.base.nodes) {
            counts.insert(place, self.base.nodes);
        }
        counts
    }

    /// Returns the renderer counts of the study's figures and of the base for which a core has
    /// contexts.
    pub(super) fn renderers(&self) -> impl Iterator<Item = u32> + use<> {
        let contexts = self.parameters.core.contexts;
        let speeds = self
            .parameters
            .speeds()
            .map_or(2, |speeds| speeds.threads_max());
        let threads = contexts.min(u32::try_from(speeds).unwrap_or(u32::MAX));
        let most = RENDERERS_MAX.max(self.base.renderers).min(threads - 1);
        1..=most
    }

    /// Evaluates a fallible function at a number of places.
    pub(super) fn points<Place: Copy + Into<f64>>(
        places: impl IntoIterator<Item = Place>,
        of: impl Fn(Place) -> Result<f64, ModelError>,
    ) -> Result<Vec<(f64, f64)>, ModelError> {
        let point = |place: Place| Ok((place.into(), of(place)?));
        places.into_iter().map(point).collect()
    }

    /// Creates a line over the node counts of the figures and of the base.
    pub(super) fn line_over_nodes(
        &self,
        chart: &mut Chart,
        name: &str,
        of: impl Fn(u32) -> Result<f64, ModelError>,
    ) -> Result<(), ModelError> {
        chart.line(name, Self::points(NODES, &of)?);
        let nodes = self.base.nodes;
        chart.read_off(
            format!("{name}, {}", counted(nodes, "node")),
            of(nodes)?,
            "",
        );
        Ok(())
    }

    /// Creates a line over renderer counts.
    pub(super) fn line_over_renderers(
        &self,
        chart: &mut Chart,
        name: &str,
        of: impl Fn(u32) -> Result<f64, ModelError>,
    ) -> Result<(), ModelError> {
        chart.line(name, Self::points(self.renderers(), &of)?);
        let renderers = self.base.renderers;
        let name = format!("{name}, {}", counted(renderers, "renderer"));
        chart.read_off(name, of(renderers)?, "");
        Ok(())
    }
}

/// Formats a number with a word in the singular or plural.
pub(super) fn counted(count: u32, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {word}{ending}")
}
