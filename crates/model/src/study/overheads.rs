//! Sweeps over slower steps, and other ways to send and to wait (sections 8.3 to 8.7).

use super::ask::{Asked, counted};
use super::chart::{Axis, Chart};
use super::crossing::reaches;
use crate::error::ModelError;
use crate::node::Waits;
use crate::tracer::{Delay, QueueModel, Scenario, Sends, Slower};
use crate::units::Nanoseconds;

const SLOWDOWN: Axis = Axis::linear("slowdown", "");
const SPEEDUP: Axis = Axis::linear("speedup", "");
const NODES_AXIS: Axis = Axis::logarithmic("nodes", "");
/// The largest delay of a sweep, in microseconds.
const FAR_US: f64 = 20.0;
/// The number of steps of a sweep.
const STEPS: u32 = 40;

/// The delay of each step without the interface, as a multiple of the delay of a receive.
///
/// The study estimates the delay of a notification in section 8.7, and that of the wire as "less
/// than half" of the others. Its shares follow from these estimates.
const WITHOUT_INTERFACE: [(Delay, f64); 4] = [
    (Delay::Wire, 0.5),
    (Delay::Receive, 1.0),
    (Delay::Send, 1.0),
    (Delay::Notification, 2.0),
];

/// Returns the delays of a sweep up to `far`.
fn to(far: f64) -> impl Iterator<Item = f64> {
    (0..=STEPS).map(move |step| far * f64::from(step) / f64::from(STEPS))
}

/// Returns a scenario with a delay, in microseconds, of one or several steps.
fn slower(base: Scenario, microseconds: f64, delay: Delay) -> Scenario {
    let time = Nanoseconds::from_microseconds(microseconds);
    Scenario {
        slower: base.slower + Slower::by(delay, time),
        ..base
    }
}

/// Returns the chart of the slowdown by a step that takes longer, with a line for each number of
/// renderers. Its notes are the delays at which the slowdown is 2.
fn slowdowns(asked: &Asked<'_>, what: &'static str, delay: Delay) -> Result<Chart, ModelError> {
    let title = format!("{what}, {}", counted(asked.base.nodes, "node"));
    let mut chart = Chart::new(title, Axis::linear(what, "µs"), SLOWDOWN);
    for renderers in asked.renderers() {
        let base = asked.with(renderers);
        let plain = asked.mean_frame(&base)?;
        let of = |time| Ok(asked.mean_frame(&slower(base, time, delay))? / plain);
        let name = counted(renderers, "renderer");
        if let Some(time) = reaches(2.0, of)? {
            chart.read_off(
                format!("{name}: a frame takes twice as long at"),
                time,
                "µs",
            );
        }
        chart.line(name, Asked::points(to(FAR_US), of)?);
    }
    Ok(chart)
}

pub(super) fn wire(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    slowdowns(asked, "added wire latency", Delay::Wire)
}

pub(super) fn send(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    slowdowns(asked, "added send overhead", Delay::Send)
}

pub(super) fn receive(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    slowdowns(asked, "added receive overhead", Delay::Receive)
}

pub(super) fn notification(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let title = format!(
        "slower notification, {}",
        counted(asked.base.renderers, "renderer")
    );
    let mut chart = Chart::new(title, NODES_AXIS, SLOWDOWN);
    for time in [1.0, 1.5, 2.0] {
        asked.line_over_nodes(&mut chart, &format!("by {time} µs"), |nodes| {
            let base = asked.on(nodes);
            asked.slowdown(&slower(base, time, Delay::Notification), &base)
        })?;
    }
    Ok(chart)
}

pub(super) fn system(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let title = format!(
        "speedup over an interface behind the operating system, {}",
        counted(asked.base.renderers, "renderer")
    );
    let mut chart = Chart::new(title, NODES_AXIS, SPEEDUP);
    let name = "sends, receives and notifications slower by 1 µs each";
    asked.line_over_nodes(&mut chart, name, |nodes| {
        let base = asked.on(nodes);
        asked.slowdown(&slower(base, 1.0, Delay::System), &base)
    })?;
    Ok(chart)
}

pub(super) fn wake(asked: &Asked<'_>) -> Result<Vec<Chart>, ModelError> {
    const TIMES: [f64; 5] = [0.0, 0.5, 1.0, 1.5, 2.0];
    const FAR: f64 = 2.0;
    let of = |wake: f64, sleep: f64| {
        let scenario = Scenario {
            slower: asked.base.slower
                + Slower {
                    wake: Nanoseconds::from_microseconds(wake),
                    sleep: Nanoseconds::from_microseconds(sleep),
                    ..Slower::default()
                },
            ..asked.base
        };
        asked.slowdown(&scenario, &asked.base)
    };
    // Falling asleep overlaps with the miss. The model does not hold for sleeps that take longer
    // than the miss.
    let base = Scenario {
        queues: QueueModel::Study,
        ..asked.base
    };
    let way = asked.predict(&base)?.round_trip;
    let is_hidden = |sleep: &f64| Nanoseconds::from_microseconds(*sleep) <= way;
    let title = |of: &str| format!("speedup over slower threads, by {of}, {}", asked.size());
    let x = Axis::linear("added wake overhead of the handler", "µs");
    let mut by_wake = Chart::new(title("waking"), x, SPEEDUP);
    let x = Axis::linear("added sleep overhead of renderers", "µs");
    let mut by_sleep = Chart::new(title("sleeping"), x, SPEEDUP);
    for time in TIMES {
        if is_hidden(&time) {
            let points = Asked::points(to(FAR), |wake| of(wake, time))?;
            by_wake.line(format!("sleeping slower by {time} µs"), points);
        }
        let points = Asked::points(to(FAR).filter(is_hidden), |sleep| of(time, sleep))?;
        by_sleep.line(format!("waking slower by {time} µs"), points);
    }
    by_wake.read_off("waking slower by 2 µs", of(2.0, 0.0)?, "");
    let read_off = [
        ("sleeping slower by 2 µs", 0.0, 2.0),
        ("waking slower by 0.5 µs, sleeping by 1", 0.5, 1.0),
        ("waking slower by 1 µs, sleeping by 1.5", 1.0, 1.5),
    ];
    for (name, wake, sleep) in read_off {
        if is_hidden(&sleep) {
            by_sleep.read_off(name, of(wake, sleep)?, "");
        }
    }
    Ok(vec![by_wake, by_sleep])
}

pub(super) fn polling(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let title = format!(
        "polling, over being notified, {}",
        counted(asked.base.nodes, "node")
    );
    let x = Axis::linear("renderers on a node", "");
    let mut chart = Chart::new(title, x, SLOWDOWN);
    for (waits, name) in [
        (Waits::HandlerPolls, "the handler polls"),
        (Waits::AllPoll, "all poll"),
    ] {
        let of = |renderers: u32| {
            let notified = Scenario {
                waits: Waits::Notified,
                ..asked.with(renderers)
            };
            asked.slowdown(&Scenario { waits, ..notified }, &notified)
        };
        asked.line_over_renderers(&mut chart, name, of)?;
    }
    Ok(chart)
}

pub(super) fn inline(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let title = format!(
        "sending inline, over descriptors, {}",
        counted(asked.base.nodes, "node")
    );
    let x = Axis::linear("renderers on a node", "");
    let mut chart = Chart::new(title, x, SLOWDOWN);
    let ways = [
        (Sends::InlineRequests, "requests"),
        (Sends::Inline { share: 1.0 }, "both, all loads and stores"),
        (Sends::Inline { share: 0.5 }, "both, half of them"),
        (Sends::Inline { share: 0.25 }, "both, a quarter of them"),
    ];
    for (sends, name) in ways {
        let of = |renderers: u32| {
            let base = Scenario {
                sends: Sends::Descriptors,
                ..asked.with(renderers)
            };
            asked.slowdown(&Scenario { sends, ..base }, &base)
        };
        asked.line_over_renderers(&mut chart, name, of)?;
    }
    Ok(chart)
}

pub(super) fn all(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let title = format!("slower steps, {}", asked.size());
    let x = Axis::linear("added time", "µs");
    let mut chart = Chart::new(title, x, SLOWDOWN);
    // Sleeping overlaps with the miss, and has a separate chart together with waking.
    for delay in Delay::ALL
        .into_iter()
        .filter(|&delay| delay != Delay::Sleep)
    {
        let name = delay.name();
        let plain = asked.mean_frame(&asked.base)?;
        let of = |time| Ok(asked.mean_frame(&slower(asked.base, time, delay))? / plain);
        if let Some(time) = reaches(2.0, of)? {
            chart.read_off(
                format!("{name}: a frame takes twice as long at"),
                time,
                "µs",
            );
        }
        chart.line(name, Asked::points(to(FAR_US), of)?);
    }
    Ok(chart)
}

/// Returns the chart of the share of each step in the gain by the interface, computed from the
/// slopes of the slowdowns.
pub(super) fn shares(asked: &Asked<'_>) -> Result<Chart, ModelError> {
    let title = format!(
        "shares of the gain, by what each step takes without the interface, {}",
        asked.size()
    );
    let x = Axis::linear("added time", "µs");
    let mut chart = Chart::new(title, x, Axis::linear("share", "%"));
    let places: Vec<f64> = to(FAR_US).collect();
    let mut gains = Vec::new();
    for (delay, weight) in WITHOUT_INTERFACE {
        let frame = |&time: &f64| asked.mean_frame(&slower(asked.base, time, delay));
        let frames = places.iter().map(frame).collect::<Result<Vec<_>, _>>()?;
        let slopes = frames.windows(2).map(|pair| weight * (pair[1] - pair[0]));
        gains.push(slopes.collect::<Vec<_>>());
    }
    let share = |gain: &Vec<f64>, at: usize| {
        100.0 * gain[at] / gains.iter().map(|gain| gain[at]).sum::<f64>()
    };
    for ((delay, _), gain) in WITHOUT_INTERFACE.iter().zip(&gains) {
        let last = gain.len() - 1;
        chart.read_off(
            format!("{}, while all are short", delay.name()),
            share(gain, 0),
            "%",
        );
        chart.read_off(
            format!("{}, when all are long", delay.name()),
            share(gain, last),
            "%",
        );
        let points = (0..=last).map(|at| (places[at], share(gain, at)));
        chart.line(delay.name(), points.collect());
    }
    Ok(chart)
}
