//! Writes the file before a signal ends the process.
//!
//! A thread waits for the signals. When one comes, it writes the file, and ends the process as the
//! signal would have. In a child process of fork(2), which has no such thread, the signals have
//! their default effect.

use std::fs;
use std::sync::{Arc, Once};
use std::thread;
use std::time::Duration;

use raddle_sync::prim::{AtomicBool, default_signals_in_children};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_default;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::{finish_at_exit, is_written_within};

/// The longest time that a signal waits for another thread to write the file.
const WRITING_MAX: Duration = Duration::from_secs(30);

/// Makes those signals write the file that would end the process now.
pub(super) fn finish_at_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut fatal = vec![SIGINT, SIGTERM, SIGHUP];
        fatal.retain(|signal| has_default(*signal));
        default_signals_in_children(&fatal);
        // Without the thread, the process ends without its file.
        let of_defaults = fatal.clone();
        let Ok(mut signals) = Signals::new(fatal) else {
            return;
        };
        let wait = move || {
            for signal in signals.forever() {
                if is_written_within(WRITING_MAX) {
                    finish_at_exit();
                }
                // Ends the process.
                let _ = emulate_default_handler(signal);
            }
        };
        let thread = thread::Builder::new().name("raddle-signals".to_owned());
        if thread.spawn(wait).is_err() {
            // Without the thread, signals end the process as if nothing were recorded.
            let is_default = Arc::new(AtomicBool::new(true));
            for signal in of_defaults {
                let _ = register_conditional_default(signal, Arc::clone(&is_default));
            }
        }
    });
}

/// Returns true if a signal is neither ignored nor handled by the program.
fn has_default(signal: i32) -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else {
        return false;
    };
    let mask = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
    };
    match (mask("SigIgn:"), mask("SigCgt:")) {
        (Some(ignored), Some(caught)) => (ignored | caught) >> (signal - 1) & 1 == 0,
        _ => false,
    }
}
