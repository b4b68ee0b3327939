//! Rigid bodies by `rapier3d`: a stack of a thousand cubes on the ground.

use rapier3d::prelude::{ColliderBuilder, PhysicsWorld, RigidBodyBuilder, Vector};

use crate::Outcome;

/// The number of cubes in each direction.
const SIDE: usize = 10;
/// The number of steps.
const STEPS: usize = 100;

pub(crate) fn stack() -> Outcome {
    let mut world = PhysicsWorld::new();
    world.insert(
        RigidBodyBuilder::fixed().translation(Vector::new(0.0, -1.0, 0.0)),
        ColliderBuilder::cuboid(100.0, 1.0, 100.0),
    );
    for index in 0..SIDE * SIDE * SIDE {
        let [x, y, z] = [index % SIDE, index / SIDE % SIDE, index / SIDE / SIDE];
        let [x, y, z] = [x, y, z].map(|place| 2.0 * place as f32);
        world.insert(
            RigidBodyBuilder::dynamic()
                .translation(Vector::new(x - 10.0, y + 1.0, z - 10.0))
                .can_sleep(false),
            ColliderBuilder::cuboid(1.0, 1.0, 1.0),
        );
    }
    for _ in 0..STEPS {
        world.step();
    }
    // Rounded, because the order in which the threads add forces changes the last digits.
    let heights = world.bodies.iter();
    let sum: f64 = heights
        .map(|(_, body)| f64::from(body.translation().y))
        .sum();
    println!("{sum:.0}");
    Ok(())
}
