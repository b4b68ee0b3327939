//! Programs of tasks and messages.

use std::time::{Duration, Instant};

use raddle::{Runtime, join};
use raddle_graphics::kdtree::messages::{MessageBuilder, MessageOptions};
use raddle_graphics::kdtree::{KdTree, Parameters, Prepared};
use raddle_graphics::scene::{Scene, generate};
use raddle_messages::kneighbor::{KNeighbor, Shape};

use crate::Answer;
use crate::scopes::work;

/// The argument of `fib`, and the steps of work of each leaf: about 1 us.
const FIB: u32 = 18;
const LEAF_STEPS: u64 = 800;
/// The number of triangles of the kd-tree.
const TRIANGLES: usize = 30_000;

/// The inputs that are made once.
#[derive(Default)]
pub(crate) struct Workloads {
    /// The sorted events of a mesh, and its tree.
    kdtree: Option<(Prepared, KdTree)>,
}

impl Workloads {
    pub(crate) fn run(&mut self, name: &str, runtime: &Runtime, repetitions: u64) -> Answer {
        match name {
            "fib" => Ok(runtime.install(|| {
                let begun = Instant::now();
                let mut result = 0;
                for _ in 0..repetitions {
                    result = fib(FIB);
                }
                (begun.elapsed(), result)
            })),
            "kneighbor" => kneighbor(runtime, repetitions),
            "kdtree" => self.kdtree(runtime, repetitions),
            _ => Err(format!("found case {name:?}; expected fib, kneighbor or kdtree").into()),
        }
    }

    /// Builds kd-trees by messages. The result is the number of triangles.
    fn kdtree(&mut self, runtime: &Runtime, repetitions: u64) -> Answer {
        let parameters = Parameters::default();
        let (prepared, expected) = match &self.kdtree {
            Some(kdtree) => kdtree,
            None => {
                let mesh = generate(Scene::Knot, TRIANGLES);
                let tree = KdTree::build(&mesh, &parameters)?;
                self.kdtree.insert((Prepared::new(&mesh)?, tree))
            }
        };
        let builder = MessageBuilder::new(runtime, MessageOptions::default());
        let mut time = Duration::ZERO;
        for _ in 0..repetitions {
            let built = builder.build(prepared.clone(), &parameters, |_| ())?;
            if built.tree != *expected {
                return Err("the tree differs from that of the sequential builder".into());
            }
            time += built.time;
        }
        Ok((time, TRIANGLES as u64))
    }
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        work(LEAF_STEPS);
        return u64::from(n);
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Runs iterations of a ring of 8 elements with 3 neighbours on each side. The result is the number
/// of messages per iteration.
fn kneighbor(runtime: &Runtime, repetitions: u64) -> Answer {
    let shape = Shape {
        elements: 8,
        k: 3,
        bytes: 1_024,
        touch: false,
    };
    let exchange = KNeighbor::new(runtime, shape).run(repetitions)?;
    Ok((exchange.time, exchange.messages / repetitions))
}
