//! Opens the page of a view in the browser of the desktop.
//!
//! The arguments of a process can be read by all users of the machine, so the browser does not get
//! the address with its token. It gets a file that only this user can read, and that refers to the
//! address. The file is removed when the page has been fetched.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program that opens a file with the program for its type.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// A file that refers a browser to the page. It is removed on drop.
#[derive(Debug)]
pub(super) struct Reference(PathBuf);

impl Reference {
    /// Writes a file that only this user can read.
    fn write(address: &str) -> io::Result<Self> {
        let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let folder = folder.filter(|folder| folder.is_dir());
        let folder = folder.unwrap_or_else(std::env::temp_dir);
        let path = folder.join(format!("raddle-view-{}.html", std::process::id()));
        // A file of an earlier process with this number.
        let _missing = fs::remove_file(&path);
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let reference = Self(path);
        // No character of the address has a meaning in HTML.
        writeln!(
            file,
            "<!doctype html><meta charset=\"utf-8\"><title>Raddle</title>\n\
             <meta http-equiv=\"refresh\" content=\"0;url={address}\">\n\
             <a href=\"{address}\">Open the view</a>"
        )?;
        Ok(reference)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // Another process may have removed it.
        let _missing = fs::remove_file(&self.0);
    }
}

/// Opens an address in the browser, if there is a desktop. Returns the file for it, which must
/// exist until the browser has fetched the page.
pub(super) fn open(address: &str) -> Option<Reference> {
    let has_desktop = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some());
    if !has_desktop {
        return None;
    }
    // If anything fails, the user still has the address, which is on standard output.
    let reference = Reference::write(address).ok()?;
    let mut command = Command::new(OPENER);
    let command = command.arg(reference.path()).stdin(Stdio::null());
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // A child that has ended stays in the table of processes until its parent waits for it.
    std::thread::spawn(move || child.wait());
    Some(reference)
}
