//! Checks for the reader of grain files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Once;
use std::time::Duration;

use raddle_collections::GrainTuner;

/// Two names that occur in the seeds: the first one learns, the lines of the second must not
/// change.
const NAMES: [&str; 2] = ["tree", "sum"];
/// The number of runs of weight 1 after which a search among a single task count has ended.
const RUNS: usize = 20;
/// The number of runs after which a tuner checks its result again.
const WINDOW: usize = 25;

/// Reads `bytes` as a grain file and checks the result. If the file can be read, a tuner learns
/// with it and writes it again.
///
/// # Panics
/// If an error takes more than one line or does not name the file and a line in it, if a refused
/// file is changed, or if a tuner's results differ after they are written and read again.
pub fn read_grains(bytes: &[u8]) {
    let scratch = Scratch::new();
    let path = &*scratch.0;
    fs::write(path, bytes).expect("a temporary file can be written");
    match tuners(path) {
        Ok(before) => learn(before, path),
        Err(message) => {
            let beginning = format!("{}: line ", path.display());
            assert!(message.starts_with(&beginning), "{message}");
            assert!(message.contains("; expected "), "{message}");
            assert!(!message.contains(char::is_control), "{message:?}");
            assert_eq!(fs::read(path).expect("it is there"), bytes);
        }
    }
}

/// A temporary file of this process, removed on drop. It is kept in memory if the system offers
/// that, because tuners wait until their data is on the disk.
struct Scratch(PathBuf);

/// The prefix of the names of scratch files; the process id follows.
const SCRATCH: &str = "raddle-fuzz-grains-";

impl Scratch {
    fn new() -> Self {
        static CLEARED: Once = Once::new();
        let memory = Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => memory.to_owned(),
            false => std::env::temp_dir(),
        };
        // A failed check ends the process and leaves its file behind, so remove such files here.
        CLEARED.call_once(|| remove_left(&folder));
        Self(folder.join(format!("{SCRATCH}{}", process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The file may never have been created, so an error here is harmless.
        let _ = fs::remove_file(&self.0);
    }
}

/// Removes the files of processes that have ended.
fn remove_left(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(SCRATCH));
        let process = process.and_then(|process| process.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn tuners(path: &Path) -> Result<[GrainTuner; 2], String> {
    let tuner = |name| {
        GrainTuner::new(name)
            .keep_in(path)
            .map_err(|error| error.to_string())
    };
    let [learner, other] = NAMES.map(tuner);
    Ok([learner?, other?])
}

/// Returns the tuner's result for each power of two that a weight can have.
fn found(tuner: &GrainTuner) -> Vec<Option<usize>> {
    let weights = (0..usize::BITS).map(|log2| 1 << log2);
    weights.map(|weight| tuner.found(weight)).collect()
}

/// Lets `learner` learn and save, then checks that the file holds its results and that the lines of
/// `other` are unchanged.
fn learn([learner, other]: [GrainTuner; 2], path: &Path) {
    let known = found(&learner);
    let greatest = known.iter().rposition(Option::is_some).unwrap_or(0);
    for (weight, runs) in [(1, RUNS), (1 << greatest, WINDOW)] {
        for _ in 0..runs {
            learner.begin(weight).finish_after(Duration::from_micros(1));
        }
    }
    learner.save().expect("what was read can be written");
    let [again, other_again] = tuners(path).expect("what was written can be read");
    assert!(learner.found(1).is_some() || known[0].is_some());
    for (now, then) in found(&learner).into_iter().zip(found(&again)) {
        // A reopened tuner keeps the line it read until it finds a different result.
        assert!(now.is_none() || now == then, "{now:?} became {then:?}");
    }
    assert_eq!(found(&other), found(&other_again));
}
