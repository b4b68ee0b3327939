//! The two builds of every program, in `target/drop-in`.
//!
//! `drop-in/Cargo.toml` names the programs, and its lock file the versions of all their libraries.
//! Cargo downloads the sources of all to `sources`. `rayon` and `raddle` are workspaces with the
//! programs and the loops as members; the manifest of the second has the lines that replace
//! `rayon-core`. The programs of both are in `programs`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::PROGRAMS;
use crate::error::BenchError;
use crate::peer::target_folder;

/// The program of the loops.
pub(super) const LOOPS_PROGRAM: &str = "raddle-rayon-loops";

/// A build of all programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// As published.
    Rayon,
    /// With the lines.
    Raddle,
}

impl Variant {
    /// Returns the name of the contender.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rayon => "rayon",
            Self::Raddle => "raddle",
        }
    }
}

/// The finished builds.
pub(super) struct Builds {
    folder: PathBuf,
}

impl Builds {
    /// Downloads and builds all programs, if that has not been done. `note` gets a line about
    /// each step that takes long.
    ///
    /// # Errors
    /// The failure of cargo, or of the file system.
    pub(super) fn make(note: &mut dyn FnMut(String)) -> Result<Self, BenchError> {
        let builds = Self {
            folder: target_folder().join("drop-in"),
        };
        builds.download(note)?;
        for variant in [Variant::Rayon, Variant::Raddle] {
            builds.build(variant, note)?;
        }
        builds.check_versions()?;
        Ok(builds)
    }

    /// Checks that each package of the build on rayon is in the other build in the same version.
    fn check_versions(&self) -> Result<(), BenchError> {
        let [theirs, ours] = [Variant::Rayon, Variant::Raddle].map(|variant| {
            let lock = self.folder.join(variant.name()).join("Cargo.lock");
            let text = fs::read_to_string(&lock).map_err(system("Cargo.lock"))?;
            Ok::<_, BenchError>(packages(&text))
        });
        let ours = ours?;
        match theirs?.iter().find(|package| !ours.contains(*package)) {
            None => Ok(()),
            Some((name, version)) => Err(BenchError::contender(
                "cargo",
                format!(
                    "{name} {version} is only in the build on rayon; expected the same versions in \
                     both: remove {} and repeat",
                    self.folder.join("raddle/Cargo.lock").display()
                ),
            )),
        }
    }

    /// Returns the path of a built program.
    pub(super) fn program(&self, variant: Variant, name: &str) -> PathBuf {
        self.folder.join("programs").join(variant.name()).join(name)
    }

    /// Returns the folder with the sources of all programs and of their libraries.
    pub(super) fn sources(&self) -> PathBuf {
        self.folder.join("sources")
    }

    /// Returns a folder for files of the measurement.
    pub(super) fn files(&self) -> PathBuf {
        self.folder.join("files")
    }

    fn download(&self, note: &mut dyn FnMut(String)) -> Result<(), BenchError> {
        let lock = here().join("Cargo.lock");
        if is_newer(&self.sources(), &lock) {
            return Ok(());
        }
        note("drop-in: cargo downloads the programs and their libraries".to_owned());
        remove(&self.sources())?;
        let unfinished = self.folder.join("sources.new");
        remove(&unfinished)?;
        let mut cargo = Command::new("cargo");
        cargo
            .args(["vendor", "--locked", "--versioned-dirs", "--manifest-path"])
            .arg(here().join("Cargo.toml"))
            .arg(&unfinished);
        run(&mut cargo)?;
        fs::rename(&unfinished, self.sources()).map_err(system("the downloaded sources"))
    }

    fn build(&self, variant: Variant, note: &mut dyn FnMut(String)) -> Result<(), BenchError> {
        let workspace = self.folder.join(variant.name());
        self.write_workspace(variant, &workspace)?;
        note(format!(
            "drop-in: cargo builds the programs on {}",
            variant.name()
        ));
        let target = self.folder.join("build");
        let mut cargo = Command::new("cargo");
        cargo
            .args(["build", "--release", "--workspace", "--target-dir"])
            .arg(&target)
            .current_dir(&workspace);
        run(&mut cargo)?;
        let programs = self.folder.join("programs").join(variant.name());
        fs::create_dir_all(&programs).map_err(system("the folder of programs"))?;
        let mut names: Vec<_> = PROGRAMS.iter().map(|program| program.executable).collect();
        names.push(LOOPS_PROGRAM);
        names.dedup();
        for name in names {
            // A program that runs cannot be overwritten.
            remove(&programs.join(name))?;
            let built = target.join("release").join(name);
            fs::copy(&built, programs.join(name)).map_err(system(name))?;
        }
        Ok(())
    }

    /// Writes the workspace of a build. Files that exist with the same content stay as they are, so
    /// that cargo builds only what has changed.
    fn write_workspace(&self, variant: Variant, workspace: &Path) -> Result<(), BenchError> {
        // One unit per crate: with several, the functions that the compiler inlines depend on
        // their distribution, which differs between the builds, and times differ by a tenth.
        let mut manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"members/*\"]\n\n\
                            [profile.release]\nlto = \"thin\"\ncodegen-units = 1\n"
            .to_owned();
        if variant == Variant::Raddle {
            let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/rayon-core");
            let ours = crates.canonicalize().map_err(system("rayon-core"))?;
            manifest += &format!(
                "\n[patch.crates-io]\nrayon-core = {{ path = {:?} }}\n",
                ours.display().to_string()
            );
        }
        for [package, version] in PROGRAMS.iter().filter_map(|program| program.package) {
            let from = self.sources().join(format!("{package}-{version}"));
            copy_folder(&from, &workspace.join("members").join(package))?;
        }
        for own in ["libraries", "loops"] {
            copy_folder(&here().join(own), &workspace.join("members").join(own))?;
        }
        write_if_new(&workspace.join("Cargo.toml"), manifest.as_bytes())?;
        let (lock, source) = (workspace.join("Cargo.lock"), here().join("Cargo.lock"));
        if !is_newer(&lock, &source) {
            fs::copy(&source, &lock).map_err(system("Cargo.lock"))?;
        }
        Ok(())
    }
}

/// Returns the names and versions of the packages in a lock file.
fn packages(lock: &str) -> BTreeSet<(String, String)> {
    let package = |lines: &str| {
        let value = |key| {
            let quoted = lines.lines().find_map(|line| line.strip_prefix(key))?;
            let value = quoted.strip_prefix(" = \"")?.strip_suffix('"')?;
            Some(value.to_owned())
        };
        Some((value("name")?, value("version")?))
    };
    lock.split("[[package]]").filter_map(package).collect()
}

#[cfg(test)]
#[test]
fn packages_of_a_lock_file_are_found() {
    let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.2\"\n\n\
                [[package]]\nname = \"b\"\nversion = \"2.0.0\"\ndependencies = [\n \"a\",\n]\n";
    let expected = [("a", "1.0.2"), ("b", "2.0.0")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(packages(lock), BTreeSet::from(expected));
}

/// Returns the folder of the manifest that names the programs.
fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("drop-in")
}

fn run(command: &mut Command) -> Result<(), BenchError> {
    let failure = |message: String| BenchError::contender("cargo", message);
    let output = command
        .output()
        .map_err(|error| failure(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let from = text.find("error").unwrap_or(0);
    Err(failure(text[from..].chars().take(2_000).collect()))
}

/// Copies a folder without lock files. Files that exist with the same content stay as they are.
fn copy_folder(from: &Path, to: &Path) -> Result<(), BenchError> {
    let what = from.display().to_string();
    fs::create_dir_all(to).map_err(system(&what))?;
    for entry in fs::read_dir(from).map_err(system(&what))? {
        let entry = entry.map_err(system(&what))?;
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            copy_folder(&path, &to.join(name))?;
        } else if name != "Cargo.lock" {
            let content = fs::read(&path).map_err(system(&what))?;
            write_if_new(&to.join(name), &content)?;
        }
    }
    Ok(())
}

fn write_if_new(path: &Path, content: &[u8]) -> Result<(), BenchError> {
    if fs::read(path).is_ok_and(|present| present == content) {
        return Ok(());
    }
    fs::write(path, content).map_err(system(&path.display().to_string()))
}

fn remove(path: &Path) -> Result<(), BenchError> {
    let removed = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(system(&path.display().to_string())(error))
        }
        _ => Ok(()),
    }
}

fn is_newer(path: &Path, than: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    changed(path).is_some_and(|time| changed(than).is_some_and(|other| other < time))
}

/// Returns a function that turns an error of the system into one about `what`.
pub(super) fn system(what: &str) -> impl Fn(io::Error) -> BenchError + '_ {
    move |source| BenchError::System {
        what: what.to_owned(),
        source,
    }
}
