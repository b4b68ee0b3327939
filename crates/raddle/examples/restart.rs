//! Oscillators that are written to a checkpoint, and go on in another runtime.
//!
//! This example shows a checkpoint and an exact sum. The elements of an array are written to files,
//! and are restored on another number of workers. The total energy is a sum of floats that is
//! rounded only once. It does not depend on the order in which workers add, so the resumed run has
//! the energy of an uninterrupted run, to the last bit.
//!
//! `cargo run -p raddle --example restart` prints:
//! ```text
//! 500 oscillators written, energy 1223.5895280919979
//! resumed, energy 1225.2947864688654
//! without interruption, energy 1225.2947864688654
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::fs;

use raddle::Array;
use raddle::prelude::*;
use raddle::reduce::SumExact;
use serde::{Deserialize, Serialize};

/// The number of oscillators.
const COUNT: usize = 500;
/// The number of steps before the checkpoint, and again after it.
const STEPS: u32 = 1_000;
/// The time of a step.
const STEP: f64 = 0.01;

/// A mass of 1 on a spring. A checkpoint contains its values by `Serialize`.
#[derive(Serialize, Deserialize)]
struct Oscillator {
    stiffness: f64,
    position: f64,
    velocity: f64,
}

#[chare(state)]
impl Oscillator {
    fn new(index: usize) -> Self {
        Self {
            stiffness: 1.0 + index as f64 / 64.0,
            position: 1.0,
            velocity: 0.0,
        }
    }

    /// Makes `steps` steps of the semi-implicit Euler method.
    #[entry]
    fn advance(&mut self, steps: u32) {
        for _ in 0..steps {
            self.velocity -= self.stiffness * self.position * STEP;
            self.position += self.velocity * STEP;
        }
    }

    /// Contributes to the total energy.
    #[entry]
    fn add_energy(&mut self, cx: &mut Cx<Self>) {
        let kinetic = self.velocity * self.velocity;
        let potential = self.stiffness * self.position * self.position;
        cx.contribute(SumExact::new((kinetic + potential) / 2.0));
    }
}

/// Makes `steps` steps, and returns the total energy.
fn advance(oscillators: Array<Oscillator>, steps: u32) -> f64 {
    oscillators.all().advance(steps);
    oscillators.all().add_energy();
    oscillators.reduction::<f64>().wait()
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("raddle-restart-{}", std::process::id()));

    // This runtime ends with the block, as if the program had been stopped.
    {
        let runtime = Runtime::builder().build()?;
        let oscillators = runtime.array(COUNT, Oscillator::new);
        let energy = advance(oscillators, STEPS);
        let written = oscillators.checkpoint(&folder)?;
        println!("{written} oscillators written, energy {energy}");
    }

    let runtime = Runtime::builder().workers(2).build()?;
    let oscillators = runtime.restore::<Oscillator>(&folder)?;
    fs::remove_dir_all(&folder)?;
    let resumed = advance(oscillators, STEPS);
    println!("resumed, energy {resumed}");

    let whole = advance(runtime.array(COUNT, Oscillator::new), 2 * STEPS);
    println!("without interruption, energy {whole}");
    assert_eq!(resumed.to_bits(), whole.to_bits());
    Ok(())
}
