//! Parameters of the ray tracer, from the profile of a run.
//!
//! A profile has the work of each function. Here the work is divided as the model divides it: a
//! request is a call that sends, an answer another one, and each of them is received once. Work of
//! handlers beyond that is the work of a miss. The predicted work of all threads is that of the
//! profile, for the number of nodes and renderers of the run.
//!
//! # Source
//! Parker, Efficient user-level event notification, chapter 6, tables 7, 9 and 10.

use crate::error::{DomainError, ModelError, above_zero, from_zero};
use crate::misses::MissModel;
use crate::parameters::{Curve, Parameters};
use crate::units::{Bytes, Nanoseconds};

/// The properties of a run of the ray tracer. Works are those of one event.
#[derive(Clone, Debug, PartialEq)]
pub struct Characterised {
    /// The work of all renderers for a frame, without requests and tiles.
    pub render: Nanoseconds,
    /// The work of the renderers of a node to prepare a frame.
    pub prepare: Nanoseconds,
    /// The work of a renderer to request a brick.
    pub request: Nanoseconds,
    /// The work of handlers to receive a message.
    pub receive: Nanoseconds,
    /// The work of a handler for the request of a brick, besides receiving it and sending the
    /// answer.
    pub handle_request: Nanoseconds,
    /// The work of a handler to send a brick.
    pub answer: Nanoseconds,
    /// The work of a handler for a brick that has arrived, besides receiving it.
    pub handle_answer: Nanoseconds,
    /// The work of a handler to wake the renderer that waits for a brick.
    pub wake: Nanoseconds,
    /// The work of a renderer to return a tile.
    pub tile: Nanoseconds,
    /// The work of a handler for an assignment.
    pub assignment: Nanoseconds,
    /// The work of a handler for the scene of a frame.
    pub scene: Nanoseconds,
    /// The work of the supervisor for a tile.
    pub supervise: Nanoseconds,
    /// The misses.
    pub misses: MissModel,
    /// The size of a request on the wire.
    pub request_bytes: Bytes,
    /// The number of elements on an edge of a brick, the size of an element, and the size of the
    /// header of a brick.
    pub brick: (u32, u32, u32),
    /// The share of time in which renderers wait for work, and the number of nodes on which it was
    /// measured, at least two.
    pub imbalance: (f64, u32),
    /// The numbers of pixels of a frame and of a tile.
    pub pixels: (u32, u32),
    /// The size of a pixel in a message, and of the header of a tile.
    pub tile_bytes: (u32, u32),
    /// The largest number of renderers of a node. Each, and the handler, has a CPU of its own.
    pub renderers: u32,
}

impl Parameters {
    /// Replaces the parameters of the program by those of a run on this machine, and renames it to
    /// `name`.
    ///
    /// # Errors
    /// [`ModelError`] if a property is out of range. The parameters are unchanged then.
    pub fn characterise(&mut self, name: &str, found: &Characterised) -> Result<(), ModelError> {
        for (what, time) in [
            ("work of a request", found.request),
            ("work of a receive", found.receive),
            ("work for a request", found.handle_request),
            ("work of an answer", found.answer),
            ("work for an answer", found.handle_answer),
            ("work of a wake-up", found.wake),
        ] {
            from_zero(what, time.0).map_err(DomainError::in_nanoseconds)?;
        }
        above_zero("renderers", f64::from(found.renderers))?;
        let mut changed = self.clone();
        name.clone_into(&mut changed.name);
        let message = &mut changed.message;
        message.send = found.request;
        message.notify = found.receive;
        message.poll = found.receive;
        message.wake = found.wake;
        let contexts = found.renderers.saturating_add(1).max(2);
        changed.core.contexts = changed.core.contexts.max(contexts);
        changed.core.curve = Curve::Measured;
        changed.core.speeds = vec![1.0; changed.core.contexts.min(64) as usize];
        let (edge, element_bytes, header_bytes) = found.brick;
        let tracer = &mut changed.tracer;
        tracer.render = found.render;
        tracer.core_speedup = 1.0;
        tracer.prepare = found.prepare;
        // The model has one time for sending.
        let longer = found.answer - found.request;
        tracer.handle = (found.handle_request + found.handle_answer + longer).max(Nanoseconds(1.0));
        tracer.response_handle = Nanoseconds(found.handle_answer.0.min(tracer.handle.0));
        tracer.response_handle_bold = tracer.response_handle;
        tracer.misses = found.misses.base;
        tracer.misses_per_node = found.misses.per_node;
        tracer.misses_per_log_renderers = found.misses.per_log_renderers;
        // A number of frames is whole.
        tracer.frames = found.misses.frames as u32;
        tracer.remote_only = u32::from(found.misses.is_remote_only);
        tracer.request = found.request_bytes;
        (
            tracer.brick_edge,
            tracer.element_bytes,
            tracer.brick_header_bytes,
        ) = (edge, element_bytes, header_bytes);
        let elements = f64::from(edge).powi(3) * f64::from(element_bytes);
        tracer.response = Bytes(elements + f64::from(header_bytes));
        (tracer.imbalance, tracer.imbalance_nodes) = found.imbalance;
        (tracer.image_pixels, tracer.tile_pixels) = found.pixels;
        (tracer.pixel_bytes, tracer.tile_header_bytes) = found.tile_bytes;
        tracer.tile = found.tile;
        tracer.assignment = found.assignment;
        tracer.scene = found.scene;
        tracer.supervise = found.supervise;
        self.adopt(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use crate::tracer::CpuTime;

    fn found() -> Characterised {
        let ns = Nanoseconds;
        Characterised {
            render: ns(2e9),
            prepare: ns(1e6),
            request: ns(500.0),
            receive: ns(100.0),
            handle_request: ns(120.0),
            answer: ns(700.0),
            handle_answer: ns(400.0),
            wake: ns(4_000.0),
            tile: ns(9_000.0),
            assignment: ns(1_500.0),
            scene: ns(900.0),
            supervise: ns(3_000.0),
            misses: MissModel {
                base: 1e6,
                per_node: 1e3,
                per_log_renderers: 0.0,
                frames: 10.0,
                is_remote_only: true,
            },
            request_bytes: Bytes(64.0),
            brick: (12, 2, 64),
            imbalance: (0.1, 4),
            pixels: (1 << 20, 256),
            tile_bytes: (12, 72),
            renderers: 4,
        }
    }

    #[test]
    fn the_predicted_work_is_that_of_the_run() {
        let mut parameters = Parameters::study();
        parameters.characterise("here", &found()).expect("in range");
        let (nodes, tiles) = (4.0, 4_096.0);
        let misses = (1e6 + 1e3 * nodes) / 10.0 * (1.0 - 1.0 / nodes);
        let cpu = CpuTime::of(&parameters, &Scenario::new(4, 1)).expect("in range");
        let renderers = 2e9 + misses * 500.0 + tiles * 9_000.0 + nodes * 1e6;
        assert!((cpu.renderers.0 / renderers - 1.0).abs() < 1e-9, "{cpu:?}");
        let of_miss = 2.0 * 100.0 + 120.0 + 700.0 + 400.0 + 4_000.0;
        let handlers = misses * of_miss + tiles * 1_500.0 + nodes * 900.0;
        assert!((cpu.handlers.0 / handlers - 1.0).abs() < 1e-9, "{cpu:?}");
        // A single node has all bricks.
        let one = CpuTime::of(&parameters, &Scenario::new(1, 2)).expect("in range");
        let renderers = 2e9 + tiles * 9_000.0 + 1e6;
        assert!((one.renderers.0 / renderers - 1.0).abs() < 1e-9, "{one:?}");
        assert_eq!(one.supervisor, cpu.supervisor);
        assert!(one.total() < cpu.total());
    }

    #[test]
    fn properties_out_of_range_are_refused() {
        let mut parameters = Parameters::study();
        let wrong = Characterised {
            imbalance: (1.5, 4),
            ..found()
        };
        let error = parameters.characterise("here", &wrong).unwrap_err();
        assert!(error.to_string().contains("tracer.imbalance"), "{error}");
        assert_eq!(parameters.name, "parker-2013");
    }
}
