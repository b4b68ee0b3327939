//! What all sweeps share: the scenario that they begin at, and frames of scenarios beside it.

use super::chart::Chart;
use crate::error::ModelError;
use crate::parameters::Parameters;
use crate::tracer::{Prediction, Scenario, predict};

/// The study's figures have no more renderers than that on a node.
const RENDERERS_MAX: u32 = 7;
/// Nodes of the study's figures.
pub(super) const NODES: [u32; 7] = [8, 16, 32, 64, 128, 256, 512];

/// Parameters, and where sweeps begin.
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

    /// A frame without waiting for the last node, in milliseconds.
    pub(super) fn mean_frame(&self, scenario: &Scenario) -> Result<f64, ModelError> {
        Ok(self.predict(scenario)?.mean_frame.milliseconds())
    }

    /// A frame with waiting for the last node, in milliseconds.
    pub(super) fn frame(&self, scenario: &Scenario) -> Result<f64, ModelError> {
        Ok(self.predict(scenario)?.frame.milliseconds())
    }

    /// How much longer a frame takes than in another scenario.
    pub(super) fn slowdown(&self, slow: &Scenario, fast: &Scenario) -> Result<f64, ModelError> {
        Ok(self.mean_frame(slow)? / self.mean_frame(fast)?)
    }

    /// The nodes and renderers of the base, for titles.
    pub(super) fn size(&self) -> String {
        let nodes = counted(self.base.nodes, "node");
        let renderers = counted(self.base.renderers, "renderer");
        format!("{nodes}, {renderers}")
    }

    /// The base on so many nodes.
    pub(super) fn on(&self, nodes: u32) -> Scenario {
        Scenario { nodes, ..self.base }
    }

    /// The base with so many renderers.
    pub(super) fn with(&self, renderers: u32) -> Scenario {
        Scenario {
            renderers,
            ..self.base
        }
    }

    /// These numbers of nodes, which grow, with that of the base among them.
    pub(super) fn nodes_among(&self, counts: &[u32]) -> Vec<u32> {
        let mut counts = counts.to_vec();
        if let Err(place) = counts.binary_search(&self.base.nodes) {
            counts.insert(place, self.base.nodes);
        }
        counts
    }

    /// As many renderers as the study's figures have, and the base's, if a core has contexts for them.
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

    /// Points of a function that may fail.
    pub(super) fn points<Place: Copy + Into<f64>>(
        places: impl IntoIterator<Item = Place>,
        of: impl Fn(Place) -> Result<f64, ModelError>,
    ) -> Result<Vec<(f64, f64)>, ModelError> {
        let point = |place: Place| Ok((place.into(), of(place)?));
        places.into_iter().map(point).collect()
    }

    /// A line over the nodes of the figures, and its value for those that are asked about.
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

    /// The same over renderers.
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

/// The word as it stands after that number.
pub(super) fn counted(count: u32, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {word}{ending}")
}
