//! Claims between processes: visible to other processes, gone after a kill, and safe from other
//! users.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use raddle_topology::{Claims, CpuId, CpuSet, Others};

/// The variable that makes the test program the claiming child. Its value is the group.
const GROUP: &str = "RADDLE_TEST_CLAIM_GROUP";

/// The variable that makes the test program the child that binds a name directly. Its value is the
/// name.
const NAME: &str = "RADDLE_TEST_CLAIM_NAME";

#[test]
#[expect(clippy::print_stdout, reason = "the parent test reads it")]
fn child_claims_and_waits() {
    let (group, name) = (std::env::var(GROUP), std::env::var(NAME));
    let claim = group.map(|group| Claims::in_group(group).claim(CpuId(2)));
    let bound = name.map(|name| {
        let address = SocketAddr::from_abstract_name(name).expect("a short name");
        UnixDatagram::bind_addr(&address)
    });
    let has_claimed = match (&claim, &bound) {
        (Ok(claim), _) => claim.is_ok(),
        (_, Ok(bound)) => bound.is_ok(),
        _ => return,
    };
    println!("\nchild claimed: {has_claimed}");
    // Wait until the other end is closed, which also happens if the parent is killed.
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a pipe");
}

/// Starts a child that claims CPU 2 in a group.
///
/// Returns the child, its output (which must stay open), and whether the claim succeeded.
fn start(group: &str) -> (Child, BufReader<ChildStdout>, bool) {
    let program = std::env::current_exe().expect("a test program has a path");
    run(Command::new(program).env(GROUP, group))
}

/// Starts a test program that runs [`child_claims_and_waits`] as a child.
///
/// Returns the child, its output, and whether its claim succeeded.
fn run(program: &mut Command) -> (Child, BufReader<ChildStdout>, bool) {
    let mut child = program
        .args(["--exact", "child_claims_and_waits", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program runs");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let said = output
        .by_ref()
        .lines()
        .map(|line| line.expect("text"))
        .find_map(|line| {
            line.strip_prefix("child claimed: ")
                .map(|said| said == "true")
        });
    (child, output, said.expect("the child says so"))
}

fn look(claims: &Claims) -> Others {
    let all: CpuSet = (0..4).map(CpuId).collect();
    claims.others(&all)
}

#[test]
fn claim_of_another_process_holds_until_it_is_killed() {
    let group = format!("raddle-test-{}-killed", std::process::id());
    let claims = Claims::in_group(group.as_str());
    let (mut child, _output, has_claimed) = start(&group);
    assert!(has_claimed);
    let others = look(&claims);
    assert_eq!(others.processes.to_string(), "2");
    assert!(others.runtimes.is_empty());
    assert!(claims.claim(CpuId(2)).is_err());
    // The claim of a second child is refused too.
    let (mut second, _second_output, has_claimed) = start(&group);
    assert!(!has_claimed);
    // SIGKILL, so the child cannot clean up.
    child.kill().expect("a child can be killed");
    child.wait().expect("it ends");
    assert!(look(&claims).processes.is_empty());
    drop(claims.claim(CpuId(2)).expect("it is free again"));
    drop(second.stdin.take());
    assert!(second.wait().expect("it ends").success());
}

/// The id of a different user, which owns no files.
const OTHER_USER: &str = "65534";

/// A copy of this program that every user may run, removed at the end.
struct Copied(PathBuf);

impl Copied {
    fn new() -> Self {
        let program = std::env::current_exe().expect("a test program has a path");
        let folder = std::env::temp_dir().join(format!("raddle-claims-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a new folder");
        let copied = Self(folder);
        fs::copy(program, copied.program()).expect("space for a copy");
        for path in [copied.0.clone(), copied.program()] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        copied
    }

    fn program(&self) -> PathBuf {
        self.0.join("claims")
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        // A leftover folder among the temporary files of the system does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Checks that a process of another user, which can bind the very name of our claim, cannot keep
/// our workers from every CPU that way.
///
/// Only root can start a process of another user. Without root, the process belongs to this user,
/// and its claim counts.
#[test]
fn name_bound_by_another_user_is_ignored() {
    let group = format!("raddle-test-{}-squatted", std::process::id());
    let claims = Claims::in_group(group.as_str());
    let user = fs::metadata("/proc/self")
        .expect("a process has a folder")
        .uid();
    let copied = Copied::new();
    let mut program = if user == 0 {
        let mut program = Command::new("setpriv");
        program.args([
            "--reuid",
            OTHER_USER,
            "--regid",
            OTHER_USER,
            "--clear-groups",
        ]);
        program.arg(copied.program());
        program
    } else {
        Command::new(copied.program())
    };
    let (mut child, _output, has_bound) = run(program.env(NAME, format!("{group}/{user}/cpu/2")));
    assert!(has_bound);
    let others = look(&claims);
    if user == 0 {
        assert!(others.processes.is_empty(), "{others:?}");
        let note = "claims of another user on CPUs 2 are ignored";
        assert_eq!(others.note.as_deref(), Some(note));
        let claim = claims.claim(CpuId(2)).expect("it is not taken");
        assert_eq!(look(&claims).runtimes.to_string(), "2");
        assert!(claims.claim(CpuId(2)).is_err(), "twice in one process");
        drop(claim);
        drop(claims.claim(CpuId(2)).expect("it is free again"));
    } else {
        assert_eq!(others.processes.to_string(), "2");
        assert!(claims.claim(CpuId(2)).is_err());
    }
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
    drop(claims.claim(CpuId(2)).expect("it is free"));
}
