//! Each example runs to its end on any number of workers, and prints what its header says.
//!
//! `cargo test` builds the examples, as programs of their own since their harness is off in `Cargo.toml`, but tells nobody where they are.
//! They lie beside the folder of this program, under their names or under their names and a hash; the newest is that of this build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// The text block of an example's header.
fn promised(source: &str) -> String {
    let header = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line));
    header
        .skip_while(|line| *line != "```text")
        .skip(1)
        .take_while(|line| *line != "```")
        .flat_map(|line| [line, "\n"])
        .collect()
}

fn modified(path: &Path) -> SystemTime {
    let metadata = fs::metadata(path).expect("it is there");
    metadata.modified().expect("the system knows when")
}

/// The program that was built of an example last.
fn program(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().expect("this program is a file");
    let folder = own.parent()?.parent()?.join("examples");
    let files = fs::read_dir(folder).ok()?;
    let is_program = |path: &PathBuf| {
        let file = path.file_name().and_then(|file| file.to_str());
        let rest = file.and_then(|file| file.strip_prefix(name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-') && !rest.contains('.'))
    };
    files
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(is_program)
        .max_by_key(|path| modified(path))
}

fn check(source: &Path) {
    let name = source.file_stem().and_then(|name| name.to_str());
    let name = name.expect("an example has a name");
    let promised = promised(&fs::read_to_string(source).expect("it is text"));
    assert!(!promised.is_empty(), "{name} does not say what it prints");
    let program = program(name).filter(|program| modified(program) >= modified(source));
    let Some(program) = program else {
        panic!("{name} was not built since it was changed: `cargo test -p raddle` builds it");
    };
    let runs_on_nodes = fs::read_to_string(source).is_ok_and(|text| text.contains("RADDLE_NODES"));
    let nodes = if runs_on_nodes {
        &["1", "2", "4"][..]
    } else {
        &["1"]
    };
    for (workers, nodes) in ["1", "2", "3"]
        .iter()
        .flat_map(|workers| nodes.iter().map(move |nodes| (workers, nodes)))
    {
        let output = Command::new(&program)
            .env("RADDLE_WORKERS", workers)
            .env("RADDLE_NODES", nodes)
            .output()
            .expect("a program starts");
        let (printed, told) = (output.stdout, output.stderr);
        let told = String::from_utf8_lossy(&told);
        assert!(
            output.status.success(),
            "{name} on {nodes} nodes of {workers} workers: {told}"
        );
        let printed = String::from_utf8(printed).expect("an example prints text");
        assert_eq!(
            printed, promised,
            "{name} on {nodes} nodes of {workers} workers"
        );
    }
}

#[test]
fn each_prints_what_its_header_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let sources: Vec<PathBuf> = fs::read_dir(folder)
        .expect("there are examples")
        .map(|file| file.expect("it can be read").path())
        .collect();
    assert!(!sources.is_empty());
    sources.iter().for_each(|source| check(source));
}
