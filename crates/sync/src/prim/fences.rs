//! A pair of fences of which one is almost free. A [`light_fence`] and a [`heavy_fence`] order
//! memory like two SeqCst fences.
//!
//! The light fence only keeps the compiler from reordering. The heavy fence makes the system
//! execute a fence in each running thread. It costs about a microsecond, and is meant for a thread
//! that is about to sleep, or to do something else that is rare. If the system does not support
//! this, both are SeqCst fences. A heavy fence is also a SeqCst fence itself. Two light fences
//! order nothing.
//!
//! A protocol that runs only if the system supports this ([`can_interrupt`]) uses [`signal_fence`]
//! on the frequent side. That fence costs nothing at all, not even the check of what the system
//! supports.
//!
//! # Source
//! membarrier(2), `PRIVATE_EXPEDITED`; Linux, `kernel/sched/membarrier.c`: a process with several
//! threads waits for an RCU grace period when it registers. Dice, Huang, Yang: Asymmetric Dekker
//! synchronization. 2001.

pub use side::{can_interrupt, heavy_fence, light_fence, prepare_fences, signal_fence};

#[cfg(all(not(any(loom, shuttle, miri)), target_os = "linux"))]
mod side {
    use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};

    const REGISTER: libc::c_int = 1 << 4;
    const BARRIER: libc::c_int = 1 << 3;

    /// True once the system has accepted the registration for such fences. Never becomes false
    /// again.
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);

    /// Registers this process before `main`, while it has one thread. Later, the registration waits
    /// until all CPUs have changed their threads, which takes 5 ms or more.
    #[used]
    // SAFETY: the loader calls each function in this section once, before `main`. This one makes a
    // system call, and uses nothing that has to be prepared.
    #[unsafe(link_section = ".init_array")]
    static REGISTER_EARLY: extern "C" fn() = {
        extern "C" fn register_early() {
            // The first use registers again at no cost, and checks the answer.
            let _ = membarrier(REGISTER);
        }
        register_early
    };

    /// Executes the fence for the frequent side.
    #[inline]
    pub fn light_fence() {
        // Relaxed: a thread that sees this late executes a real fence, which is just as good.
        if IS_REGISTERED.load(Ordering::Relaxed) {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    /// Keeps the compiler from reordering. It is the counterpart of a heavy fence only if
    /// [`can_interrupt`].
    #[inline]
    pub fn signal_fence() {
        compiler_fence(Ordering::SeqCst);
    }

    /// Returns true if a heavy fence interrupts the running threads, so that a signal fence is its
    /// counterpart.
    pub fn can_interrupt() -> bool {
        prepare_fences()
    }

    /// Makes the light fence light from now on, if the system supports that. Returns true if it
    /// does.
    pub fn prepare_fences() -> bool {
        // Relaxed: a thread that sees this late registers again.
        let is_registered = IS_REGISTERED.load(Ordering::Relaxed) || membarrier(REGISTER);
        if is_registered {
            // Relaxed: as above.
            IS_REGISTERED.store(true, Ordering::Relaxed);
        }
        is_registered
    }

    /// Executes the fence for the rare side.
    pub fn heavy_fence() {
        fence(Ordering::SeqCst);
        if prepare_fences() {
            if !membarrier(BARRIER) {
                end_without_fence();
            }
            fence(Ordering::SeqCst);
        }
    }

    /// Ends the process. The other threads rely on this fence, so the process cannot continue. A
    /// panic would end only this thread, and the other threads would wait for it.
    #[cold]
    fn end_without_fence() -> ! {
        // The panic hook prints the message, because a library does not print.
        let _printed = std::panic::catch_unwind(|| {
            panic!(
                "the system refuses membarrier(2), which it has allowed before: a sandbox that \
                 refuses it must be installed before the first use of a runtime"
            );
        });
        std::process::abort();
    }

    fn membarrier(command: libc::c_int) -> bool {
        const NO_FLAGS: libc::c_uint = 0;
        const ANY_CPU: libc::c_int = 0;
        // SAFETY: these commands access no memory of the program.
        let failed = unsafe { libc::syscall(libc::SYS_membarrier, command, NO_FLAGS, ANY_CPU) };
        failed == 0
    }
}

#[cfg(any(loom, shuttle, miri, not(target_os = "linux")))]
mod side {
    use crate::prim::{SeqCst, fence};

    /// Executes the fence for the frequent side.
    #[inline]
    pub fn light_fence() {
        fence(SeqCst);
    }

    /// Executes a fence in models. Elsewhere it has no counterpart, and does nothing.
    #[inline]
    pub fn signal_fence() {
        if can_interrupt() {
            fence(SeqCst);
        }
    }

    /// Returns true in a model, because all fences are real there.
    pub fn can_interrupt() -> bool {
        cfg!(any(loom, shuttle))
    }

    /// Returns false, because the light fence is a real fence here.
    pub fn prepare_fences() -> bool {
        false
    }

    /// Executes the fence for the rare side.
    pub fn heavy_fence() {
        fence(SeqCst);
    }
}
