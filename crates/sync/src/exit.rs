//! Failures that a process must not hide behind exit code 0.
//!
//! A thread that nothing waits for can fail after all that the program waits for has come. `main`
//! returns then as if all were well. As long as a [`Blemish`] lives, a process that ends with exit
//! code 0 says on standard error what has failed, and ends with exit code [`FAILURE_CODE`] instead,
//! as a Rust program does whose main thread panics. Other exit codes stay as they are.
//!
//! The hook is called by `exit` alone, before what was registered with `atexit` earlier. Processes
//! that are killed, or call `_exit`, do not call it. Only glibc tells such a hook the exit code:
//! elsewhere, and under Miri, blemishes have no effect.

use std::sync::{Mutex, PoisonError};

/// The exit code of a process with blemishes: that of a Rust program whose main thread panics.
pub const FAILURE_CODE: i32 = 101;

static BLEMISHES: Mutex<Blemishes> = Mutex::new(Blemishes {
    next: 0,
    is_hooked: false,
    texts: Vec::new(),
});

#[derive(Debug)]
struct Blemishes {
    next: u64,
    is_hooked: bool,
    texts: Vec<(u64, String)>,
}

/// A failure that nothing has taken notice of. The process cannot end with exit code 0 while it
/// lives.
#[derive(Debug)]
pub struct Blemish(u64);

impl Blemish {
    /// A failure that is described by `text`.
    #[must_use = "a blemish that is dropped has no effect"]
    pub fn new(text: String) -> Self {
        let mut blemishes = blemishes();
        if !blemishes.is_hooked {
            blemishes.is_hooked = true;
            hook::register();
        }
        let number = blemishes.next;
        blemishes.next += 1;
        blemishes.texts.push((number, text));
        Self(number)
    }
}

impl Drop for Blemish {
    fn drop(&mut self) {
        blemishes().texts.retain(|text| text.0 != self.0);
    }
}

// A lock of `std`, which no model sees: exits are outside of all models.
fn blemishes() -> impl std::ops::DerefMut<Target = Blemishes> {
    BLEMISHES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(target_env = "gnu", not(miri)))]
mod hook {
    use std::io::Write;

    use super::{FAILURE_CODE, blemishes};

    unsafe extern "C" {
        fn on_exit(
            call: extern "C" fn(libc::c_int, *mut libc::c_void),
            argument: *mut libc::c_void,
        ) -> libc::c_int;
    }

    /// Has `exit` call the hook. Where there is no memory for that, the exit code stays as it is.
    pub(super) fn register() {
        // SAFETY: `on_exit` keeps the function and the pointer. The function lives as long as the
        // program, and does not use the pointer.
        unsafe { on_exit(look, std::ptr::null_mut()) };
    }

    extern "C" fn look(code: libc::c_int, _argument: *mut libc::c_void) {
        if code != 0 {
            return;
        }
        // A copy: nothing is held while this writes and ends the process.
        let texts = blemishes().texts.clone();
        if texts.is_empty() {
            return;
        }
        for (_, text) in &texts {
            // Where nothing can be written, the exit code is what is left to say.
            let _ = writeln!(std::io::stderr(), "{text}");
        }
        // SAFETY: a null pointer flushes all streams of C; this thread holds none of them.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        // SAFETY: ends the process, and touches no memory of it.
        unsafe { libc::_exit(FAILURE_CODE) };
    }
}

#[cfg(not(all(target_env = "gnu", not(miri))))]
mod hook {
    /// Nothing tells a hook the exit code here.
    pub(super) fn register() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blemish_is_known_as_long_as_it_lives() {
        let known = |blemish: &Blemish| blemishes().texts.iter().any(|text| text.0 == blemish.0);
        let (one, other) = (Blemish::new("one".into()), Blemish::new("other".into()));
        assert!(known(&one) && known(&other));
        let number = one.0;
        drop(one);
        assert!(known(&other));
        assert!(blemishes().texts.iter().all(|text| text.0 != number));
    }
}
