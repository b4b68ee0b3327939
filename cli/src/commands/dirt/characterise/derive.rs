//! The properties of the program that follow from a run with a profile.

use raddle_model::Characterised;
use raddle_model::misses::MissFit;
use raddle_model::units::{Bytes, Nanoseconds};
use raddle_trace::profile::Activity;

use super::run::{Kind, Run, Runs};

/// The bytes of a message besides its data: a cache line.
const HEADER_BYTES: u32 = 64;
/// The bytes of a key, which is the data of a request.
const KEY_BYTES: u32 = 8;
/// The bytes of a pixel in a tile: three floats.
const PIXEL_BYTES: u32 = 12;

/// Returns the properties of the program. `run` has a profile and at least two nodes; `largest` is
/// the run with the most nodes, for the imbalance.
///
/// All works together are the CPU time of the run. A wait takes CPU time, too: the thread falls
/// asleep and wakes. That of communicators is part of receiving, and that of renderers part of
/// requests and tiles.
pub(super) fn characterised(
    run: &Run,
    largest: &Run,
    fit: &MissFit,
    runs: &Runs<'_>,
) -> Characterised {
    let frames = f64::from(run.frames);
    let misses = run.misses().max(1.0);
    let tiles = run.rendered.sum().tiles.max(1) as f64;
    let scenes = frames * f64::from(run.nodes);
    let per = |(_, ns): (f64, f64), count: f64| Nanoseconds((ns / count).max(0.0));
    let handler = |functions: &[&str]| run.work_of(Kind::Communicator, functions);
    // A communicator receives requests, answers, assignments and scenes.
    let (requests, _) = handler(&["handle request"]);
    let (answers, _) = handler(&["handle answer"]);
    let (others, _) = handler(&["read message"]);
    let received = (requests + answers + others).max(1.0);
    let (_, receiving) = handler(&["communicator"]);
    let per_message = (receiving + run.waits_ns(Kind::Communicator)).max(0.0) / received;
    let (waits_for_bricks, _) = run.of(Kind::Renderer, &["wait for brick"]);
    let (waits_for_work, _) = run.of(Kind::Renderer, &["wait for work"]);
    let per_wait = run.waits_ns(Kind::Renderer) / (waits_for_bricks + waits_for_work).max(1.0);
    // Looking for a line and producing a brick is work of a miss, too.
    let of_miss = ["load brick", "prefetch bricks", "produce brick"];
    let looking = run.work_of(Kind::Renderer, &of_miss).1;
    let (requests_sent, requesting) =
        run.work_of(Kind::Renderer, &["send request", "read from home"]);
    let requesting = (requests_sent, requesting + looking);
    let prepared = run.work_of(Kind::Renderer, &["prepare scene"]);
    let supervisor_ns = run.cpu().supervisor_ms * 1e6 * frames;
    let layout = &runs.subject.layout;
    let size = runs.size();
    let pixels = size.0 * size.1;
    let element_bytes = layout.brick_bytes() / layout.edge().pow(3);
    Characterised {
        render: Nanoseconds(
            (run.work_ns(Kind::Renderer, Activity::Compute) - prepared.1 - looking) / frames,
        ),
        prepare: per(prepared, scenes),
        request: per(requesting, misses) + Nanoseconds(per_wait * waits_for_bricks / misses),
        // One request may be for several bricks.
        receive: Nanoseconds(per_message * (requests + answers) / (2.0 * misses)),
        handle_request: per(handler(&["handle request", "produce brick"]), misses),
        answer: per(handler(&["send answer"]), misses),
        handle_answer: per(handler(&["handle answer"]), misses),
        wake: per(handler(&["wake threads"]), misses),
        tile: per(run.work_of(Kind::Renderer, &["send tile"]), tiles)
            + Nanoseconds(per_wait * waits_for_work / tiles),
        assignment: per(handler(&["read message", "push tasks"]), tiles)
            + Nanoseconds(per_message * others / tiles),
        scene: per(handler(&["begin scene"]), scenes),
        supervise: Nanoseconds(supervisor_ns.max(0.0) / tiles),
        misses: fit.model,
        request_bytes: Bytes(f64::from(HEADER_BYTES + KEY_BYTES)),
        // An edge is at most 1,024, and an element at most 4 bytes.
        brick: (layout.edge() as u32, element_bytes as u32, HEADER_BYTES),
        imbalance: (imbalance(largest), u32::from(largest.nodes.max(2))),
        pixels: (
            pixels,
            (f64::from(pixels) * frames / tiles).round().max(1.0) as u32,
        ),
        tile_bytes: (PIXEL_BYTES, HEADER_BYTES),
        renderers: run.renderers.into(),
    }
}

/// Returns the share of time in which renderers wait for work.
pub(super) fn imbalance(run: &Run) -> f64 {
    let waiting = run.time_ns(Kind::Renderer, Activity::WaitForWork);
    (waiting / run.total_ns(Kind::Renderer).max(1.0)).clamp(0.0, 0.99)
}
