//! Tuners with synthetic times: which runs count, which results are separate, and what a file
//! contains.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::*;

/// Finishes runs until a number of tasks is found, and returns that number.
///
/// Their times form a valley with its bottom at `best` tasks.
fn teach(tuner: &GrainTuner, worker_count: usize, total_weight: usize, best: f64) -> usize {
    for _ in 0..500 {
        let run = tuner.begin_on(worker_count, total_weight);
        let octaves_off = (run.task_count() as f64 / best).log2();
        let ns = total_weight as f64 * (1.0 + 0.2 * octaves_off.powi(2));
        run.finish_after(Duration::from_secs_f64(ns * 1e-9));
        if let Some(task_count) = tuner.found_on(worker_count, total_weight) {
            return task_count;
        }
    }
    panic!("nothing is found: {tuner:?}");
}

/// A folder for one test, which is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let name = format!("raddle-grain-{}-{test}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder for temporary files");
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("grains.txt")
    }

    fn names(&self) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| {
            let name = entry.expect("an entry").file_name();
            name.to_string_lossy().into_owned()
        };
        fs::read_dir(&self.0)
            .expect("the folder")
            .map(name)
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A file that remains in the system's folder for temporary files does no harm.
        let _gone = fs::remove_dir_all(&self.0);
    }
}

fn tuner(path: &Path, name: &str) -> GrainTuner {
    GrainTuner::new(name)
        .keep_in(path)
        .expect("a good file, or none")
}

#[test]
fn tuners_and_runs_may_be_shared() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<GrainTuner>();
    is_shared::<GrainRun<'_>>();
}

#[test]
fn each_number_of_workers_and_each_weight_has_its_own_grain() {
    let tuner = GrainTuner::new("work");
    assert_eq!(teach(&tuner, 4, 1 << 20, 64.0), 64);
    assert_eq!(teach(&tuner, 16, 1 << 20, 512.0), 512);
    assert_eq!(teach(&tuner, 4, 1 << 12, 16.0), 16);
    assert_eq!(tuner.found_on(4, (1 << 20) - 1), None);
    assert_eq!(tuner.found_on(4, (2 << 20) - 1), Some(64));
    assert_eq!(tuner.found_on(16, 1 << 20), Some(512));
    assert_eq!(tuner.found_on(8, 1 << 20), None);
}

#[test]
fn a_search_begins_at_the_result_for_the_most_similar_weight() {
    let tuner = GrainTuner::new("work");
    teach(&tuner, 4, 1 << 20, 256.0);
    teach(&tuner, 4, 1 << 10, 4.0);
    assert_eq!(tuner.begin_on(4, 1 << 21).task_count(), 256);
    assert_eq!(tuner.begin_on(4, 1 << 11).task_count(), 4);
    assert_eq!(tuner.begin_on(2, 1 << 20).task_count(), 16);
}

#[test]
fn a_run_is_divided_into_the_number_of_tasks_that_it_tries() {
    let tuner = GrainTuner::new("work");
    let run = tuner.begin_on(4, 1 << 20);
    assert_eq!(run.task_count(), 32);
    assert_eq!(run.grain(), Grain::tasks(1 << 20, 32));
    assert!(run.splits((1 << 15) + 1) && !run.splits(1 << 15));
}

#[test]
fn only_runs_that_finish_count() {
    let tuner = GrainTuner::new("work");
    for _ in 0..10 {
        drop(tuner.begin(1));
        let work = |_| std::panic::resume_unwind(Box::new("on purpose"));
        let panic = catch_unwind(AssertUnwindSafe(|| tuner.run(1, work)));
        assert!(panic.is_err());
        tuner.begin(1).finish_after(Duration::ZERO);
        tuner.begin(0).finish_after(Duration::from_secs(1));
    }
    let key = Key::new(raddle_runtime::worker_count(), 1);
    let untaught = key.search(None);
    let search = tuner.with_state(|state| state.search(key).clone());
    assert_eq!(format!("{search:?}"), format!("{untaught:?}"));

    // Work of weight 1 is always one task.
    for _ in 0..100 {
        let splits = tuner.run(1, |grain| std::hint::black_box(grain).splits(1));
        assert!(!splits);
        tuner.begin(1).finish();
    }
    // The clock may show no time for such a short run, so these runs get a fixed time.
    (0..200).for_each(|_| tuner.begin(1).finish_after(Duration::from_nanos(5)));
    assert_eq!(tuner.found(1), Some(1));
    assert!(!tuner.begin(0).splits(0));
}

#[test]
fn the_next_process_knows_the_results_of_the_last() {
    let folder = Folder::new("next");
    let first = tuner(&folder.file(), "kd-tree");
    assert_eq!(first.found_on(4, 1 << 20), None);
    first.save().expect("there is nothing to write");
    assert!(folder.names().is_empty());
    let found = teach(&first, 4, 1 << 20, 64.0);
    // The file was written without a call of `save`, and no temporary file remains.
    assert_eq!(folder.names(), ["grains.txt"]);
    first.save().expect("there is nothing to write");

    let second = tuner(&folder.file(), "kd-tree");
    assert_eq!(second.found_on(4, 1 << 20), Some(found));
    assert_eq!(second.begin_on(4, 1 << 20).task_count(), found);
    assert_eq!(tuner(&folder.file(), "sort").found_on(4, 1 << 20), None);
}

#[test]
fn a_file_keeps_the_results_of_other_tuners() {
    let folder = Folder::new("others");
    let (tree, sort) = (
        tuner(&folder.file(), "kd-tree"),
        tuner(&folder.file(), "sort"),
    );
    teach(&sort, 4, 1 << 20, 16.0);
    teach(&tree, 4, 1 << 20, 64.0);
    teach(&sort, 8, 1 << 20, 32.0);
    let text = fs::read_to_string(folder.file()).expect("the file");
    let starts: Vec<&str> = text
        .lines()
        .map(|line| line.split(" ns_per").next().unwrap_or_default())
        .collect();
    assert_eq!(
        starts,
        [
            "raddle-grains 1",
            "kd-tree workers=4 weight=2^20 tasks=64",
            "sort workers=4 weight=2^20 tasks=16",
            "sort workers=8 weight=2^20 tasks=32",
        ]
    );
}

#[test]
fn a_file_of_another_kind_is_refused_and_not_changed() {
    let folder = Folder::new("foreign");
    fs::write(folder.file(), "{\"grain\": 4}\n").expect("a file");
    let error = GrainTuner::new("kd-tree")
        .keep_in(folder.file())
        .expect_err("it is not a file of grains");
    let expected = format!(
        "{}: line 1: found \"{{\\\"grain\\\": 4}}\"; expected \"raddle-grains 1\", \
         the first line of a file of grains",
        folder.file().display()
    );
    assert_eq!(error.to_string(), expected);

    // The file may also be replaced while the tuner is in use.
    fs::remove_file(folder.file()).expect("the file");
    let tuner = tuner(&folder.file(), "kd-tree");
    fs::write(folder.file(), "my diary\n").expect("a file");
    teach(&tuner, 4, 1 << 20, 64.0);
    assert!(matches!(
        tuner.save(),
        Err(GrainFileError::Malformed { line: 1, .. })
    ));
    assert_eq!(
        fs::read_to_string(folder.file()).expect("the file"),
        "my diary\n"
    );
    // The results are not lost.
    fs::remove_file(folder.file()).expect("the file");
    tuner.save().expect("a file that can be written");
    assert!(folder.file().exists());
}

#[test]
fn saving_to_a_path_that_cannot_be_written_is_an_error() {
    let folder = Folder::new("nowhere");
    let path = folder.0.join("no such folder").join("grains.txt");
    let tuner = tuner(&path, "kd-tree");
    teach(&tuner, 4, 1 << 20, 64.0);
    let error = tuner.save().expect_err("no such folder");
    assert!(matches!(error, GrainFileError::Write { .. }));
    assert!(
        error
            .to_string()
            .starts_with(&format!("{}: ", path.display()))
    );
    assert!(tuner.save().is_err());
    let error = GrainTuner::new("kd-tree")
        .keep_in(&folder.0)
        .expect_err("a folder is not a file");
    assert!(matches!(error, GrainFileError::Read { .. }));
}

#[test]
#[should_panic(expected = "\"kd tree\" is not a name of work")]
fn a_name_that_does_not_fit_into_a_file_is_refused() {
    let _ = GrainTuner::new("kd tree");
}
