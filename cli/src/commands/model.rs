//! The parameters of `raddle predict` and `raddle simulate`.

use std::path::Path;

use raddle_model::{ModelError, Parameters};

use crate::arguments::{MachineArguments, Options};
use crate::error::CliError;

/// Refuses options for workers: there are none.
///
/// # Errors
/// [`CliError::WrongCall`].
pub(super) fn refuse_workers(command: &str, options: &Options) -> Result<(), CliError> {
    if !options.says_of_workers() {
        return Ok(());
    }
    Err(CliError::WrongCall {
        options: command.to_owned(),
        reason: "it has no workers; expected none of --workers, --pool, --blocks, --victims, --idle, --task-memory, --mailbox and --stats".to_owned(),
    })
}

/// The parameters that were asked for, with what is set beside them.
///
/// # Errors
/// [`CliError::Model`] of a file that cannot be read or is wrong, [`CliError::WrongCall`] of a setting that is.
pub(super) fn parameters(arguments: &MachineArguments) -> Result<Parameters, CliError> {
    let mut parameters = match &arguments.parameters {
        None => Parameters::study(),
        Some(path) => load(path)?,
    };
    for setting in &arguments.set {
        parameters
            .set(setting)
            .map_err(|error| CliError::WrongCall {
                options: format!("--set {setting}"),
                reason: error.to_string().replace("as given: ", ""),
            })?;
    }
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
