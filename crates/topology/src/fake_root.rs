//! Synthetic file trees for the tests of what `/proc` and `/sys` show.

use std::fs;
use std::path::PathBuf;
use std::thread;

/// A folder that contains a `/proc` or a `/sys`, removed at the end.
pub(crate) struct FakeRoot(pub(crate) PathBuf);

impl FakeRoot {
    /// Writes files, each given by its path and its content. A thread, and so a test, has one tree
    /// at a time.
    pub(crate) fn new<P: AsRef<str>>(files: &[(P, &str)]) -> Self {
        let (process, thread) = (std::process::id(), thread::current().id());
        let root = std::env::temp_dir().join(format!("raddle-topology-{process}-{thread:?}"));
        for (path, content) in files {
            let path = root.join(path.as_ref());
            fs::create_dir_all(path.parent().expect("a file is in a folder"))
                .expect("a new folder");
            fs::write(path, content).expect("a new file");
        }
        Self(root)
    }
}

impl Drop for FakeRoot {
    fn drop(&mut self) {
        // A leftover folder among the temporary files of the system does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
