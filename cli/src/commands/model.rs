//! The parameters of `raddle predict` and `raddle simulate`.

use std::path::Path;

use raddle_model::{ModelError, Parameters};

use crate::arguments::MachineArguments;
use crate::error::CliError;

/// Returns the selected parameters, changed by `--set`.
///
/// # Errors
/// [`CliError::Model`] for a file that is wrong, [`CliError::Parameters`] for one that cannot be
/// read, [`CliError::WrongCall`] for a wrong setting.
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

/// Loads a file, or a machine that comes with the program if there is no file of that name.
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
