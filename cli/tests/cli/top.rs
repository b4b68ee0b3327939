//! `raddle top`: programs that run, are stopped, are killed and have ended, and a terminal.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::common::{Folder, Outcome, check_object, expect_one_line, json, raddle};

/// A program that can be watched. It is killed when this is dropped.
struct Watched(Child);

impl Watched {
    /// Starts a program that exchanges messages for longer than any test, and waits for its socket.
    fn start(folder: &Folder) -> Self {
        let program = raddle()
            .args(["kneighbor", "--iterations", "1e9", "--workers", "2"])
            .env("RADDLE_MONITOR", "on")
            .env("XDG_RUNTIME_DIR", folder.as_ref())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let program = Self(program);
        let socket = folder.path(&format!("raddle/{}.sock", program.0.id()));
        while !socket.exists() {
            thread::sleep(Duration::from_millis(5));
        }
        program
    }

    fn signal(&self, name: &str) {
        let process = self.0.id().to_string();
        let kill = Command::new("kill").args(["-s", name, &process]).status();
        assert!(kill.expect("kill runs").success());
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // It may have been killed already.
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

fn top(folder: &Folder, arguments: &[&str]) -> Outcome {
    let mut command = raddle();
    command.arg("top").args(arguments).args(["-d", "0.2"]);
    command.env("XDG_RUNTIME_DIR", folder.as_ref());
    command.output().expect("the program starts").into()
}

fn programs(folder: &Folder) -> Vec<Value> {
    let outcome = top(folder, &["--json"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let value = json(&outcome.output);
    check_object(&value).expect("plain keys");
    value["programs"].as_array().expect("a list").clone()
}

#[test]
fn rates_and_activities_of_two_programs() {
    let folder = Folder::new("top-two");
    let watched = [Watched::start(&folder), Watched::start(&folder)];
    let programs = programs(&folder);
    assert_eq!(programs.len(), 2, "{programs:?}");
    for program in &programs {
        assert_eq!(program["answers"], true);
        let command = program["command"].as_str().expect("a text");
        assert_eq!(command, "raddle kneighbor --iterations 1e9 --workers 2");
        let runtime = &program["runtimes"][0];
        assert_eq!(runtime["workers"].as_array().map(Vec::len), Some(2));
        let rate = runtime["total"]["messages_per_s"].as_f64();
        assert!(rate.is_some_and(|rate| rate > 0.0), "{program}");
        // Each of its elements always waits for the messages of others.
        let under_way = runtime["messages_under_way"].as_u64();
        assert!(under_way.is_some_and(|messages| messages > 0), "{program}");
    }
    // One of them, as text.
    let process = watched[1].0.id().to_string();
    let outcome = top(&folder, &[&process]);
    let text = &outcome.output;
    assert_eq!(text.matches("raddle kneighbor").count(), 1, "{outcome:?}");
    assert!(text.starts_with(&format!("process {process}  ")), "{text}");
    assert!(
        text.contains("2 workers, pool auto, tasks that wait: 0 in"),
        "{text}"
    );
    assert!(text.contains(", messages under way: "), "{text}");
    assert!(
        text.lines().any(|line| line.starts_with("   all ")),
        "{text}"
    );
}

#[test]
fn a_stopped_program_does_not_answer_and_a_killed_one_leaves_no_socket() {
    let folder = Folder::new("top-stopped");
    let watched = Watched::start(&folder);
    watched.signal("STOP");
    let stopped = programs(&folder);
    assert_eq!(stopped.len(), 1);
    assert_eq!(stopped[0]["answers"], false);
    let text = top(&folder, &[]).output;
    assert!(
        text.contains("does not answer: it may be stopped"),
        "{text}"
    );
    watched.signal("CONT");
    assert_eq!(programs(&folder)[0]["answers"], true);
    let process = watched.0.id().to_string();
    drop(watched);
    for arguments in [&[][..], &[&*process]] {
        let outcome = top(&folder, arguments);
        expect_one_line(&outcome);
        assert!(outcome.errors.contains("RADDLE_MONITOR=on"), "{outcome:?}");
    }
    let sockets = fs::read_dir(folder.path("raddle")).expect("the folder is there");
    assert_eq!(sockets.count(), 0);
}

#[test]
fn a_program_that_ends_removes_its_socket_and_only_its_owner_can_enter_the_folder() {
    let folder = Folder::new("top-ended");
    let sort = |value: &str| -> Outcome {
        let mut command = raddle();
        command.args(["sort", "1000", "--quiet"]);
        command.env("RADDLE_MONITOR", value);
        command.env("XDG_RUNTIME_DIR", folder.as_ref());
        command.output().expect("the program starts").into()
    };
    let outcome = sort("on");
    assert_eq!((outcome.code, &*outcome.errors), (Some(0), ""));
    let sockets = folder.path("raddle");
    assert_eq!(fs::read_dir(&sockets).expect("a folder").count(), 0);
    let mode = |mode| fs::set_permissions(&sockets, fs::Permissions::from_mode(mode));
    assert_eq!(
        fs::metadata(&sockets)
            .expect("a folder")
            .permissions()
            .mode()
            & 0o777,
        0o700
    );
    mode(0o755).expect("the folder is ours");
    // Nothing may be read there, and no socket is made there.
    for outcome in [top(&folder, &[]), sort("on")] {
        expect_one_line(&outcome);
        assert!(outcome.errors.contains("found mode 755"), "{outcome:?}");
    }
    assert_eq!(sort("off").code, Some(0));
    let outcome = sort("yes");
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.errors.contains("expected on or off"), "{outcome:?}");
    mode(0o700).expect("the folder is ours");
}

#[test]
fn a_terminal_shows_programs_until_a_key_ends_it() {
    let folder = Folder::new("top-terminal");
    let _watched = Watched::start(&folder);
    // A terminal of its own, with keys from a pipe.
    let call = format!(
        "stty rows 24 cols 90; {} top -d 0.1",
        env!("CARGO_BIN_EXE_raddle")
    );
    let mut terminal = Command::new("script")
        .args(["--quiet", "--return", "--command", &call, "/dev/null"])
        .env("XDG_RUNTIME_DIR", folder.as_ref())
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script starts");
    let mut keys = terminal.stdin.take().expect("a pipe");
    // Long enough for some frames; the test does not depend on their number.
    thread::sleep(Duration::from_millis(1_500));
    keys.write_all(b"q").expect("the terminal reads");
    let output = terminal.wait_with_output().expect("script ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains("raddle top  1 program  every 100 ms"),
        "{text}"
    );
    assert!(text.contains("messages/s"), "{text}");
    // The screen from before comes back.
    let begin = text.find("\u{1b}[?1049h").expect("an alternate screen");
    let end = text.rfind("\u{1b}[?1049l").expect("its end");
    assert!(begin < end, "{text}");
}

/// Starts the view on a terminal of its own, and returns that terminal and the process of the view.
fn view(folder: &Folder, before: &str) -> (Child, String) {
    let call = format!("{before} exec {} top", env!("CARGO_BIN_EXE_raddle"));
    let mut terminal = Command::new("script")
        .args(["--quiet", "--return", "--command", &call, "/dev/null"])
        .env("XDG_RUNTIME_DIR", folder.as_ref())
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script starts");
    let keys = terminal.stdin.take();
    let child = || {
        let found = Command::new("pgrep")
            .args(["-x", "-P", &terminal.id().to_string(), "raddle"])
            .output()
            .expect("pgrep runs");
        let text = String::from_utf8(found.stdout).expect("a number");
        text.trim().to_owned()
    };
    while child().is_empty() {
        thread::sleep(Duration::from_millis(10));
    }
    let process = child();
    terminal.stdin = keys;
    // It draws by now.
    thread::sleep(Duration::from_millis(500));
    (terminal, process)
}

#[test]
fn a_signal_restores_the_terminal() {
    let folder = Folder::new("top-signal");
    let (terminal, process) = view(&folder, "");
    let kill = Command::new("kill").args(["-s", "TERM", &process]).status();
    assert!(kill.expect("kill runs").success());
    let output = terminal.wait_with_output().expect("script ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("\u{1b}[?1049h"), "{text}");
    assert!(text.contains("\u{1b}[?25h\u{1b}[?1049l"), "{text}");
}

#[test]
fn a_view_ends_with_its_terminal_also_if_it_ignores_hangups() {
    let folder = Folder::new("top-hangup");
    let (mut terminal, process) = view(&folder, "trap '' HUP;");
    terminal.kill().expect("script runs");
    terminal.wait().expect("script ends");
    let status = format!("/proc/{process}/stat");
    let is_there = || fs::read_to_string(&status).is_ok_and(|stat| !stat.contains(") Z "));
    for _ in 0..3_000 {
        if !is_there() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    let _gone = Command::new("kill").args(["-s", "KILL", &process]).status();
    panic!("the view goes on without a terminal");
}
