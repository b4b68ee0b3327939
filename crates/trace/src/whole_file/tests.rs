//! Files appear whole or not at all, and what was there before keeps what was said of it.

use std::os::unix::fs::{chown, symlink};
use std::process::{Command, Stdio};

use super::*;

/// A folder that is gone when the test ends.
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

/// The number of a process that has ended.
fn ended_process() -> u32 {
    let mut child = Command::new("true")
        .stdin(Stdio::null())
        .spawn()
        .expect("it starts");
    child.wait().expect("it ends");
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
    check(&path).expect("it can be written");
    check(&folder.path("b.txt")).expect("it could be written");
    assert_eq!(folder.names(), ["a.txt"]);
}

/// The permissions were those of a new file: what only its owner could read, all could.
#[test]
fn a_file_that_is_replaced_keeps_its_permissions() {
    let folder = Folder::new("mode");
    let path = folder.path("a.txt");
    write(&path, b"one").expect("written");
    for mode in [0o600, 0o640, 0o755] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("it is ours");
        write(&path, b"two").expect("replaced");
        let found = fs::metadata(&path).expect("it is there").mode();
        assert_eq!(found & PERMISSIONS, mode, "{found:o}");
    }
}

/// The owner was the user that wrote last. (Only the superuser can give a file away; others find
/// their own here.)
#[test]
fn a_file_that_is_replaced_keeps_its_owner() {
    let folder = Folder::new("owner");
    let path = folder.path("a.txt");
    write(&path, b"one").expect("written");
    let given = chown(&path, Some(61_234), Some(61_235)).is_ok();
    let owner = || {
        let found = fs::metadata(&path).expect("it is there");
        (found.uid(), found.gid())
    };
    let before = owner();
    assert_eq!(given, before == (61_234, 61_235));
    write(&path, b"two").expect("replaced");
    assert_eq!(owner(), before);
    assert_eq!(text_of(&path), "two");
}

#[test]
fn a_file_whose_owner_cannot_be_kept_gets_the_content() {
    let folder = Folder::new("copied");
    let path = folder.path("a.txt");
    write(&path, b"the first of them").expect("written");
    let before = fs::metadata(&path).expect("it is there").ino();
    let mut file = WholeFile::create(&path).expect("begun");
    // As where the system has refused to give the file beside it to the owner.
    file.part.as_mut().expect("a regular file").is_copied = true;
    file.write_all(b"the second").expect("written");
    file.finish().expect("copied");
    assert_eq!(text_of(&path), "the second");
    assert_eq!(fs::metadata(&path).expect("it is there").ino(), before);
    assert_eq!(folder.names(), ["a.txt"]);
}

/// A link to nothing was replaced by a file.
#[test]
fn a_link_stays_a_link_be_what_it_leads_to_there_or_not() {
    let folder = Folder::new("link");
    let (link, other) = (folder.path("link"), folder.path("other"));
    symlink("other", &link).expect("a link");
    symlink(&other, folder.path("target")).expect("a link");
    for text in ["one", "two"] {
        write(&link, text.as_bytes()).expect("written");
        assert_eq!(fs::read_link(&link).expect("a link"), Path::new("other"));
        // Itself a link, which led to nothing at first.
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
fn what_is_no_regular_file_is_written_directly() {
    let folder = Folder::new("special");
    write(Path::new("/dev/null"), b"gone").expect("written");
    let error = write(&folder.0, b"").expect_err("a directory");
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    let nowhere = write(&folder.path("no/where"), b"").expect_err("no folder");
    assert_eq!(nowhere.kind(), io::ErrorKind::NotFound);
    // A file without a name, which a link in `/proc` leads to.
    let path = folder.path("a.txt");
    let file = File::options()
        .create(true)
        .truncate(true)
        .read(true)
        .write(true)
        .open(&path)
        .expect("a file");
    fs::remove_file(&path).expect("it is there");
    let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
    write(Path::new(&link), b"held").expect("written");
    assert_eq!(file.metadata().expect("it is open").len(), 4);
    assert!(folder.names().is_empty());
}

/// What a process that was killed had begun stayed.
#[test]
fn what_dead_processes_have_left_is_removed_and_nothing_else() {
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
        // Of another target, of a process that lives, and no names of ours.
        format!(".b.txt.{dead}.part"),
        ".a.txt.1.part".to_owned(),
        ".a.txt.part".to_owned(),
        ".a.txt.x.part".to_owned(),
    ];
    for name in left.iter().chain(&kept) {
        fs::write(folder.path(name), "half").expect("written");
    }
    let begun = WholeFile::create(&path).expect("begun");
    // One that is being written by this process, or by one whose number is not known here, is left
    // alone.
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
