//! What the target asserts of whatever reads a file of grains.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use raddle_chare::GrainTuner;

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
    let path = scratch();
    fs::write(&path, bytes).expect("a temporary file can be written");
    match tuners(&path) {
        Ok(before) => learn(before, &path),
        Err(message) => {
            let beginning = format!("{}: line ", path.display());
            assert!(message.starts_with(&beginning), "{message}");
            assert!(message.contains("; expected "), "{message}");
            assert!(!message.contains(char::is_control), "{message:?}");
            assert_eq!(fs::read(&path).expect("it is there"), bytes);
        }
    }
}

/// A file of this process, in memory where the system has a place for that: tuners wait until what they write is on the disk.
fn scratch() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let folder = match memory.is_dir() {
        true => memory.to_owned(),
        false => std::env::temp_dir(),
    };
    folder.join(format!("raddle-fuzz-grains-{}", process::id()))
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
