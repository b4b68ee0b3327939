//! Regressions: targets that could not be written, although the user may write them.
//!
//! - npm/write-file-atomic issue 63: the part file had a longer name than the target, so a target
//!   with a name near the limit of the file system could not be written.
//! - stacklok/toolhive issue 3979: a container mounts a single file, and such a file cannot be
//!   replaced (`EBUSY`). Raddle reported this only after all work was done. If the folder accepted
//!   no new file, the target was refused, too.
//! - AMRC-FactoryPlus/amrc-connectivity-stack pull request 530: opening and closing a pipe ends it
//!   for its reader. Raddle did so to check whether the pipe could be written, and then waited for
//!   another reader for ever.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use raddle_trace::whole_file::{self, WholeFile};

/// The variable by which a run of this program in its own file system receives its folder.
const FOLDER: &str = "REGRESS_WHOLE_FILE_FOLDER";

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("raddle-regress-whole-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).expect("readable").count()
}

#[test]
fn a_name_may_have_the_maximum_length_of_the_file_system() {
    let folder = Folder::new("long");
    for name in ["a".repeat(255), "ä".repeat(127)] {
        let path = folder.0.join(name);
        whole_file::check(&path).expect("the file can be written");
        for text in ["one", "two"] {
            let first = WholeFile::create(&path).expect("begun");
            whole_file::write(&path, text.as_bytes()).expect("written meanwhile");
            drop(first);
            assert_eq!(fs::read_to_string(&path).expect("readable"), text);
        }
    }
    assert_eq!(entries(&folder.0), 2);
}

#[test]
fn checking_a_pipe_does_not_end_it() {
    let folder = Folder::new("pipe");
    let path = folder.0.join("pipe");
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("`mkfifo` starts").success());
    let (sender, received) = mpsc::channel();
    let pipe = path.clone();
    thread::spawn(move || sender.send(fs::read_to_string(pipe)));
    whole_file::check(&path).expect("the pipe can be written");
    let early = received.recv_timeout(Duration::from_millis(100));
    assert!(early.is_err(), "{early:?}");
    whole_file::write(&path, b"all of it").expect("written");
    let text = received.recv().expect("the reader ends");
    assert_eq!(text.expect("readable"), "all of it");
}

/// Mounts a folder and a file in it, as a container does, and runs a program.
const IN_CONTAINER: &str = r#"
    mount --bind "$1" "$1" && mount --bind "$1/file" "$1/file" &&
    mount -o "remount,bind,$2" "$1" && shift 2 && exec "$@"
"#;

#[test]
fn a_mounted_file_is_written() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return replace_text(Path::new(&folder));
    }
    let folder = Folder::new("mounted");
    fs::write(folder.0.join("file"), "a text that is longer").expect("written");
    let run = |mode: &str, program: &[&OsStr]| {
        Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c"])
            .args([IN_CONTAINER, "sh"])
            .arg(&folder.0)
            .arg(mode)
            .args(program)
            .env(FOLDER, &folder.0)
            .output()
    };
    let can_mount = run("rw", &["true".as_ref()]).is_ok_and(|output| output.status.success());
    if !can_mount {
        // This system does not allow mounts, so there is nothing to test.
        return;
    }
    let this = std::env::current_exe().expect("a test program has a path");
    let name = OsStr::new("a_mounted_file_is_written");
    for mode in ["rw", "ro"] {
        let program = [this.as_os_str(), "--exact".as_ref(), name];
        let output = run(mode, &program).expect("`unshare` starts");
        assert!(output.status.success(), "{mode}: {output:?}");
    }
}

/// Writes the file of a folder in which the file is mounted.
fn replace_text(folder: &Path) {
    let file = folder.join("file");
    let before = fs::metadata(&file).expect("the file exists");
    whole_file::check(&file).expect("the file can be written");
    let given_up = WholeFile::create(&file).expect("begun");
    drop(given_up);
    for text in ["one", "two"] {
        whole_file::write(&file, text.as_bytes()).expect("written");
        assert_eq!(fs::read_to_string(&file).expect("readable"), text);
    }
    let after = fs::metadata(&file).expect("the file exists");
    let metadata_of = |there: &fs::Metadata| (there.ino(), there.mode(), there.uid());
    assert_eq!(metadata_of(&after), metadata_of(&before));
    assert_eq!(entries(folder), 1);
}
