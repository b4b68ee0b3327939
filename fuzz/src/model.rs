//! Checks for the reader of model parameters.

use std::path::Path;

use raddle_model::simulate::Silent;
use raddle_model::simulate::pingpong::{PingPong, Receive};
use raddle_model::{ModelError, Parameters, Scenario, predict};

/// Reads `bytes` as a parameter file and checks the result.
///
/// A file that can be read is written and read again. The model must predict finite times for it or
/// report what it does not cover, and a simulated message must make a round trip.
///
/// # Panics
/// If an error does not say what was expected, if an error about the text does not name the line,
/// or if a time is not finite.
pub fn read_parameters(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let parameters = match Parameters::parse(&text, Path::new("node.toml")) {
        Ok(parameters) => parameters,
        Err(error) => {
            let message = checked_message(&error);
            return assert!(message.contains(": line "), "{message}");
        }
    };
    let again = Parameters::parse(&parameters.to_toml(), Path::new("again.toml"));
    let again = again.expect("what was written can be read");
    assert_eq!(again.to_toml(), parameters.to_toml());
    for (nodes, renderers) in [(1, 1), (32, 3), (1_000, 7)] {
        match predict(&parameters, &Scenario::new(nodes, renderers)) {
            Ok(found) => {
                let times = [
                    found.mean_frame,
                    found.frame,
                    found.cycle,
                    found.miss,
                    found.idle,
                ];
                assert!(
                    times.iter().all(|time| time.0.is_finite() && time.0 > 0.0),
                    "{found:?}"
                );
            }
            Err(error) => drop(checked_message(&error)),
        }
    }
    for receive in Receive::ALL {
        match PingPong::new(receive, 2, 1).run(&parameters, Silent) {
            Ok((found, _)) => assert!(found.min <= found.max && found.max.0.is_finite()),
            Err(error) => drop(checked_message(&error)),
        }
    }
}

/// Returns the text of `error`, after checking that it says what was expected.
fn checked_message(error: &ModelError) -> String {
    let message = error.to_string();
    assert!(message.contains("expected"), "{message}");
    message
}
