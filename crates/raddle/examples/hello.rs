//! Hello from an array of chares: each element says hello and calls the next, until the last ends
//! the program.
//!
//! This example shows chares: values of the program's own types with methods that other chares call
//! by message. `#[chare]` on the `impl` block generates the proxies, and `#[entry]` marks the
//! methods that messages can call. An array consists of many chares, and `array.at(index)` is the
//! proxy of one of them.
//!
//! `cargo run -p raddle --example hello` prints:
//! ```text
//! element 0 says hello
//! element 1 says hello
//! element 2 says hello
//! element 3 says hello
//! 4 of 4 have said hello
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use raddle::prelude::*;

/// The number of elements.
const COUNT: usize = 4;

struct Greeter {
    has_spoken: bool,
}

#[chare]
impl Greeter {
    /// Says hello, and makes the next element do the same.
    ///
    /// An entry has exclusive access to its chare, hence `&mut self`. `cx` gives access to the
    /// surroundings of the chare.
    #[entry]
    fn greet(&mut self, cx: &mut Cx<Self>) {
        println!("element {} says hello", cx.index());
        self.has_spoken = true;
        match cx.array().get(cx.index() + 1) {
            // This sends a message and returns at once. The call runs later, perhaps on another
            // core.
            Some(next) => next.greet(),
            None => cx.exit(),
        }
    }

    /// Returns true if this element has said hello. The proxy's method returns a reply, which
    /// contains the result later.
    #[entry]
    fn has_spoken(&self) -> bool {
        self.has_spoken
    }
}

fn main() {
    // The first use starts the default runtime, with one worker per CPU.
    let runtime = raddle::default_runtime();
    let greeters = runtime.array(COUNT, |_index| Greeter { has_spoken: false });

    greeters.at(0).greet();
    runtime.until_exit();

    // All questions first, and then all answers, so that the chares answer at the same time.
    let replies: Vec<_> = (0..COUNT)
        .map(|index| greeters.at(index).has_spoken())
        .collect();
    let answers = replies.into_iter().map(|reply| reply.wait());
    let spoken = answers.filter(|&has_spoken| has_spoken).count();
    println!("{spoken} of {COUNT} have said hello");
    assert_eq!(spoken, COUNT);
}
