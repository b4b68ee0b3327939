//! Reports what a program waits for when it makes no progress.
//!
//! The variable `RADDLE_WATCH` gives a period, such as `5s`. A runtime that uses chares then has a
//! thread that checks once per period. If a thread, or a future of another executor, waits for
//! something of the runtime, and no message has been under way since the previous check, the thread
//! prints what waits ([`Chares::explain_waits`](crate::Chares::explain_waits)) to standard error.
//! It prints this once, until there is progress again. Without the variable there is no such
//! thread, and no output.
//!
//! In a program over nodes, each node checks by itself. On nodes other than the first, no thread
//! waits for results, so there waiting elements are reported.

use std::io::{self, Write};
use std::sync::{Arc, Weak};
use std::time::Duration;

use raddle_sync::prim::mpsc::{self, RecvTimeoutError};
use raddle_sync::prim::thread;

use crate::engine::system::System;
use crate::remote;
use crate::waits::explain_waits;

/// The variable that contains the period.
pub(crate) const VARIABLE: &str = "RADDLE_WATCH";
/// The format of the variable.
pub(crate) const EXPECTED: &str = "a time, such as 5s, 500ms or 2min";

/// A thread that checks periodically; it ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Watcher(#[expect(dead_code, reason = "its end is what counts")] mpsc::Sender<()>);

impl Watcher {
    /// Starts a thread that watches a system, if the environment variable is set.
    ///
    /// # Panics
    /// If the variable has no valid period, or the thread cannot be started.
    pub(crate) fn from_environment(system: &Arc<System>) -> Option<Self> {
        let found = std::env::var_os(VARIABLE).filter(|value| !value.is_empty())?;
        let Some(period) = found.to_str().and_then(time) else {
            panic!("{VARIABLE}: found {found:?}; expected {EXPECTED}");
        };
        let (watcher, end) = mpsc::channel();
        let system = Arc::downgrade(system);
        let builder = thread::Builder::new().name("raddle-watch".to_owned());
        let started = builder.spawn(move || watch(&system, period, &end));
        started.unwrap_or_else(|error| panic!("{VARIABLE}: the thread cannot be started: {error}"));
        Some(Self(watcher))
    }
}

/// Parses a time: a number and a unit.
pub(crate) fn time(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit = text.find(|character: char| character.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit);
    let seconds = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        _ => return None,
    };
    let number: f64 = number.trim().parse().ok()?;
    let time = Duration::try_from_secs_f64(number * seconds).ok()?;
    (!time.is_zero()).then_some(time)
}

/// Checks the system once per period, until it ends.
fn watch(system: &Weak<System>, period: Duration, end: &mpsc::Receiver<()>) {
    let (mut before, mut said) = (None, None);
    while end.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
        let Some(system) = system.upgrade() else {
            return;
        };
        let counts = system.quiet().counts();
        let stands_still = counts.0 == counts.1 && before == Some(counts);
        before = Some(counts);
        if !stands_still || said == before || !has_waiter(&system) {
            continue;
        }
        let lines = explain_waits(&system);
        // On a node that only serves, nothing is reported if no elements wait.
        if !(lines.is_empty() && is_service(&system)) {
            say(period, &lines);
        }
        // The requests to the workers were messages too, and do not count as progress.
        before = Some(system.quiet().counts());
        said = before;
    }
}

fn has_waiter(system: &System) -> bool {
    system.waiters().has_any() || is_service(system)
}

/// Returns true on nodes other than the first, which only serve the program.
fn is_service(system: &System) -> bool {
    remote::away(system).is_some_and(|away| away.me > 0)
}

fn say(period: Duration, lines: &[String]) {
    let mut text = format!("raddle: no message has been under way for {period:?}; what waits:\n");
    if lines.is_empty() {
        text += "  a thread, and no entry, message, reduction or scan\n";
    }
    for line in lines {
        text += &format!("  {line}\n");
    }
    // Written in one piece. If writing fails, there is no other way to report.
    let _ = io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_and_a_unit() {
        let times = [
            ("5s", 5_000),
            (" 500ms ", 500),
            ("2min", 120_000),
            ("0.25 s", 250),
        ];
        for (text, ms) in times {
            assert_eq!(time(text), Some(Duration::from_millis(ms)), "{text}");
        }
        for text in ["5", "s", "-1s", "0s", "5h", "infs", "soon", "1e300min"] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
