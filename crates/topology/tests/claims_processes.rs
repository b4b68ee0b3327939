//! Claims between processes: who sees whom, and what a kill leaves.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use raddle_topology::{Claims, CpuId, CpuSet, Others};

/// Says to the test that it is the process that claims, and in which group.
const GROUP: &str = "RADDLE_TEST_CLAIM_GROUP";

#[test]
#[expect(clippy::print_stdout, reason = "the parent test reads it")]
fn child_claims_and_waits() {
    let Ok(group) = std::env::var(GROUP) else {
        return;
    };
    let claim = Claims::in_group(group).claim(CpuId(2));
    println!("\nchild claimed: {}", claim.is_ok());
    // Until the other end is closed, which a killed parent does too.
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a pipe");
}

/// A child that has claimed or not, and its output, which stays open.
fn start(group: &str) -> (Child, BufReader<ChildStdout>, bool) {
    let program = std::env::current_exe().expect("a test program has a path");
    let mut child = Command::new(program)
        .args(["--exact", "child_claims_and_waits", "--nocapture"])
        .env(GROUP, group)
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
fn other_process_is_seen_until_it_is_killed() {
    let group = format!("raddle-test-{}-killed", std::process::id());
    let claims = Claims::in_group(group.as_str());
    let (mut child, _output, has_claimed) = start(&group);
    assert!(has_claimed);
    let others = look(&claims);
    assert_eq!(others.processes.to_string(), "2");
    assert!(others.runtimes.is_empty());
    assert!(claims.claim(CpuId(2)).is_err());
    // A second one is refused too.
    let (mut second, _second_output, has_claimed) = start(&group);
    assert!(!has_claimed);
    // SIGKILL: nothing of the child runs any more.
    child.kill().expect("a child can be killed");
    child.wait().expect("it ends");
    assert!(look(&claims).processes.is_empty());
    drop(claims.claim(CpuId(2)).expect("it is free again"));
    drop(second.stdin.take());
    assert!(second.wait().expect("it ends").success());
}
