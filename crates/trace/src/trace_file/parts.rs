//! The parts of a file that several processes write.

use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use raddle_timeline::{Format, concatenate};

use super::{TraceFileError, write_error};
use crate::whole_file::WholeFile;

/// Returns the name of the part of a process.
pub(super) fn name(path: &Path, process: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".node-{process}"));
    name.into()
}

/// Removes the part that a process of an earlier program has left.
pub(super) fn remove_old(path: &Path, process: u32) {
    // There is usually none.
    let _ = fs::remove_file(name(path, process));
}

/// Joins the parts of all processes to the file, if all are there. Returns false if some are not:
/// their processes are still running, or were killed.
pub(super) fn join(path: &Path, process_count: u32) -> Result<bool, TraceFileError> {
    let parts: Vec<PathBuf> = (0..process_count)
        .map(|process| name(path, process))
        .collect();
    if !parts.iter().all(|part| part.exists()) {
        return Ok(false);
    }
    // Two nodes may end at the same moment. One of them gets the lock; the other finds the parts
    // gone, or being joined.
    let first = File::open(&parts[0]);
    let Ok(first) = first else { return Ok(true) };
    if first.try_lock().is_err() {
        return Ok(true);
    }
    match join_files(path, &parts) {
        Ok(()) => Ok(true),
        // The other node has removed them meanwhile.
        Err(_) if !parts[0].exists() => Ok(true),
        Err(source) => Err(write_error(path, source)),
    }
}

fn join_files(path: &Path, parts: &[PathBuf]) -> io::Result<()> {
    let open = |part: &PathBuf| File::open(part).map(BufReader::new);
    let mut inputs = parts.iter().map(open).collect::<io::Result<Vec<_>>>()?;
    let mut file = WholeFile::create(path)?;
    concatenate(Format::of_path(path), &mut inputs, &mut file)?;
    file.flush()?;
    file.finish()?;
    for part in parts {
        fs::remove_file(part)?;
    }
    Ok(())
}
