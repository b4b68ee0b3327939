//! Chares on a runtime: the ways in from threads that are no workers.

use raddle_runtime::Runtime;

use crate::array::{Array, ArrayOptions, make_array, make_sparse};
use crate::cx::Cx;
use crate::entry::Chare;
use crate::group::Group;
use crate::index::Index;
use crate::local;
use crate::node::{NodeGroup, make_node_group};
use crate::reply::{Reply, What, reply};
use crate::system::System;

/// What a [`Runtime`] offers message-driven programs.
pub trait Chares {
    /// Makes a chare that is in no array, on whatever worker; it can be sent messages at once.
    fn chare<T: Chare>(&self, make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static) -> T::One;

    /// Makes an array of this shape, whose elements are dealt to the workers in blocks; each worker makes its own.
    ///
    /// # Panics
    /// When the shape has 2³¹ places or more.
    fn array<T: Chare<Index: Index>>(
        &self,
        shape: <T::Index as Index>::Shape,
        make: impl Fn(T::Index) -> T + Send + Sync + 'static,
    ) -> Array<T>;

    /// Makes an array with options.
    ///
    /// # Panics
    /// As [`array`](Self::array), and when an option names a worker that there is not.
    fn array_with<T: Chare<Index: Index>>(
        &self,
        options: ArrayOptions<T::Index>,
        make: impl Fn(T::Index) -> T + Send + Sync + 'static,
    ) -> Array<T>;

    /// Makes an array without a shape, empty: elements are inserted by any key.
    fn sparse_array<T: Chare>(&self) -> Array<T>;

    /// Makes a group: an element for each worker, which stays there.
    fn group<T: Chare<Index = usize>>(
        &self,
        make: impl Fn(usize) -> T + Send + Sync + 'static,
    ) -> Group<T>;

    /// Makes a node group: an element for each node, whose entries run on whatever worker of the node has time, one at a time.
    fn node_group<T: Chare>(
        &self,
        make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static,
    ) -> NodeGroup<T>;

    /// Waits until an entry says that the program is at its end, with [`Cx::exit`]; at once if one has.
    ///
    /// # Panics
    /// On a worker, and with the [`Failure`](crate::Failure) of a chare, if one has failed, be it that an entry has said so as well.
    fn until_exit(&self);

    /// Says what waits, and for what: asynchronous entries, messages for elements that are to come, reductions that lack contributions.
    ///
    /// For who wonders why a program stands still: each line is what one worker knew when it was asked.
    fn who_waits(&self) -> Vec<String>;

    /// Comes when no message is under way and no entry runs.
    ///
    /// Asynchronous entries that wait for what nobody has sent are quiet. If anything has failed before, that comes instead
    /// ([`Failure`](crate::Failure)).
    fn quiescence(&self) -> Reply<()>;
}

impl Chares for Runtime {
    fn chare<T: Chare>(&self, make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static) -> T::One {
        T::One::from(System::of(self).sow(make))
    }

    fn array<T: Chare<Index: Index>>(
        &self,
        shape: <T::Index as Index>::Shape,
        make: impl Fn(T::Index) -> T + Send + Sync + 'static,
    ) -> Array<T> {
        self.array_with(ArrayOptions::new(shape), make)
    }

    fn array_with<T: Chare<Index: Index>>(
        &self,
        options: ArrayOptions<T::Index>,
        make: impl Fn(T::Index) -> T + Send + Sync + 'static,
    ) -> Array<T> {
        make_array(&System::of(self), options, make)
    }

    fn sparse_array<T: Chare>(&self) -> Array<T> {
        make_sparse(&System::of(self))
    }

    fn group<T: Chare<Index = usize>>(
        &self,
        make: impl Fn(usize) -> T + Send + Sync + 'static,
    ) -> Group<T> {
        let options = ArrayOptions::new(self.worker_count())
            .placed(|worker| worker)
            .staying();
        Group::new(self.array_with(options, make))
    }

    fn node_group<T: Chare>(
        &self,
        make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static,
    ) -> NodeGroup<T> {
        make_node_group(&System::of(self), make)
    }

    #[track_caller]
    fn until_exit(&self) {
        let system = System::of(self);
        assert!(
            !local::is_here(system.id),
            "a worker waits for the end of the program, and could be the one to bring it about"
        );
        if let Err(failure) = system.wait_for_exit() {
            panic!("{failure}");
        }
    }

    fn who_waits(&self) -> Vec<String> {
        let system = System::of(self);
        let what = What {
            chare: "Runtime",
            entry: "who_waits",
        };
        let ask = |worker| {
            let (replier, answer) = reply(system.id, None, what);
            system.post_from_here(worker, move |local| replier.give(Ok(local.waits())));
            answer
        };
        let answers: Vec<_> = (0..self.worker_count()).map(ask).collect();
        answers.into_iter().flat_map(Reply::wait).collect()
    }

    fn quiescence(&self) -> Reply<()> {
        quiescence(&System::of(self))
    }
}

/// Comes when all is quiet.
pub(crate) fn quiescence(system: &System) -> Reply<()> {
    let what = What {
        chare: "Runtime",
        entry: "quiescence",
    };
    let (replier, reply) = reply(system.id, None, what);
    system.quiet.tell_when_quiet(system, replier);
    reply
}
