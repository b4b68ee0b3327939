//! What the target asserts of whatever reads parameters.

use std::path::Path;

use raddle_model::simulate::Silent;
use raddle_model::simulate::pingpong::{PingPong, Receive};
use raddle_model::{ModelError, Parameters, Scenario, predict};

/// Reads `bytes` as a file of parameters, and judges what comes of it: where it can be read, it is written and read again, the model predicts finite times or says
/// what it does not hold for, and a message gets there and back.
///
/// # Panics
/// When an error does not say what was expected, or comes of the text and does not name file and line; when a time is not finite.
pub fn read_parameters(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let parameters = match Parameters::parse(&text, Path::new("node.toml")) {
        Ok(parameters) => parameters,
        Err(error) => {
            let told = judged(&error);
            return assert!(told.contains(": line "), "{told}");
        }
    };
    let again = Parameters::parse(&parameters.to_toml(), Path::new("again.toml"));
    let again = again.expect("what was written can be read");
    assert_eq!(again.to_toml(), parameters.to_toml());
    for (nodes, renderers) in [(1, 1), (32, 3), (1_000, 7)] {
        match predict(&parameters, &Scenario::new(nodes, renderers)) {
            Ok(found) => {
                let times = [found.mean_frame, found.frame, found.cycle, found.miss, found.idle];
                assert!(times.iter().all(|time| time.0.is_finite() && time.0 > 0.0), "{found:?}");
            }
            Err(error) => drop(judged(&error)),
        }
    }
    for receive in Receive::ALL {
        match PingPong::new(receive, 2, 1).run(&parameters, Silent) {
            Ok((found, _)) => assert!(found.min <= found.max && found.max.0.is_finite()),
            Err(error) => drop(judged(&error)),
        }
    }
}

/// The error's text.
fn judged(error: &ModelError) -> String {
    let told = error.to_string();
    assert!(told.contains("expected"), "{told}");
    told
}
