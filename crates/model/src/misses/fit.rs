//! The miss model that fits counted misses best.

use serde::Serialize;

use super::MissModel;
use crate::error::{DomainError, above_zero};

/// The smallest base.
const BASE_MIN: f64 = 1.0;

/// The misses of a run, which were counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CountedMisses {
    /// The number of nodes.
    pub nodes: u32,
    /// The number of renderers of each node.
    pub renderers: u32,
    /// The misses of all renderers in all frames.
    pub misses: f64,
}

/// A fit, and its quality.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MissFit {
    /// The miss model.
    pub model: MissModel,
    /// The share of the variance of the counts that the model explains, R²; 1 if they are equal.
    pub explained: f64,
    /// The largest deviation of a count from the model, as a share of the count, or of 1 if there
    /// are no misses.
    pub error_max: f64,
}

impl MissFit {
    /// Fits base, nodes and the logarithm of renderers by least squares. A term for which all runs
    /// have the same value is 0. So is one with which the base would be below 1.
    ///
    /// # Errors
    /// [`DomainError`] if there is no run with misses, or one has no nodes or renderers.
    ///
    /// # Source
    /// The form of the model: Parker, Efficient user-level event notification, section 6.5.
    pub fn of(
        runs: &[CountedMisses],
        frames: u32,
        is_remote_only: bool,
    ) -> Result<Self, DomainError> {
        let mut model = MissModel {
            base: 0.0,
            per_node: 0.0,
            per_log_renderers: 0.0,
            frames: above_zero("tracer.frames", f64::from(frames))?,
            is_remote_only,
        };
        let mut points = Vec::new();
        for run in runs {
            let nodes = above_zero("nodes", f64::from(run.nodes))?;
            let renderers = above_zero("renderers", f64::from(run.renderers))?;
            let share = model.remote_share(nodes);
            // A single node says nothing about misses.
            if share > 0.0 {
                points.push([nodes, renderers.ln(), run.misses / share]);
            }
        }
        let count = above_zero("runs with misses", points.len() as f64)?;
        let mean = [0, 1, 2].map(|of: usize| points.iter().map(|it| it[of]).sum::<f64>() / count);
        // The sums of products of deviations from the means.
        let sum = |one: usize, other: usize| -> f64 {
            let product = |it: &[f64; 3]| (it[one] - mean[one]) * (it[other] - mean[other]);
            points.iter().map(product).sum()
        };
        let (nodes, both, logs) = (sum(0, 0), sum(0, 1), sum(1, 1));
        let (by_nodes, by_logs) = (sum(0, 2), sum(1, 2));
        let determinant = nodes.mul_add(logs, -both * both);
        let of_both = [
            (by_nodes * logs - by_logs * both) / determinant,
            (by_logs * nodes - by_nodes * both) / determinant,
        ];
        let can_tell_apart = determinant > 1e-9 * nodes * logs;
        let candidates = [
            can_tell_apart.then_some(of_both),
            (nodes > 0.0).then(|| [by_nodes / nodes, 0.0]),
            (logs > 0.0).then(|| [0.0, by_logs / logs]),
            Some([0.0; 2]),
        ];
        for [per_node, per_log_renderers] in candidates.into_iter().flatten() {
            (model.per_node, model.per_log_renderers) = (per_node, per_log_renderers);
            model.base = mean[2] - per_node * mean[0] - per_log_renderers * mean[1];
            // A few runs may fit best without misses, which cannot be.
            if model.base >= BASE_MIN {
                break;
            }
        }
        if model.base < BASE_MIN {
            return Err(DomainError::new("misses of a run", mean[2], "1 or more"));
        }
        let predicted = |it: &[f64; 3]| {
            model
                .per_log_renderers
                .mul_add(it[1], model.per_node.mul_add(it[0], model.base))
        };
        let residual = |it: &[f64; 3]| it[2] - predicted(it);
        let left: f64 = points.iter().map(|it| residual(it) * residual(it)).sum();
        let all = sum(2, 2);
        let errors = points
            .iter()
            .map(|it| (residual(it) / it[2].max(1.0)).abs());
        Ok(Self {
            model,
            explained: if all > 0.0 { 1.0 - left / all } else { 1.0 },
            error_max: errors.fold(0.0, f64::max),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(model: &MissModel, nodes: u32, renderers: u32) -> CountedMisses {
        let per_renderer = model.per_renderer(nodes, renderers).expect("in range");
        let threads = f64::from(nodes) * f64::from(renderers);
        CountedMisses {
            nodes,
            renderers,
            misses: per_renderer * threads * model.frames,
        }
    }

    proptest! {
        #[test]
        fn a_model_fits_its_own_counts(
            base in 1e5_f64..1e7,
            per_node in -100.0_f64..5e3,
            per_log_renderers in -1e3_f64..1e6,
            is_remote_only in any::<bool>(),
        ) {
            let model = MissModel {
                base, per_node, per_log_renderers, frames: 110.0, is_remote_only,
            };
            let runs = [32, 40, 48, 56, 64].into_iter();
            let runs = runs.flat_map(|nodes| (1..=4).map(move |renderers| (nodes, renderers)));
            let runs = runs.map(|(nodes, renderers)| run(&model, nodes, renderers));
            let runs: Vec<_> = runs.collect();
            let fit = MissFit::of(&runs, 110, is_remote_only).expect("runs with misses");
            prop_assert!((fit.model.base / base - 1.0).abs() < 1e-6, "{fit:?}");
            prop_assert!((fit.model.per_node - per_node).abs() < 1e-6 * base, "{fit:?}");
            let logs = fit.model.per_log_renderers - per_log_renderers;
            prop_assert!(logs.abs() < 1e-6 * base, "{fit:?}");
            prop_assert!(fit.error_max < 1e-6 && fit.explained > 0.999, "{fit:?}");
        }
    }

    #[test]
    fn terms_that_no_run_tells_apart_are_zero() {
        let counted = |nodes, renderers, misses| CountedMisses {
            nodes,
            renderers,
            misses,
        };
        let fit = |runs: &[CountedMisses]| MissFit::of(runs, 3, false).expect("runs").model;
        let one = fit(&[counted(8, 2, 700.0)]);
        assert_eq!(
            (one.base, one.per_node, one.per_log_renderers),
            (700.0, 0.0, 0.0)
        );
        let same = fit(&[counted(8, 1, 700.0), counted(8, 2, 800.0)]);
        assert_eq!(same.per_node, 0.0);
        assert!((same.per_log_renderers * 2.0_f64.ln() - 100.0).abs() < 1e-9);
        let other = fit(&[counted(4, 2, 700.0), counted(8, 2, 800.0)]);
        assert_eq!((other.per_node, other.per_log_renderers), (25.0, 0.0));
        // A line through these counts is below zero without nodes.
        let steep = [
            counted(2, 1, 10.0),
            counted(3, 1, 500.0),
            counted(4, 1, 900.0),
        ];
        let steep = fit(&steep);
        assert_eq!((steep.base, steep.per_node), (470.0, 0.0));
        assert!(MissFit::of(&[counted(2, 1, 0.0)], 3, false).is_err());
        assert!(MissFit::of(&[], 3, false).is_err());
        // A single node has no misses.
        assert!(MissFit::of(&[counted(1, 2, 0.0)], 3, true).is_err());
    }
}
