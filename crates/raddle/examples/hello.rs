//! Hello from an array of chares: one says it and passes the word to the next, until the last ends the program.
//!
//! What to see here: a chare is a value of a type of one's own whose methods others call by message; `#[chare]` on its `impl`
//! block makes the proxies, and `#[entry]` says which methods messages call. An array is many of them, and `array.at(index)`
//! is the proxy of one.
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

/// How many there are to say hello.
const COUNT: usize = 4;

struct Greeter {
    has_spoken: bool,
}

#[chare]
impl Greeter {
    /// Says hello, and has the next one do the same.
    ///
    /// Every entry has its chare for itself, hence `&mut self`. What it knows of its surroundings comes with `cx`.
    #[entry]
    fn greet(&mut self, cx: &mut Cx<Self>) {
        println!("element {} says hello", cx.index());
        self.has_spoken = true;
        match cx.array().get(cx.index() + 1) {
            // This sends a message and returns at once: the call comes later, perhaps on another core.
            Some(next) => next.greet(),
            None => cx.exit(),
        }
    }

    /// Replies whether it has said hello. An entry with a result is asked, and what its proxy returns is a reply to come.
    #[entry]
    fn has_spoken(&self) -> bool {
        self.has_spoken
    }
}

fn main() {
    // The default runtime comes up on first use, with a worker for each CPU.
    let runtime = raddle::default_runtime();
    let greeters = runtime.array(COUNT, |_index| Greeter { has_spoken: false });

    greeters.at(0).greet();
    runtime.until_exit();

    // First all questions, then all answers: so the chares work on them at the same time.
    let replies: Vec<_> = (0..COUNT)
        .map(|index| greeters.at(index).has_spoken())
        .collect();
    let answers = replies.into_iter().map(|reply| reply.wait());
    let spoken = answers.filter(|&has_spoken| has_spoken).count();
    println!("{spoken} of {COUNT} have said hello");
    assert_eq!(spoken, COUNT);
}
