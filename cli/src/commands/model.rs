//! The parameters of `raddle predict` and `raddle simulate`.

use std::path::Path;

use raddle_model::{ModelError, Parameters};

use crate::arguments::MachineArguments;
use crate::error::CliError;

/// The parameters that were asked for, with what is set beside them.
///
/// # Errors
/// [`CliError::Model`] of a file that cannot be read or is wrong, [`CliError::WrongCall`] of a setting that is.
pub(super) fn parameters(arguments: &MachineArguments) -> Result<Parameters, CliError> {
    let mut parameters = match &arguments.parameters {
        None => Parameters::study(),
        Some(path) => load(path)?,
    };
    let settings = arguments.set.iter().map(String::as_str);
    parameters
        .set_all(settings)
        .map_err(|error| CliError::WrongCall {
            options: format!("--set {}", arguments.set.join(" --set ")),
            reason: error.to_string().replace("as given: ", ""),
        })?;
    Ok(parameters)
}

/// A machine that comes with the program, unless there is a file of that name.
fn load(path: &Path) -> Result<Parameters, CliError> {
    let named = path.to_str().filter(|_| !path.exists());
    if let Some(parameters) = named.and_then(Parameters::built_in) {
        return Ok(parameters);
    }
    Parameters::read(path).map_err(|error| match error {
        ModelError::Read { path, source } => CliError::Parameters {
            path,
            source,
            names: Parameters::names().collect::<Vec<_>>().join(", "),
        },
        other => other.into(),
    })
}
