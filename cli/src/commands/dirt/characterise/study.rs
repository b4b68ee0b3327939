//! The figures of the study, to be shown beside ours.
//!
//! # Source
//! Parker, Efficient user-level event notification, 2013: tables 6 to 9 and section 6.5. The run is
//! that with 32 nodes of one renderer, 110 frames of 1024 × 1024 pixels.

/// A row of a table: functions of ours, and the row of the study that they correspond to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// The functions of the profile.
    pub(super) ours: &'static [&'static str],
    /// The functions of the study.
    pub(super) theirs: &'static str,
    /// The mean time of a node, in seconds.
    pub(super) seconds: f64,
    /// The number of calls of a node.
    pub(super) calls: f64,
}

/// The number of frames, of nodes, and of pixels of a frame.
pub(super) const FRAMES: f64 = 110.0;
pub(super) const NODES: f64 = 32.0;
pub(super) const PIXELS: f64 = 1_048_576.0;

/// Base, nodes, and logarithm of renderers, for 110 frames.
pub(super) const MISS_MODEL: [f64; 3] = [9_154_620.0, 4_454.49, 823_834.0];

const fn row(ours: &'static [&'static str], theirs: &'static str, seconds: f64, calls: f64) -> Row {
    Row {
        ours,
        theirs,
        seconds,
        calls,
    }
}

/// Table 6: the functions of renderers.
pub(super) const RENDERER: [Row; 11] = [
    row(
        &["renderer", "render tile", "prepare scene"],
        "run, Context, makeRay",
        0.939_5,
        3_604_480.0,
    ),
    row(&["wait for work"], "popTask", 32.64, 14_081.0),
    row(
        &["follow rays"],
        "traceRay, intersect, isect",
        6.130_9,
        3_604_480.0,
    ),
    row(
        &["enter macrocell", "read macrocell"],
        "getrhos_many",
        6.57,
        992_353.0,
    ),
    row(&["get brick"], "get_data, release_data", 3.42, 2_663_267.0),
    row(
        &["load brick", "prefetch bricks"],
        "access of lines",
        2.701_2,
        289_719.0,
    ),
    row(
        &["send request", "read from home"],
        "send_msg",
        4.57,
        289_719.0,
    ),
    row(&["wait for brick"], "cache[pos]->down", 130.0, 289_719.0),
    row(&["test cells"], "HitCell", 0.602, 871_690.0),
    row(
        &["shade"],
        "GradientCell, shade, get_bgcolor",
        0.161_7,
        3_604_480.0,
    ),
    row(
        &["pack pixels", "send tile"],
        "pack_pixel, send_buffs",
        0.543,
        14_080.0,
    ),
];

/// Table 8: the functions of communicators.
pub(super) const COMMUNICATOR: [Row; 6] = [
    row(&["communicator"], "recv, recv_buff", 8.072_8, 591_981.0),
    row(
        &["handle request", "handle answer"],
        "handlemessage, get_sole_access",
        1.085,
        579_438.0,
    ),
    row(&["send answer"], "send_msg", 12.9, 289_719.0),
    row(&["wake threads"], "cache[pos]->sem2->up", 2.65, 289_719.0),
    row(
        &["read message", "push tasks"],
        "TaskManager, pushTask, semaphores",
        0.108_2,
        14_080.0,
    ),
    row(
        &["begin scene"],
        "ViewManager, camera, endframe",
        0.006_35,
        111.0,
    ),
];

/// The shares of time of a renderer, in percent: computing, communicating, waiting for work. They
/// follow from 20.53, 134.96 and 24.99 s (table 6, and section 6.2.9 for the imbalance).
pub(super) const RENDERER_SHARES: [f64; 3] = [11.38, 74.78, 13.85];
/// The shares of time of a communicator, in percent: idle, messages, waking, misses (section 6.3.5,
/// figure 36).
pub(super) const COMMUNICATOR_SHARES: [f64; 4] = [87.86, 10.09, 1.42, 0.63];
