//! Checkpoints of arrays: written with one number of workers and nodes, read with another.

use std::fs;
use std::path::{Path, PathBuf};

use raddle_chare::nodes::Job;
use raddle_chare::{Array, Chares, CheckpointError, Cx, chare};
use raddle_net::TransportKind;
use raddle_runtime::Runtime;
use serde::{Deserialize, Serialize};

use crate::common::runtime;

/// A counter with a name.
#[derive(Serialize, Deserialize)]
struct Counter {
    name: String,
    count: u64,
}

#[chare(index = [usize; 2], nodes, state)]
impl Counter {
    #[message]
    fn news(text: String);

    #[entry]
    fn add(&mut self, by: u64) {
        self.count += by;
    }

    #[entry]
    fn say(&mut self) -> String {
        format!("{} {}", self.name, self.count)
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }

    #[entry]
    fn count(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(raddle_chare::reduce::Sum(self.count));
    }

    #[entry]
    async fn listen(&mut self, cx: &mut Cx<Self>) {
        self.name = cx.next(Self::news).await;
    }
}

/// A chare of another type.
#[derive(Serialize, Deserialize)]
struct Stranger;

#[chare(index = [usize; 2], nodes, state)]
impl Stranger {}

/// A chare without a serialisable state.
struct Stateless;

#[chare]
impl Stateless {}

const SHAPE: [usize; 2] = [5, 7];
const GONE: [usize; 2] = [3, 4];

fn counter([row, column]: [usize; 2]) -> Counter {
    Counter {
        name: format!("{row}/{column}"),
        count: (10 * row + column) as u64,
    }
}

/// A folder that is removed at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = format!("raddle-checkpoint-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        // An earlier test may have left files.
        let _ = fs::remove_dir_all(&folder);
        Self(folder)
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).expect("it is there");
        let paths = entries.map(|entry| entry.expect("it is there").path());
        let mut files: Vec<_> = paths.collect();
        files.sort();
        files
    }

    /// Returns the only file of elements.
    fn elements(&self) -> PathBuf {
        let mut files = self.files();
        files.retain(|file| file.extension().is_some_and(|name| name == "elements"));
        assert_eq!(files.len(), 1);
        files.remove(0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The next test also removes the folder when it starts.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn job(nodes: u16) -> Job {
    crate::job(nodes, TransportKind::Memory)
}

/// Returns the replies of all elements by place, and `None` for the removed element.
fn said(counters: Array<Counter>) -> Vec<Option<String>> {
    let places = (0..SHAPE[0]).flat_map(|row| (0..SHAPE[1]).map(move |column| [row, column]));
    let ask = |place| {
        counters
            .get(place)
            .filter(|_| place != GONE)
            .map(|one| one.say())
    };
    let replies: Vec<_> = places.map(ask).collect();
    let wait = |reply: Option<raddle_chare::Reply<String>>| reply.map(raddle_chare::Reply::wait);
    replies.into_iter().map(wait).collect()
}

/// Writes a checkpoint on `nodes` nodes, and returns the replies of the elements.
fn write(nodes: u16, folder: &Path) -> Vec<Option<String>> {
    let written = job(nodes).run_within(
        |setup| setup.array(SHAPE, counter),
        |runtime, counters| {
            counters.all().add(1000);
            counters.at(GONE).leave();
            runtime.quiescence().wait();
            let written = counters.checkpoint(folder).expect("it can be written");
            assert_eq!(written, 34);
            said(counters)
        },
    );
    written.expect("the nodes start")
}

#[test]
fn an_array_is_restored_on_any_number_of_nodes() {
    let folder = Folder::new("any");
    // The number of workers also differs: two workers per node have written the checkpoint.
    let workers = [1, 3, 2].into_iter().cycle();
    let mut kinds = TransportKind::WITHIN.iter().copied().cycle();
    for from in [1, 4, 3] {
        let before = write(from, &folder.0);
        for (to, workers) in [1, 3, 2, 4].into_iter().zip(workers.clone()) {
            let kind = kinds.next().expect("they begin again");
            let job = job(to)
                .transport(kind)
                .runtime(Runtime::builder().workers(workers));
            let after = job.run_within(
                |setup| setup.restore::<Counter>(&folder.0).expect("it can be read"),
                |_, counters| {
                    let after = said(counters);
                    counters.all().count();
                    let sum: u64 = counters.reduction().wait();
                    (after, sum)
                },
            );
            let (after, sum) = after.expect("the nodes start");
            assert_eq!(
                after, before,
                "from {from} to {to} of {workers} workers by {kind}"
            );
            let places = (0..5).flat_map(|row| (0..7).map(move |column| 1000 + 10 * row + column));
            assert_eq!(sum, places.sum::<u64>() - 1034);
        }
        // The files of the previous checkpoint are gone.
        assert_eq!(folder.files().len(), 1 + usize::from(from));
    }
}

#[test]
fn an_array_of_one_runtime_is_restored_in_another() {
    let folder = Folder::new("runtime");
    let before = write(2, &folder.0);
    let runtime = runtime(2);
    let counters = runtime
        .restore::<Counter>(&folder.0)
        .expect("it can be read");
    assert_eq!(said(counters), before);
    // The free place can be used again.
    counters.insert(GONE, |_| counter(GONE));
    counters.all().count();
    assert!(counters.reduction::<u64>().wait() > 0);
}

#[test]
fn a_refused_checkpoint_names_the_reason_and_keeps_the_previous_one() {
    let folder = Folder::new("refused");
    let before = write(1, &folder.0);
    let files = folder.files().len();
    let runtime = runtime(2);
    let counters = runtime.array(SHAPE, counter);
    counters.at([2, 2]).listen();
    let refused = counters.checkpoint(&folder.0).expect_err("it listens");
    assert!(
        refused
            .to_string()
            .contains("Counter[[2, 2]] cannot be written: an asynchronous entry"),
        "{refused}"
    );
    counters.at([2, 2]).news("two".to_owned());
    counters.at([4, 2]).news("four".to_owned());
    let refused = counters
        .checkpoint(&folder.0)
        .expect_err("it has not received all");
    assert!(
        refused
            .to_string()
            .contains("Counter[[4, 2]] cannot be written: it has not received `news`"),
        "{refused}"
    );
    counters.at([4, 2]).listen();
    counters.at([1, 1]).count();
    let refused = counters
        .checkpoint(&folder.0)
        .expect_err("a reduction is under way");
    assert!(refused.to_string().contains("reduction 1"), "{refused}");
    assert_eq!(folder.files().len(), files);
    let restored = runtime
        .restore::<Counter>(&folder.0)
        .expect("it is as it was");
    assert_eq!(said(restored), before);
    let none = runtime.array(3, |_| Stateless).checkpoint(&folder.0);
    assert!(matches!(none, Err(CheckpointError::NoState("Stateless"))));
    let file = folder.elements();
    let refused = counters.checkpoint(&file).expect_err("a file is no folder");
    assert!(
        matches!(
            refused,
            CheckpointError::Failed(_) | CheckpointError::Io { .. }
        ),
        "{refused}"
    );
}

// Regression: checkpoint files of killed programs stayed for ever.
#[test]
fn files_of_incomplete_checkpoints_are_removed() {
    let folder = Folder::new("killed");
    write(2, &folder.0);
    for name in ["18a0-77-0.elements", "18a0-77-1.elements"] {
        fs::write(folder.0.join(name), "half").expect("there is space");
    }
    let note = folder.0.join("of-chemical.elements");
    fs::write(&note, "of another program").expect("there is space");
    write(3, &folder.0);
    // One file of each node, the manifest and the note.
    assert_eq!(folder.files().len(), 3 + 2);
    assert!(note.exists());
}

// Regression: the files of elements stayed if the manifest could not be written, for example on a
// full disk.
#[test]
fn a_manifest_without_space_keeps_only_the_previous_checkpoint() {
    let folder = Folder::new("manifest");
    let before = write(3, &folder.0);
    let files = folder.files();
    let full = folder.0.join("manifest.json.partial");
    std::os::unix::fs::symlink("/dev/full", &full).expect("a link to the full device");
    let refused = job(2).run_within(
        |setup| setup.array(SHAPE, counter),
        |_, counters| {
            counters
                .checkpoint(&folder.0)
                .expect_err("there is no space")
        },
    );
    let refused = refused.expect("the nodes start").to_string();
    assert!(
        refused.contains("manifest.json.partial: cannot be written: No space left"),
        "{refused}"
    );
    assert_eq!(folder.files(), files);
    let counters = runtime(2).restore::<Counter>(&folder.0);
    assert!(counters.is_ok(), "{counters:?}");
    assert_eq!(write(1, &folder.0), before);
}

/// Environment variable that is set in the process with limited file sizes.
const SHORT_OF_SPACE: &str = "RADDLE_TEST_SHORT_OF_SPACE";

#[test]
fn elements_without_space_keep_only_the_previous_checkpoint() {
    if let Some(folder) = std::env::var_os(SHORT_OF_SPACE) {
        return write_without_space(Path::new(&folder));
    }
    let folder = Folder::new("space");
    write(2, &folder.0);
    let files = folder.files();
    let test = std::env::current_exe().expect("it has a path");
    // The limit is 16 MB per file, which is enough for the memory that nodes share. The script
    // ignores the signal, so that the system returns an error for a longer file.
    let script = "trap '' XFSZ; ulimit -f 32768; exec \"$0\" --exact \
                  checkpoints::elements_without_space_keep_only_the_previous_checkpoint >&2";
    let output = std::process::Command::new("sh")
        .args(["-c", script])
        .arg(test)
        .env(SHORT_OF_SPACE, &folder.0)
        .output()
        .expect("there is a shell");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    // A wrong name in the script would select no test.
    assert!(said.contains("1 passed"), "{said}");
    assert_eq!(folder.files(), files);
    let counters = runtime(2).restore::<Counter>(&folder.0);
    assert!(counters.is_ok(), "{counters:?}");
}

/// Exceeds the file size limit on two nodes: the first node fails itself, and receives the failure
/// of the second node.
fn write_without_space(folder: &Path) {
    // Fewer workers make the shared memory of the nodes small enough.
    let builder = Runtime::builder().workers(1);
    let refused = job(2).runtime(builder).run_within(
        |setup| {
            setup.array(SHAPE, |place| Counter {
                name: "x".repeat(1_500_000),
                ..counter(place)
            })
        },
        |_, counters| counters.checkpoint(folder).expect_err("there is no space"),
    );
    let refused = refused.expect("the nodes start").to_string();
    assert!(
        refused.contains(".elements: cannot be written: File too large"),
        "{refused}"
    );
}

#[test]
fn invalid_checkpoints_are_refused() {
    let folder = Folder::new("broken");
    write(1, &folder.0);
    let runtime = runtime(2);
    let refused = |why: &str| {
        let refused = runtime
            .restore::<Counter>(&folder.0)
            .expect_err("it is broken");
        assert!(refused.to_string().contains(why), "{refused}");
    };
    let error = runtime
        .restore::<Stranger>(&folder.0)
        .expect_err("it is of another");
    assert!(
        error
            .to_string()
            .contains("elements of Counter; expected Stranger"),
        "{error}"
    );
    let error = runtime
        .restore::<Counter>(folder.0.join("nowhere"))
        .expect_err("it is nowhere");
    assert!(
        error
            .to_string()
            .contains("nowhere/manifest.json: cannot be read"),
        "{error}"
    );

    let elements = folder.elements();
    let bytes = fs::read(&elements).expect("it is there");
    // A change in any byte is detected: in a value, a length or a position.
    for at in [0, 8, 17, bytes.len() / 2, bytes.len() - 1] {
        let mut wrong = bytes.clone();
        wrong[at] ^= 0x40;
        fs::write(&elements, wrong).expect("it can be written");
        refused("expected");
    }
    fs::write(&elements, &bytes[..bytes.len() - 1]).expect("it can be written");
    refused("bytes; expected");
    fs::remove_file(&elements).expect("it is there");
    refused("cannot be read");
    fs::write(&elements, &bytes).expect("it can be written");

    let manifest = folder.0.join("manifest.json");
    let text = fs::read_to_string(&manifest).expect("it is there");
    for (from, to, why) in [
        (
            "\"version\": 1",
            "\"version\": 9",
            "version 9; expected version 1",
        ),
        ("5,", "4,", "outside of the array"),
        ("5,", "5, 5,", "lengths"),
        ("\"name\": \"", "\"name\": \"../", "names of files"),
        ("{", "", "the manifest of a checkpoint"),
    ] {
        assert!(text.contains(from), "{text}");
        fs::write(&manifest, text.replacen(from, to, 1)).expect("it can be written");
        refused(why);
    }
    fs::write(&manifest, text).expect("it can be written");
    runtime
        .restore::<Counter>(&folder.0)
        .expect("it is whole again");
}
