//! Regression: a program entered a sandbox that refuses membarrier(2) after the first use of the
//! library. The thread that wanted a fence panicked, and the threads that waited for it waited for
//! ever. Now the process ends and reports the reason.
#![cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]

use std::env;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use raddle_sync::prim::{can_interrupt, heavy_fence};

/// Set in the process that enters the sandbox.
const INSIDE: &str = "RADDLE_TEST_CHILD";

/// Refuses membarrier(2) from now on, and nothing else.
fn enter() {
    const LOAD_NUMBER: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const JUMP_IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, k| libc::sock_filter { code, jt, jf: 0, k };
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut steps = [
        step(LOAD_NUMBER, 0, 0),
        step(JUMP_IF_EQUAL, 1, libc::SYS_membarrier as u32),
        step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
        step(RETURN, 0, refused),
    ];
    let program = libc::sock_fprog {
        len: steps.len() as u16,
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: the call takes only numbers.
    let no_new = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(no_new, 0);
    let mode = libc::SECCOMP_MODE_FILTER;
    // SAFETY: the program lives until the system has copied it.
    let entered = unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program) };
    assert_eq!(entered, 0, "the system has no such sandbox");
}

#[test]
fn a_process_that_loses_its_fence_ends_with_a_reason() {
    if env::var_os(INSIDE).is_some() {
        if can_interrupt() {
            heavy_fence();
            enter();
            heavy_fence();
        }
        return;
    }
    let program = env::current_exe().expect("a test program has a path");
    let output = Command::new(program)
        .env(INSIDE, "1")
        .env("RUST_BACKTRACE", "0")
        .arg("--nocapture")
        .output()
        .expect("this program runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    if can_interrupt() {
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{stderr}");
        assert!(
            stderr.contains("the system refuses membarrier(2)"),
            "{stderr}"
        );
    } else {
        assert!(output.status.success(), "{stderr}");
    }
}
