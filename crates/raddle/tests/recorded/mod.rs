//! Programs that are recorded: other ones, or a test that starts itself again, for one test alone.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use raddle::Runtime;
use raddle_timeline::{Timeline, read};

/// The variable by which a test knows that it is the recorded program.
const RECORDED: &str = "RADDLE_TEST_RECORDED";

/// Returns true in the recorded program.
pub(crate) fn is_recorded() -> bool {
    std::env::var_os(RECORDED).is_some()
}

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

/// Runs this program for `test` alone, recorded with these variables. Returns how it has ended, and
/// the recording, unless there is none.
pub(crate) fn record(test: &str, variables: &[(&str, &str)]) -> (ExitStatus, Option<Timeline>) {
    let mut command = Command::new(std::env::current_exe().expect("this program is a file"));
    command
        .args(["--exact", test, "--nocapture"])
        .env(RECORDED, "1");
    record_command(command, test, variables)
}

/// Runs a program with a recording and these variables. Returns how it has ended, and the
/// recording, unless there is none. `name` is a name that no other call of this program has at the
/// same time.
pub(crate) fn record_command(
    mut command: Command,
    name: &str,
    variables: &[(&str, &str)],
) -> (ExitStatus, Option<Timeline>) {
    let name = format!("raddle-trace-{}-{name}", std::process::id());
    let folder = Folder(std::env::temp_dir().join(name));
    fs::create_dir_all(&folder.0).expect("a temporary folder");
    let file = folder.0.join("t.pftrace");
    command
        .env("RADDLE_TRACE", &file)
        .envs(variables.iter().copied());
    let output = command.output().expect("the program starts");
    let timeline = File::open(&file).ok();
    let timeline = timeline.map(|file| read(file).expect("a timeline"));
    assert_eq!(others(&folder.0, &file), [""; 0]);
    (output.status, timeline)
}

/// Returns the names of the files in a folder, except for one.
fn others(folder: &Path, file: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).expect("the folder is there");
    let paths = files.map(|entry| entry.expect("an entry").path());
    let others = paths.filter(|path| path != file);
    others.map(|path| path.display().to_string()).collect()
}

/// Returns a runtime with this many workers.
pub(crate) fn runtime(workers: usize) -> Runtime {
    Runtime::builder()
        .workers(workers)
        .build()
        .expect("a runtime")
}
