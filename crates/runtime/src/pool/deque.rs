//! The deque pool: a lock-free deque per worker.
//!
//! Taking its newest task costs the owner one fence. A steal costs the thief one compare-and-swap.

use std::sync::Arc;

use raddle_sync::deque::{Owner, Steal, Thief, deque};

use super::outside::Outside;
use super::parts::Parts;
use super::victims::Victims;
use super::{Found, Look, Mark, Pool, Put, Seat, Setup, Wanted};
use crate::task::Task;

/// A deque per worker.
#[derive(Debug)]
pub(super) struct Deque {
    name: &'static str,
    shared: Arc<Shared>,
    setup: Setup,
}

#[derive(Debug)]
struct Shared {
    thieves: Parts<Thief<Task>, Owner<Task>>,
    outside: Arc<Outside>,
}

#[derive(Debug)]
struct DequeSeat {
    shared: Arc<Shared>,
    own: Owner<Task>,
    victims: Victims,
}

impl Deque {
    /// Creates the pool. `name` is the name of the only kind of this family.
    pub(super) fn build(name: &'static str, setup: &Setup) -> Box<dyn Pool> {
        let thieves = setup.parts(|| {
            let (owner, thief) = deque();
            (thief, owner)
        });
        Box::new(Self {
            name,
            shared: Arc::new(Shared {
                thieves,
                outside: Arc::clone(&setup.outside),
            }),
            setup: setup.clone(),
        })
    }
}

impl Pool for Deque {
    fn name(&self) -> &'static str {
        self.name
    }

    fn seat(&self, worker_index: usize) -> Box<dyn Seat> {
        let own = self.shared.thieves.take(worker_index);
        Box::new(DequeSeat {
            shared: Arc::clone(&self.shared),
            own,
            victims: self.setup.victims(worker_index),
        })
    }

    fn has_work(&self) -> bool {
        self.shared.thieves.iter().any(|thief| !thief.is_empty())
    }

    fn len_estimate(&self) -> Option<usize> {
        let thieves = self.shared.thieves.iter();
        Some(thieves.map(Thief::len_estimate).sum())
    }
}

impl Seat for DequeSeat {
    fn put(&self, task: Task) -> Put {
        self.own.push(task);
        Put::Shared
    }

    fn share(&self, task: Task) {
        self.own.push(task);
    }

    fn mark(&self) -> Mark {
        Mark(self.own.mark())
    }

    fn has_own(&self) -> bool {
        !self.own.is_empty()
    }

    fn get(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Found> {
        let own = match wanted {
            Wanted::Any => self.own.pop(),
            _ => {
                let accepts = |task: &Task| wanted.accepts(task);
                let picked = self.own.take_where(wanted.mark().0, accepts);
                look.hid |= picked.hid;
                picked.value
            }
        };
        if let Some(task) = own.or_else(|| self.shared.outside.take_oldest(wanted)) {
            return Some(Found {
                task,
                stolen_from: None,
            });
        }
        self.victims.iter().find_map(|victim| {
            look.steals_tried += 1;
            let task = self.steal(victim, wanted)?;
            Some(Found {
                task,
                stolen_from: Some(victim),
            })
        })
    }
}

impl DequeSeat {
    fn steal(&self, victim: usize, wanted: Wanted<'_>) -> Option<Task> {
        let thief = self.shared.thieves.get(victim)?;
        // This check is cheaper than the fence of a steal. A worker that is about to sleep has
        // executed a fence before it.
        if thief.is_empty() {
            return None;
        }
        loop {
            match thief.steal_if(|task| wanted.accepts(task)) {
                Steal::Taken(task) => return Some(task),
                Steal::Empty => return None,
                Steal::Lost => raddle_sync::prim::spin_loop(),
            }
        }
    }
}
