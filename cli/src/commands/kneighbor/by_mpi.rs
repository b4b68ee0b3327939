//! A mode by MPI beside others: `mpirun` starts this program again, as the nodes of that mode alone.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use raddle::chare::nodes::Progress;
use raddle::net::NetError;
use serde_json::Value;

use crate::arguments::Mode;
use crate::commands::launch::MPIRUN;
use crate::times::Times;

/// What an iteration took, for each size, where nodes receive in one way.
pub(super) type Column = (Progress, Vec<Times>);

/// Measures what these arguments of this program ask for, on so many nodes, by one way to receive after the other: a process can be a node by MPI once.
///
/// # Errors
/// Why there is nothing to show.
pub(super) fn measure(
    mode: Mode,
    arguments: impl Iterator<Item = OsString>,
    nodes: u16,
    ways: &[Progress],
) -> Result<Vec<Column>, String> {
    if cfg!(not(feature = "mpi")) {
        return Err(NetError::WithoutMpi.to_string());
    }
    // They are for what this process prints.
    let is_ours = |word: &OsString| ["--json", "--show-binding"].iter().any(|own| word == own);
    let arguments: Vec<_> = arguments.filter(|word| !is_ours(word)).collect();
    let columns = ways
        .iter()
        .map(|&way| Ok((way, measure_way(mode, &arguments, nodes, way)?)));
    columns.collect()
}

/// By what Open MPI is told that it may start programs for root.
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
        let told = String::from_utf8_lossy(&output.stderr);
        return Err(format!("mpirun: {}", reason(&told)));
    }
    let told = String::from_utf8_lossy(&output.stdout);
    let column = column(&told, way);
    column.ok_or_else(|| "what was printed by the nodes makes no sense".to_owned())
}

/// Of what was told on failing, what says why: an error of ours, or the first paragraph.
fn reason(told: &str) -> String {
    let lines = told.lines().map(str::trim);
    if let Some(ours) = lines.clone().find(|line| line.starts_with("error:")) {
        return ours.to_owned();
    }
    let says = |line: &&str| line.chars().any(char::is_alphanumeric);
    let paragraph = lines.skip_while(|line| !says(line)).take_while(says);
    let mut reason = paragraph.collect::<Vec<_>>().join(" ");
    if reason.is_empty() {
        reason.push_str("it failed");
    }
    if told.contains(AS_ROOT[0]) {
        let [one, other] = AS_ROOT;
        reason.push_str(&format!(" It does with {one}=1 and {other}=1."));
    }
    reason
}

/// Of what was printed, what concerns one way to receive.
fn column(told: &str, way: Progress) -> Option<Vec<Times>> {
    let told: Value = serde_json::from_str(told.lines().next_back()?).ok()?;
    let times = |size: &Value| {
        let mut modes = size["modes"].as_array()?.iter();
        let found = modes.find(|mode| mode["progress"] == way.name())?;
        Times::of_json(&found["iteration_s"])
    };
    told["sizes"].as_array()?.iter().map(times).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_by_what_says_why() {
        let rule = "-----------------";
        let of_mpirun = format!("{rule}\nmpirun was unable to\nlaunch it.\n\nGood bye.\n{rule}\n");
        assert_eq!(reason(&of_mpirun), "mpirun was unable to launch it.");
        let as_root = format!(
            "{rule}\nNot for root.\n\nSet {} to 1.\n{rule}\n",
            AS_ROOT[0]
        );
        let expected = "Not for root. It does with OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1.";
        assert_eq!(reason(&as_root), expected);
        assert_eq!(
            reason(&format!("error: no room\n{of_mpirun}")),
            "error: no room"
        );
        assert_eq!(reason("\n"), "it failed");
    }

    #[test]
    fn what_makes_no_sense_is_no_column() {
        for told in ["", "{}", "{\"sizes\": 3}", "{\"sizes\": [{\"modes\": []}]}"] {
            assert!(column(told, Progress::Pending).is_none(), "{told}");
        }
        let told = "noise\n{\"sizes\": [{\"modes\": [{\"progress\": \"pending\", \"iteration_s\": \
            {\"median\": 2e-6, \"min\": 1e-6, \"max\": 3e-6, \"repeats\": 5}}]}]}\n";
        let found = column(told, Progress::Pending).expect("it makes sense");
        assert_eq!(found[0].median, std::time::Duration::from_micros(2));
    }
}
