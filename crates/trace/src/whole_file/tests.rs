//! Tests that files appear completely or not at all, and that an existing file keeps its metadata.

use std::os::unix::fs::{chown, symlink};
use std::process::{Command, Stdio};

use super::*;

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("raddle-whole-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("readable");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<_> = entries
            .map(|entry| name(entry).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).expect("readable")
}

/// Returns the id of a process that has ended.
fn ended_process() -> u32 {
    let mut child = Command::new("true")
        .stdin(Stdio::null())
        .spawn()
        .expect("`true` starts");
    child.wait().expect("`true` ends");
    child.id()
}

#[test]
fn a_file_has_its_content_and_leaves_nothing_beside_it() {
    let folder = Folder::new("plain");
    let path = folder.path("a.txt");
    write(&path, b"one").expect("written");
    write(&path, b"two").expect("replaced");
    assert_eq!(text_of(&path), "two");
    let given_up = WholeFile::create(&path).expect("begun");
    assert_eq!(folder.names().len(), 2);
    drop(given_up);
    assert_eq!(text_of(&path), "two");
    check(&path).expect("the file can be written");
    check(&folder.path("b.txt")).expect("the file could be written");
    assert_eq!(folder.names(), ["a.txt"]);
}

// Regression: the file got the permissions of a new file, so all users could read what only its
// owner could read before.
#[test]
fn a_replaced_file_keeps_its_permissions() {
    let folder = Folder::new("mode");
    let path = folder.path("a.txt");
    write(&path, b"one").expect("written");
    for mode in [0o600, 0o640, 0o755] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("own file");
        write(&path, b"two").expect("replaced");
        let found = fs::metadata(&path).expect("the file exists").mode();
        assert_eq!(found & PERMISSIONS, mode, "{found:o}");
    }
}

// Regression: the file got the user that wrote last as its owner. (Only the superuser can give a
// file away. For other users, the owner does not change in this test.)
#[test]
fn a_replaced_file_keeps_its_owner() {
    let folder = Folder::new("owner");
    let path = folder.path("a.txt");
    write(&path, b"one").expect("written");
    let given = chown(&path, Some(61_234), Some(61_235)).is_ok();
    let owner = || {
        let found = fs::metadata(&path).expect("the file exists");
        (found.uid(), found.gid())
    };
    let before = owner();
    assert_eq!(given, before == (61_234, 61_235));
    write(&path, b"two").expect("replaced");
    assert_eq!(owner(), before);
    assert_eq!(text_of(&path), "two");
}

#[test]
fn content_is_copied_into_a_file_if_its_owner_cannot_be_kept() {
    let folder = Folder::new("copied");
    let path = folder.path("a.txt");
    write(&path, b"the first of them").expect("written");
    let before = fs::metadata(&path).expect("the file exists").ino();
    let mut file = WholeFile::create(&path).expect("begun");
    // The state after the system has refused to give the part file to the owner.
    file.part.as_mut().expect("a regular file").is_copied = true;
    file.write_all(b"the second").expect("written");
    file.finish().expect("copied");
    assert_eq!(text_of(&path), "the second");
    assert_eq!(fs::metadata(&path).expect("the file exists").ino(), before);
    assert_eq!(folder.names(), ["a.txt"]);
}

// Regression: a link to a missing file was replaced by a file.
#[test]
fn a_link_stays_a_link_even_if_its_target_does_not_exist() {
    let folder = Folder::new("link");
    let (link, other) = (folder.path("link"), folder.path("other"));
    symlink("other", &link).expect("a link");
    symlink(&other, folder.path("target")).expect("a link");
    for text in ["one", "two"] {
        write(&link, text.as_bytes()).expect("written");
        assert_eq!(fs::read_link(&link).expect("a link"), Path::new("other"));
        // `target` is a link to `other`, which did not exist at first.
        assert_eq!(text_of(&other), text);
    }
    let target = folder.path("target");
    write(&target, b"three").expect("written");
    assert_eq!(fs::read_link(&target).expect("a link"), other);
    assert_eq!(text_of(&other), "three");
    symlink("b", folder.path("a")).expect("a link");
    symlink("a", folder.path("b")).expect("a link");
    assert!(write(&folder.path("a"), b"").is_err(), "a ring of links");
}

#[test]
fn a_target_that_is_not_a_regular_file_is_written_directly() {
    let folder = Folder::new("special");
    write(Path::new("/dev/null"), b"gone").expect("written");
    let error = write(&folder.0, b"").expect_err("a directory");
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    let nowhere = write(&folder.path("no/where"), b"").expect_err("no folder");
    assert_eq!(nowhere.kind(), io::ErrorKind::NotFound);
    // A file without a name, which only a link in `/proc` leads to.
    let path = folder.path("a.txt");
    let file = File::options()
        .create(true)
        .truncate(true)
        .read(true)
        .write(true)
        .open(&path)
        .expect("a file");
    fs::remove_file(&path).expect("the file exists");
    let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
    write(Path::new(&link), b"held").expect("written");
    assert_eq!(file.metadata().expect("the file is open").len(), 4);
    assert!(folder.names().is_empty());
}

// Regression: the part file of a killed process was never removed.
#[test]
fn part_files_of_dead_processes_are_removed_and_no_others() {
    let folder = Folder::new("left");
    let path = folder.path("a.txt");
    let dead = ended_process();
    let own = std::process::id();
    let left = [
        format!(".a.txt.{dead}.part"),
        format!(".a.txt.{dead}.3.part"),
        format!(".a.txt.{own}.part"),
    ];
    let kept = [
        // For another target; of a live process; not names of part files.
        format!(".b.txt.{dead}.part"),
        ".a.txt.1.part".to_owned(),
        ".a.txt.part".to_owned(),
        ".a.txt.x.part".to_owned(),
    ];
    for name in left.iter().chain(&kept) {
        fs::write(folder.path(name), "half").expect("written");
    }
    let begun = WholeFile::create(&path).expect("begun");
    // A part file that is being written is kept, whether by this process or by one with an id that
    // is not known here.
    let mut locked = WholeFile::create(&path).expect("begun again");
    locked.write_all(b"second").expect("written");
    drop(begun);
    locked.finish().expect("finished");
    let mut expected = kept.to_vec();
    expected.push("a.txt".to_owned());
    expected.sort();
    assert_eq!(folder.names(), expected);
    assert_eq!(text_of(&path), "second");
}
