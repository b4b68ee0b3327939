//! A source tree in memory: every text file of the checkout, or a made-up one.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use crate::code::code_only;

/// Folders that are skipped, because they contain no sources of this project.
const SKIPPED: [&str; 5] = [
    ".git",
    "target",
    "corpus",
    "artifacts",
    "proptest-regressions",
];
/// Extensions of text files that rules look at. A file without an extension is a script.
const TEXT_EXTENSIONS: [&str; 9] = [
    "rs", "toml", "md", "cpp", "hpp", "yml", "json", "svg", "txt",
];

/// One text file.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// The path relative to the root, with `/` on every system.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// The text of a Rust file with comments and literals blanked out, line for line; else empty.
    pub code: String,
}

impl SourceFile {
    /// Returns true for a Rust source.
    #[must_use]
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Returns true for code of tests: in a `tests` folder, a `tests.rs`, or a fuzz target.
    #[must_use]
    pub fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs")
            || self.path.contains("/tests/")
            || self.path.starts_with("fuzz/")
    }
}

/// The text files of a checkout.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    files: Vec<SourceFile>,
}

impl Tree {
    /// Reads the checkout at `root`.
    ///
    /// # Errors
    /// The system's error if a folder or file cannot be read, or a file is not UTF-8.
    pub fn of_checkout(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    /// Creates a tree of the given paths and texts, for tests.
    #[must_use]
    pub fn made_up(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for &(path, text) in files {
            tree.add(path.to_owned(), text.to_owned());
        }
        tree
    }

    /// Returns all text files, sorted by path.
    #[must_use]
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Returns all Rust files, sorted by path.
    pub fn rust_files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.is_rust())
    }

    fn add(&mut self, path: String, text: String) {
        let code = if path.ends_with(".rs") {
            code_only(&text)
        } else {
            String::new()
        };
        self.files.push(SourceFile { path, text, code });
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type()?;
            if SKIPPED.contains(&name.as_str()) {
                continue;
            }
            if kind.is_dir() {
                self.read_folder(&entry.path(), &format!("{path}/"))?;
            } else if kind.is_file() && is_text(&name) {
                let text = fs::read_to_string(entry.path())
                    .map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?;
                self.add(path, text);
            }
        }
        Ok(())
    }
}

fn is_text(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((stem, extension)) => stem.is_empty() || TEXT_EXTENSIONS.contains(&extension),
        None => true,
    }
}

/// One place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file, relative to the root.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The finding, and what was expected instead.
    pub what: String,
}

impl Finding {
    /// Makes a finding.
    pub fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.what)
    }
}

#[cfg(test)]
mod tests;
