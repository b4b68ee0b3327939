//! Measures a mode that uses MPI together with other modes: `mpirun` starts this program again, as
//! the nodes of that mode alone.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use raddle::chare::nodes::Progress;
use raddle::net::NetError;
use serde_json::Value;

use super::arguments::Mode;
use crate::commands::launch::MPIRUN;
use crate::times::Times;

/// The times of an iteration for each size, with one way to receive messages.
pub(super) type Column = (Progress, Vec<Times>);

/// Measures on `nodes` nodes with the given arguments of this program, for each way to receive
/// messages. Each way needs new processes, since a process can be an MPI node only once.
///
/// # Errors
/// The reason why there is no result.
pub(super) fn measure(
    mode: Mode,
    arguments: impl Iterator<Item = OsString>,
    nodes: u16,
    ways: &[Progress],
) -> Result<Vec<Column>, String> {
    if cfg!(not(feature = "mpi")) {
        return Err(NetError::WithoutMpi.to_string());
    }
    // These options are for the output of this process.
    let is_ours = |word: &OsString| ["--json", "--show-binding"].iter().any(|own| word == own);
    let arguments: Vec<_> = arguments.filter(|word| !is_ours(word)).collect();
    let columns = ways
        .iter()
        .map(|&way| Ok((way, measure_way(mode, &arguments, nodes, way)?)));
    columns.collect()
}

/// The variables that allow Open MPI to start programs as root.
const AS_ROOT: [&str; 2] = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"];

fn measure_way(
    mode: Mode,
    arguments: &[OsString],
    nodes: u16,
    way: Progress,
) -> Result<Vec<Times>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new("mpirun");
    command.args(["-n", &nodes.to_string()]).arg(program);
    command
        .args(arguments)
        .args(["--mode", mode.name(), "--json"]);
    command.args(["--progress", way.name()]).envs(MPIRUN);
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| {
        format!("mpirun cannot be started: {error}; on Debian: apt-get install openmpi-bin")
    })?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("mpirun: {}", reason(&errors)));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let column = column(&printed, way);
    column.ok_or_else(|| "the output of the nodes cannot be read".to_owned())
}

/// Extracts the reason of a failure from standard error: an error line of this program, or the
/// first paragraph.
fn reason(errors: &str) -> String {
    let lines = errors.lines().map(str::trim);
    if let Some(ours) = lines.clone().find(|line| line.starts_with("error:")) {
        return ours.to_owned();
    }
    let has_text = |line: &&str| line.chars().any(char::is_alphanumeric);
    let paragraph = lines
        .skip_while(|line| !has_text(line))
        .take_while(has_text);
    let mut reason = paragraph.collect::<Vec<_>>().join(" ");
    if reason.is_empty() {
        reason.push_str("it failed");
    }
    if errors.contains(AS_ROOT[0]) {
        let [one, other] = AS_ROOT;
        reason.push_str(&format!(" Set {one}=1 and {other}=1 to allow it."));
    }
    reason
}

/// Reads the times of one way to receive messages from standard output.
fn column(printed: &str, way: Progress) -> Option<Vec<Times>> {
    let report: Value = serde_json::from_str(printed.lines().next_back()?).ok()?;
    let times = |size: &Value| {
        let mut modes = size["modes"].as_array()?.iter();
        let found = modes.find(|mode| mode["progress"] == way.name())?;
        Times::of_json(&found["iteration_s"])
    };
    report["sizes"].as_array()?.iter().map(times).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_failure_is_our_error_or_the_first_paragraph() {
        let rule = "-----------------";
        let of_mpirun = format!("{rule}\nmpirun was unable to\nlaunch it.\n\nGood bye.\n{rule}\n");
        assert_eq!(reason(&of_mpirun), "mpirun was unable to launch it.");
        let as_root = format!(
            "{rule}\nNot for root.\n\nSet {} to 1.\n{rule}\n",
            AS_ROOT[0]
        );
        let expected = "Not for root. Set OMPI_ALLOW_RUN_AS_ROOT=1 and \
                        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 to allow it.";
        assert_eq!(reason(&as_root), expected);
        assert_eq!(
            reason(&format!("error: no space\n{of_mpirun}")),
            "error: no space"
        );
        assert_eq!(reason("\n"), "it failed");
    }

    #[test]
    fn output_without_times_gives_no_column() {
        for printed in ["", "{}", "{\"sizes\": 3}", "{\"sizes\": [{\"modes\": []}]}"] {
            assert!(column(printed, Progress::Pending).is_none(), "{printed}");
        }
        let printed = "noise\n{\"sizes\": [{\"modes\": [{\"progress\": \"pending\", \
            \"iteration_s\": {\"median\": 2e-6, \"min\": 1e-6, \"max\": 3e-6, \
            \"repeats\": 5}}]}]}\n";
        let found = column(printed, Progress::Pending).expect("times");
        assert_eq!(found[0].median, std::time::Duration::from_micros(2));
    }
}
