//! Who does the work that several could share: the calling thread alone, all workers, or another runtime's.

/// A way to do work that can be done by several: all that the builders need of a runtime of forks and joins.
///
/// Each element of a list is visited once, so that the outcome is the same for every crew. Another runtime's crew builds trees by
/// [`KdTree::from_prepared_by`](super::KdTree::from_prepared_by).
///
/// # Examples
/// ```
/// use raddle_graphics::kdtree::{Crew, KdTree, Parameters, Prepared};
/// use raddle_graphics::scene::{self, Scene};
///
/// /// A thread for each element.
/// struct Threads;
///
/// impl Crew for Threads {
///     fn for_each<T: Send>(&self, items: &mut [T], body: impl Fn(usize, &mut T) + Sync) {
///         std::thread::scope(|scope| {
///             for (index, item) in items.iter_mut().enumerate() {
///                 let body = &body;
///                 scope.spawn(move || body(index, item));
///             }
///         });
///     }
///
///     fn join<A: Send, B: Send>(
///         &self,
///         first: impl FnOnce() -> A + Send,
///         second: impl FnOnce() -> B + Send,
///     ) -> (A, B) {
///         std::thread::scope(|scope| {
///             let second = scope.spawn(second);
///             (first(), second.join().expect("no panic"))
///         })
///     }
///
///     fn part_count(&self) -> usize {
///         2
///     }
/// }
///
/// let mesh = scene::generate(Scene::Flake, 10_000);
/// let parameters = Parameters::default();
/// let tree = KdTree::from_prepared_by(Prepared::new(&mesh)?, &parameters, &Threads, |_| ())?;
/// assert_eq!(tree, KdTree::build_sequential(&mesh, &parameters)?);
/// # Ok::<(), raddle_graphics::kdtree::BuildError>(())
/// ```
pub trait Crew: Sync {
    /// Calls `body` with every element and its index.
    fn for_each<T: Send>(&self, items: &mut [T], body: impl Fn(usize, &mut T) + Sync);

    /// Does both, and returns what they return.
    fn join<A: Send, B: Send>(
        &self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B);

    /// How many parts to cut work into that costs more the more parts there are.
    fn part_count(&self) -> usize;
}

/// The calling thread.
#[derive(Debug)]
pub(super) struct OneThread;

impl Crew for OneThread {
    fn for_each<T: Send>(&self, items: &mut [T], body: impl Fn(usize, &mut T) + Sync) {
        for (index, item) in items.iter_mut().enumerate() {
            body(index, item);
        }
    }

    fn join<A: Send, B: Send>(
        &self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        (first(), second())
    }

    fn part_count(&self) -> usize {
        1
    }
}

/// All workers of this thread's runtime, on a thread that is no worker those of the default one: the crew of [`KdTree::build`](super::KdTree::build).
///
/// What panics in a part panics for whoever asked for it, when all parts have ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllWorkers;

impl Crew for AllWorkers {
    fn for_each<T: Send>(&self, items: &mut [T], body: impl Fn(usize, &mut T) + Sync) {
        raddle::for_each_mut(items, body);
    }

    fn join<A: Send, B: Send>(
        &self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        // A task that all see at once. A fork would be offered at the next fork after somebody has asked for work, and who builds a subtree
        // alone comes by none for milliseconds.
        let mut found = None;
        let first = raddle::scope(|scope| {
            scope.spawn(|| found = Some(second()));
            first()
        });
        (first, found.expect("a scope waits for its tasks"))
    }

    fn part_count(&self) -> usize {
        raddle::worker_count()
    }
}
