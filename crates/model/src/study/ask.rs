//! Common parts of all sweeps: the start scenario, and the times of frames in similar scenarios.

use super::chart::Chart;
use crate::error::ModelError;
use crate::parameters::Parameters;
use crate::tracer::{Prediction, Scenario, predict};

/// The maximum number of renderers on a node in the study's figures.
const RENDERERS_MAX: u32 = 7;
/// The numbers of nodes in the study's figures.
pub(super) const NODES: [u32; 7] = [8, 16, 32, 64, 128, 256, 512];

/// The parameters, and the scenario at which sweeps start.
pub(super) struct Asked<'parameters> {
    pub(super) parameters: &'parameters Parameters,
    pub(super) base: Scenario,
}

impl<'parameters> Asked<'parameters> {
    pub(super) fn new(parameters: &'parameters Parameters, base: Scenario) -> Self {
        Self { parameters, base }
    }

    /// Predicts a scenario with these parameters.
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

    /// Returns the time of a frame in one scenario relative to another scenario.
    pub(super) fn slowdown(&self, slow: &Scenario, fast: &Scenario) -> Result<f64, ModelError> {
        Ok(self.mean_frame(slow)? / self.mean_frame(fast)?)
    }

    /// Formats the numbers of nodes and renderers of the base, for titles.
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

    /// Returns these numbers of nodes, which must be in rising order, and inserts that of the base.
    pub(super) fn nodes_among(&self, counts: &[u32]) -> Vec<u32> {
        let mut counts = counts.to_vec();
        if let Err(place) = counts.binary_search(&self.base.nodes) {
            counts.insert(place, self.base.nodes);
        }
        counts
    }

    /// Returns the numbers of renderers in the study's figures and up to that of the base, as far
    /// as a core has contexts and the parameters have speeds.
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

    /// Evaluates a fallible function at several places.
    pub(super) fn points<Place: Copy + Into<f64>>(
        places: impl IntoIterator<Item = Place>,
        of: impl Fn(Place) -> Result<f64, ModelError>,
    ) -> Result<Vec<(f64, f64)>, ModelError> {
        let point = |place: Place| Ok((place.into(), of(place)?));
        places.into_iter().map(point).collect()
    }

    /// Adds a line over the numbers of nodes in the figures, and a note for that of the base.
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

    /// Adds a line over the numbers of renderers, and a note for that of the base.
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
