//! A value with a destructor that panics.

/// Panics when it is dropped, unless its thread is panicking already.
#[derive(Clone)]
pub(crate) struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a destructor");
        }
    }
}
