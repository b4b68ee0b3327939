//! Claims of the runtimes of one process. `tests/claims_processes.rs` tests several processes.

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
    assert_eq!(refused.to_string(), "CPU 7 is already claimed");
    drop(claim);
    drop(claims.claim(CpuId(7)).expect("it was given back"));
}

/// Reproduces a bug: when a thread starts a program, its child has a copy of every socket until
/// `exec`. A CPU that was given back at that moment looked claimed by another process, so the next
/// runtime was not bound. The copy of the socket in this test represents that child.
#[test]
fn short_lived_copy_in_a_child_does_not_keep_the_claim() {
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
fn long_lived_copy_in_a_child_keeps_the_claim() {
    let claims = group("forked");
    let claim = claims.claim(CpuId(5)).expect("a free CPU");
    let copy = claim.socket.as_ref().map(UnixDatagram::try_clone);
    drop(claim);
    assert!(claims.others(&set(&[5])).processes.contains(CpuId(5)));
    assert!(claims.claim(CpuId(5)).is_err());
    drop(copy);
    drop(claims.claim(CpuId(5)).expect("it is free"));
}

#[test]
fn looking_claims_nothing() {
    let claims = group("look");
    for _ in 0..2 {
        let others = claims.others(&set(&[0, 1]));
        assert!(others.runtimes.is_empty() && others.processes.is_empty());
        assert_eq!(others.note, None);
    }
    drop(claims.claim(CpuId(0)).expect("it is free"));
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
fn long_names_are_cut_at_a_character_boundary() {
    let name = "ä".repeat(200);
    let claims = Claims::in_group(name);
    assert_eq!(claims.group.len(), Claims::GROUP_LEN_MAX);
    assert!(Claims::in_group("").group.is_empty());
    drop(claims.claim(CpuId(65_535)).expect("the longest name fits"));
}

#[test]
fn sending_to_a_claim_fails() {
    let claims = group("send");
    let _claim = claims.claim(CpuId(1)).expect("a free CPU");
    let sender = UnixDatagram::unbound().expect("a socket");
    let address = claims.address(CpuId(1)).expect("a name");
    sender.connect_addr(&address).expect("the name is bound");
    let error = sender.send(b"x").expect_err("it is shut down");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

/// A synthetic `/proc` with a socket of inode 77 and name `g/7/cpu/3`, open in one process.
struct Processes(std::path::PathBuf);

impl Processes {
    fn new(name: &str, users: &str) -> Self {
        use std::os::unix::fs::symlink;
        let root = std::env::temp_dir().join(format!("raddle-owner-{}-{name}", std::process::id()));
        let files = root.join("proc/12/fd");
        std::fs::create_dir_all(&files).expect("a new folder");
        std::fs::create_dir_all(root.join("proc/net")).expect("a new folder");
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
             0000000000000000: 00000002 00000000 00000000 0002 01    76 @g/7/cpu/31\n\
             0000000000000000: 00000002 00000000 00000000 0002 01    77 @g/7/cpu/3\n\
             0000000000000000: 00000003 00000000 00000000 0001 03   78\n";
        std::fs::write(root.join("proc/net/unix"), table).expect("a new file");
        std::fs::write(
            root.join("proc/12/status"),
            format!("Name:\tx\nUid:\t{users}\n"),
        )
        .expect("a new file");
        symlink("/dev/null", files.join("0")).expect("a new link");
        symlink("socket:[77]", files.join("5")).expect("a new link");
        Self(root)
    }

    /// Returns the CPUs of the names that the process has bound.
    ///
    /// `users` are the user ids of the process, with `{}` for the id of this user.
    fn bound(name: &str, users: &str) -> String {
        let user = this_user();
        let tree = Self::new(name, &users.replace("{}", &user.to_string()));
        let names = [3, 31, 4].map(|cpu| (CpuId(cpu), format!("g/7/cpu/{cpu}")));
        owner::bound_by(&tree.0, user, &names)
            .expect("a whole tree")
            .to_string()
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        // A leftover folder among the temporary files of the system does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn name_counts_if_a_process_with_only_our_user_ids_has_its_socket() {
    assert_eq!(Processes::bound("ours", "{}\t{}\t{}\t{}"), "3");
    // A program of this user with the set-user-ID bit, started by another user.
    assert_eq!(Processes::bound("lent", "4242\t{}\t{}\t{}"), "");
    assert_eq!(Processes::bound("other", "4242\t4242\t4242\t4242"), "");
}

#[test]
fn unreadable_processes_are_an_error() {
    let nowhere = Path::new("/nonexistent");
    assert!(owner::bound_by(nowhere, 0, &[(CpuId(0), String::new())]).is_err());
}
