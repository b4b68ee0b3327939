//! Claims among runtimes of one process; those among processes stand in `tests/claims_processes.rs`.

use super::*;

fn group(name: &str) -> Claims {
    Claims::in_group(format!("raddle-test-{}-{name}", std::process::id()))
}

fn set(cpus: &[u32]) -> CpuSet {
    cpus.iter().copied().map(CpuId).collect()
}

#[test]
fn cpu_is_claimed_once_and_free_when_the_claim_is_dropped() {
    let claims = group("once");
    let claim = claims.claim(CpuId(7)).expect("a free CPU");
    assert_eq!(claim.cpu(), CpuId(7));
    let refused = claims.claim(CpuId(7)).expect_err("it is taken");
    assert_eq!(refused.to_string(), "CPU 7 is claimed already");
    drop(claim);
    drop(claims.claim(CpuId(7)).expect("it was given back"));
}

/// A thread that starts a program has a child with a copy of every socket until `exec`: a CPU that was given back just then was
/// taken for another process's, and the next runtime went unbound. The copy here is the child's.
#[test]
fn copy_of_a_child_that_goes_keeps_nobody_out() {
    let claims = group("fork");
    for round in 0..2 {
        let claim = claims.claim(CpuId(5)).expect("a free CPU");
        let copy = claim.socket.as_ref().map(UnixDatagram::try_clone);
        drop(claim);
        let child = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(5));
            drop(copy);
        });
        if round == 0 {
            assert!(!claims.others(&set(&[5])).have(CpuId(5)));
        } else {
            drop(claims.claim(CpuId(5)).expect("it was given back"));
        }
        child.join().expect("it sleeps and ends");
    }
}

#[test]
fn copy_that_stays_keeps_the_claim() {
    let claims = group("forked");
    let claim = claims.claim(CpuId(5)).expect("a free CPU");
    let copy = claim.socket.as_ref().map(UnixDatagram::try_clone);
    drop(claim);
    assert!(claims.others(&set(&[5])).processes.contains(CpuId(5)));
    assert!(claims.claim(CpuId(5)).is_err());
    drop(copy);
    drop(claims.claim(CpuId(5)).expect("nobody has it"));
}

#[test]
fn looking_claims_nothing() {
    let claims = group("look");
    for _ in 0..2 {
        let others = claims.others(&set(&[0, 1]));
        assert!(others.runtimes.is_empty() && others.processes.is_empty());
        assert_eq!(others.note, None);
    }
    drop(claims.claim(CpuId(0)).expect("nobody has it"));
}

#[test]
fn groups_do_not_see_each_other() {
    let (left, right) = (group("left"), group("right"));
    let _left = left.claim(CpuId(0)).expect("a free CPU");
    let _right = right.claim(CpuId(0)).expect("free in its own group");
    assert_eq!(left.others(&set(&[0, 1])).runtimes, set(&[0]));
    assert!(!left.others(&set(&[0, 1])).have(CpuId(1)));
}

#[test]
fn long_names_are_cut_at_a_character() {
    let name = "ä".repeat(200);
    let claims = Claims::in_group(name);
    assert_eq!(claims.group.len(), Claims::GROUP_LEN_MAX);
    assert!(Claims::in_group("").group.is_empty());
    drop(claims.claim(CpuId(65_535)).expect("the longest name fits"));
}

#[test]
fn nobody_can_send_to_a_claim() {
    let claims = group("send");
    let _claim = claims.claim(CpuId(1)).expect("a free CPU");
    let sender = UnixDatagram::unbound().expect("a socket");
    let address = claims.address(CpuId(1)).expect("a name");
    sender.connect_addr(&address).expect("somebody is there");
    let error = sender.send(b"x").expect_err("it is shut");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}
