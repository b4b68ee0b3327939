//! Fibonacci numbers with a chare for each call, down to a cut-off below which a call is a plain
//! call.
//!
//! This example shows that `cx.chare` creates a chare on any worker that has time for it, and that
//! its proxy can be used at once. An `async` entry waits for replies without keeping its worker
//! from other work. A chare that has done its part ends.
//!
//! `cargo run --release -p raddle --example fibonacci` prints:
//! ```text
//! fibonacci(24) = 46368, by 150049 chares with a cut-off at 2
//! fibonacci(24) = 46368, by 3193 chares with a cut-off at 10
//! fibonacci(24) = 46368, by 25 chares with a cut-off at 20
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use raddle::prelude::*;

/// One call.
struct Call;

/// The result of a call: the number, and how many chares computed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    value: u64,
    chares: u64,
}

#[chare]
impl Call {
    #[entry]
    async fn fibonacci(&mut self, cx: &mut Cx<Self>, n: u32, cut_off: u32) -> Found {
        // The chare receives one call, and ends with its reply.
        cx.end();
        if n < cut_off {
            let value = fibonacci(n);
            return Found { value, chares: 1 };
        }
        let left = cx.chare(|_| Self).fibonacci(n - 1, cut_off);
        let right = cx.chare(|_| Self).fibonacci(n - 2, cut_off);
        let (left, right) = (left.await, right.await);
        Found {
            value: left.value + right.value,
            chares: 1 + left.chares + right.chares,
        }
    }
}

/// Computes the number without chares.
fn fibonacci(n: u32) -> u64 {
    if n < 2 {
        u64::from(n)
    } else {
        fibonacci(n - 1) + fibonacci(n - 2)
    }
}

fn main() {
    const N: u32 = 24;
    let runtime = raddle::default_runtime();
    for cut_off in [2, 10, 20] {
        let first = runtime.chare(|_| Call);
        let Found { value, chares } = first.fibonacci(N, cut_off).wait();
        println!("fibonacci({N}) = {value}, by {chares} chares with a cut-off at {cut_off}");
        assert_eq!(value, fibonacci(N));
    }
}
