//! Invalid files: each causes a one-line error that names the file, and no other output.
//!
//! hwloc itself aborts on some damaged files, and writes to the standard error stream on others. So
//! the damaged files are loaded in a child process, and its exit status and output are checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use raddle_topology::{Topology, TopologyError, format};

mod common;

use common::xml_file;

/// The variable that is set in the child process. Its value is the file that the child damages.
const CHILD_FILE: &str = "RADDLE_TEST_DAMAGED_FILE";

/// A temporary file, removed at the end. Each test has its own.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, content: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("raddle-{}-{name}.xml", std::process::id()));
        fs::write(&path, content).expect("a new file");
        Self(path)
    }

    fn error(&self) -> String {
        error_of(&self.0)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover file among the temporary files of the system does no harm.
        let _ = fs::remove_file(&self.0);
    }
}

fn error_of(path: &Path) -> String {
    let error = Topology::from_xml(path)
        .expect_err("an invalid file")
        .to_string();
    assert!(
        error.starts_with(&path.display().to_string()),
        "{error} does not name the file"
    );
    assert!(!error.contains('\n'), "{error:?} is more than one line");
    error
}

#[test]
fn a_missing_file_and_a_folder_are_errors() {
    let missing = std::env::temp_dir().join("raddle-no-such-file.xml");
    // Regression: neither error described the expected file.
    let expected = "; expected the topology of one machine, in a file that hwloc exported as XML";
    for (path, found) in [
        (&missing, "No such file"),
        (&std::env::temp_dir(), "Is a directory"),
    ] {
        let error = error_of(path);
        assert!(error.contains(found), "{error}");
        assert!(error.ends_with(expected), "{error}");
    }
    assert!(matches!(
        Topology::from_xml(&missing),
        Err(TopologyError::ReadXml { .. })
    ));
}

#[test]
fn an_empty_file_and_garbage_are_errors() {
    assert!(
        Scratch::new("empty", b"")
            .error()
            .contains(":1:1: found an empty file")
    );
    let garbage: Vec<u8> = (0..4096_u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    assert!(Scratch::new("garbage", &garbage).error().contains(":1:"));
    assert!(
        Scratch::new("text", b"numa:2 core:2 pu:1\n")
            .error()
            .contains("malformed XML")
    );
    let picture = format::svg(&Topology::synthetic("pu:2").expect("two CPUs"));
    assert!(
        Scratch::new("picture", picture.as_bytes())
            .error()
            .contains("found the element <svg>")
    );
}

#[test]
fn an_endless_file_is_refused() {
    let error = error_of(Path::new("/dev/zero"));
    assert!(error.contains("found more than 10000000 bytes"), "{error}");
}

#[test]
fn a_truncated_machine_is_an_error_at_its_last_line() {
    let whole = fs::read(xml_file("linux-16em64t-4s2c2t")).expect("the machine");
    let half = &whole[..whole.len() / 2];
    let line = half.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let error = Scratch::new("half", half).error();
    assert!(error.contains(&format!(".xml:{line}:")), "{error}");
    assert!(
        error.contains("expected a topology that hwloc exported as XML"),
        "{error}"
    );
}

#[test]
fn damaged_machines_neither_abort_nor_write_to_the_error_stream() {
    if let Some(file) = std::env::var_os(CHILD_FILE) {
        return load_damaged(Path::new(&file));
    }
    let own_name = "damaged_machines_neither_abort_nor_write_to_the_error_stream";
    for name in [
        "16amd64-4distances",
        "linux-64intel64-fakeKNL-SNC4-hybrid",
        "power8gpudistances",
    ] {
        for libxml in ["0", "1"] {
            let output = Command::new(std::env::current_exe().expect("this test's own program"))
                .args(["--exact", own_name, "--nocapture"])
                .env(CHILD_FILE, xml_file(name))
                .env("HWLOC_LIBXML", libxml)
                .output()
                .expect("a child process");
            let (out, err) = (
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr),
            );
            assert!(
                output.status.success(),
                "{name}: {}\n{out}{err}",
                output.status
            );
            assert!(err.is_empty(), "{name}: {err}");
            assert!(out.contains("1 passed"), "{name}: {out}");
        }
    }
}

/// Loads a machine many times in the child, each time with different damage.
fn load_damaged(file: &Path) {
    let whole = fs::read(file).expect("the machine");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut loaded, mut refused) = (0, 0);
    for _ in 0..250 {
        let mut damaged = whole.clone();
        for _ in 0..=random.below(2) {
            damage(&mut damaged, &mut random);
        }
        let scratch = Scratch::new("damaged", &damaged);
        match Topology::from_xml(&scratch.0) {
            Ok(topology) => {
                loaded += 1;
                assert!(!format::text(&topology).is_empty() && !format::svg(&topology).is_empty());
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
    // Some damaged files must load and others must be refused, or the test would be useless.
    assert!(
        loaded > 0 && refused > 0,
        "{loaded} loaded, {refused} refused"
    );
}

/// A deterministic random number generator (Marsaglia's xorshift), so that runs are reproducible.
struct Random(u64);

impl Random {
    /// Returns a random number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Makes one change such as an editor or a bug might make.
fn damage(text: &mut Vec<u8>, random: &mut Random) {
    const VALUES: [&str; 8] = [
        "",
        "0",
        "-1",
        "99999999999999999999",
        "0xf...f",
        "0x00000001",
        "0xffffffff,0xffffffff",
        "text",
    ];
    const KINDS: [&str; 8] = [
        "Machine", "Package", "Core", "PU", "Group", "L2Cache", "NUMANode", "Misc",
    ];
    let at = random.below(text.len());
    match random.below(5) {
        0 => {
            if let Some(digit) = text[at..].iter().position(u8::is_ascii_digit) {
                text[at + digit] = b"0123456789abcdefx"[random.below(17)];
            }
        }
        1 => replace_value(text, at, b" ", VALUES[random.below(VALUES.len())]),
        2 => replace_value(text, at, b" type=", KINDS[random.below(KINDS.len())]),
        3 => {
            let line = line_around(text, at);
            text.drain(line);
        }
        _ => {
            let line = text[line_around(text, at)].to_vec();
            let to = random.below(text.len());
            let to = line_around(text, to).start;
            text.splice(to..to, line);
        }
    }
}

/// Replaces the first quoted value after the first `key` from position `at`.
fn replace_value(text: &mut Vec<u8>, at: usize, key: &[u8], value: &str) {
    let find = |from: usize, pattern: &[u8]| {
        text[from..]
            .windows(pattern.len())
            .position(|window| window == pattern)
            .map(|offset| from + offset)
    };
    let quoted = find(at, key).and_then(|start| {
        let open = find(start, b"\"")? + 1;
        Some(open..find(open, b"\"")?)
    });
    if let Some(quoted) = quoted {
        text.splice(quoted, value.bytes());
    }
}

/// Returns the range of the line that contains position `at`, including its line break.
fn line_around(text: &[u8], at: usize) -> std::ops::Range<usize> {
    let start = text[..at]
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |place| place + 1);
    let end = text[at..]
        .iter()
        .position(|&byte| byte == b'\n')
        .map_or(text.len(), |place| at + place + 1);
    start..end
}
