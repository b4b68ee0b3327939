//! What the target asserts of whatever reads a file of grains.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Once;
use std::time::Duration;

use raddle_collections::GrainTuner;

/// Two names for which the seeds have lines: one that learns, and one whose lines are to stay.
const NAMES: [&str; 2] = ["tree", "sum"];
/// Runs of a weight of 1, after which a search among one number of tasks has ended.
const RUNS: usize = 20;
/// Runs after which what was found is looked at again.
const WINDOW: usize = 25;

/// Reads `bytes` as a file of grains, and judges what comes of it. Where it can be read, a tuner learns with it and writes it again.
///
/// # Panics
/// When an error takes more than a line or does not name the file and a line in it, when a file that was refused is changed, or when what a
/// tuner has found is not what is read after it was written.
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

/// A file of this process, in memory where the system has a place for that: tuners wait until what they write is on the disk.
/// It is removed when this is dropped.
struct Scratch(PathBuf);

/// What the names of such files begin with; the number of the process follows.
const SCRATCH: &str = "raddle-fuzz-grains-";

impl Scratch {
    fn new() -> Self {
        static CLEARED: Once = Once::new();
        let memory = Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => memory.to_owned(),
            false => std::env::temp_dir(),
        };
        // What was found to be wrong ends the process, and leaves its file.
        CLEARED.call_once(|| remove_left(&folder));
        Self(folder.join(format!("{SCRATCH}{}", process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // One that is not there need not be removed.
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

/// What is known for each power of two that weights can have.
fn found(tuner: &GrainTuner) -> Vec<Option<usize>> {
    let weights = (0..usize::BITS).map(|log2| 1 << log2);
    weights.map(|weight| tuner.found(weight)).collect()
}

/// Learns something new for one name.
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
        // What has been opened again keeps its line until something else is found.
        assert!(now.is_none() || now == then, "{now:?} became {then:?}");
    }
    assert_eq!(found(&other), found(&other_again));
}
