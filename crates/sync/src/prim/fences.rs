//! Two fences of which one costs next to nothing: between [`light_fence`] and [`heavy_fence`] there is the order that there is between two
//! fences SeqCst.
//!
//! The light one only keeps the compiler from reordering; the heavy one has the system put a fence between two instructions of each thread
//! that runs. It costs about a microsecond, and is for who is about to sleep, or to do something else that is rare. Where the system
//! cannot do that, both are fences SeqCst. A heavy fence is a fence SeqCst besides. Two light ones order nothing.
//!
//! A protocol that runs only where the system can ([`can_interrupt`]) uses [`signal_fence`] on the frequent side: that one costs nothing at
//! all, not even the look at what the system can do.
//!
//! # Source
//! membarrier(2), `PRIVATE_EXPEDITED`; Dice, Huang, Yang: Asymmetric Dekker synchronization. 2001.

pub use side::{can_interrupt, heavy_fence, light_fence, prepare_fences, signal_fence};

#[cfg(all(not(any(loom, shuttle, miri)), target_os = "linux"))]
mod side {
    use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};

    const REGISTER: libc::c_int = 1 << 4;
    const BARRIER: libc::c_int = 1 << 3;

    /// The system has been told, and puts fences where we want them. Once true it stays so.
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);

    /// The frequent side.
    #[inline]
    pub fn light_fence() {
        // Relaxed: who sees it late has a real fence, which is as good.
        if IS_REGISTERED.load(Ordering::Relaxed) {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    /// Keeps the compiler from reordering. The partner of a heavy fence only where [`can_interrupt`].
    #[inline]
    pub fn signal_fence() {
        compiler_fence(Ordering::SeqCst);
    }

    /// Returns true if a heavy fence interrupts the threads that run, so that a signal fence is its partner.
    pub fn can_interrupt() -> bool {
        prepare_fences()
    }

    /// Makes the light fence light from here on, where the system can; true when it can.
    pub fn prepare_fences() -> bool {
        // Relaxed: who sees it late registers again.
        let is_registered = IS_REGISTERED.load(Ordering::Relaxed) || membarrier(REGISTER);
        if is_registered {
            // Relaxed: as above.
            IS_REGISTERED.store(true, Ordering::Relaxed);
        }
        is_registered
    }

    /// The rare side.
    pub fn heavy_fence() {
        fence(Ordering::SeqCst);
        if prepare_fences() {
            if !membarrier(BARRIER) {
                end_without_fence();
            }
            fence(Ordering::SeqCst);
        }
    }

    /// The other threads rely on this fence, so nothing can go on. A panic would end this thread
    /// alone, and what it waits for.
    #[cold]
    fn end_without_fence() -> ! {
        // The hook for panics prints it: a library does not print.
        let _printed = std::panic::catch_unwind(|| {
            panic!(
                "the system refuses membarrier(2), which it has allowed before: a sandbox that refuses it \
                 must be there before the first use of a runtime"
            );
        });
        std::process::abort();
    }

    fn membarrier(command: libc::c_int) -> bool {
        const NO_FLAGS: libc::c_uint = 0;
        const ANY_CPU: libc::c_int = 0;
        // SAFETY: these commands touch no memory of ours.
        let failed = unsafe { libc::syscall(libc::SYS_membarrier, command, NO_FLAGS, ANY_CPU) };
        failed == 0
    }
}

#[cfg(any(loom, shuttle, miri, not(target_os = "linux")))]
mod side {
    use crate::prim::{SeqCst, fence};

    /// The frequent side.
    #[inline]
    pub fn light_fence() {
        fence(SeqCst);
    }

    /// A fence in a model; elsewhere, where its partner does not exist, nothing.
    #[inline]
    pub fn signal_fence() {
        if can_interrupt() {
            fence(SeqCst);
        }
    }

    /// Returns true in a model, whose fences are all real ones.
    pub fn can_interrupt() -> bool {
        cfg!(any(loom, shuttle))
    }

    /// The light fence is a real one here.
    pub fn prepare_fences() -> bool {
        false
    }

    /// The rare side.
    pub fn heavy_fence() {
        fence(SeqCst);
    }
}
