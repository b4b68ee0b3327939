//! The tasks of a worker: it puts them into its front or the pool, and takes them from there.
//!
//! The fences that order the front and the sleepers are described in [`front`](super::front).

use raddle_sync::prim::light_fence;
use raddle_trace::record;

use super::Worker;
use crate::pool::{Look, Put, Wanted};
use crate::task::Task;

impl Worker {
    /// Keeps a task and wakes a worker for it if needed.
    #[inline]
    pub(crate) fn put(&self, task: Task) {
        let Some(front) = &self.front else {
            return self.put_into_pool(task);
        };
        front.put(task);
        // The partner is the heavy fence of a worker that goes to sleep.
        light_fence();
        if self.shared.idle().anyone_sleeps() || self.forks().gates().are_closed() {
            self.answer_from_front();
        }
    }

    /// Takes the newest task of the front that is wanted, and answers if a worker has asked. If
    /// none is wanted, makes all tasks public, because this worker may be about to wait.
    #[inline]
    pub(super) fn take_from_front(&self, wanted: &Wanted<'_>) -> Option<Task> {
        let front = self.front.as_ref().filter(|front| !front.is_empty())?;
        let task = front.take_newest(wanted);
        if task.is_none() {
            self.share_front(usize::MAX);
            self.announce_work();
        } else if self.forks().gates().are_closed() && !front.is_empty() {
            self.answer_from_front();
        }
        task
    }

    /// Makes a part of the front public, because other workers need work.
    #[cold]
    fn answer_from_front(&self) {
        let Some(front) = &self.front else { return };
        // A closed gate is a request; requests that come from now on are seen later.
        let askers = self.forks().open_gates();
        self.share_front(front.batch_len());
        self.announce_work();
        self.notify_askers(askers);
    }

    /// Makes up to `count` of the oldest tasks of the front public.
    pub(super) fn share_front(&self, count: usize) {
        let Some(front) = &self.front else { return };
        for _ in 0..count {
            match front.take_oldest() {
                Some(task) => self.seat.share(task),
                None => return,
            }
        }
    }

    /// Takes a task from the front of another worker, because there are no others.
    #[cold]
    pub(super) fn raid_fronts(&self, wanted: Wanted<'_>) -> Option<Task> {
        let present = self.shared.present();
        let mut victims = (1..present).map(|step| (self.index + step) % present);
        let raid = |victim| Some((victim, self.shared.fronts().raid(victim, wanted)?));
        let (victim, mut tasks) = victims.find_map(raid)?;
        let task = tasks.pop_front();
        let has_others = !tasks.is_empty();
        tasks.into_iter().for_each(|other| self.seat.share(other));
        if has_others {
            self.announce_work();
        }
        self.counters().steals_done.add(1);
        record::steal(victim);
        self.shared.traffic().takes(self.index, victim);
        task
    }

    /// Keeps a task in the pool and wakes a worker for it if needed.
    fn put_into_pool(&self, task: Task) {
        if self.seat.put(task) == Put::Private {
            // The partner is the heavy fence of a worker that goes to sleep, which looks at private
            // tasks after it.
            light_fence();
            if !self.shared.idle().anyone_sleeps() && !self.forks().gates().has_askers() {
                return;
            }
            self.seat.share_all();
        }
        self.announce_work();
    }

    /// Takes a wanted task.
    #[inline]
    pub(super) fn get(&self, wanted: Wanted<'_>) -> Option<Task> {
        self.get_with(wanted, Look::default())
    }

    /// Takes a task as [`get`](Self::get) does, including tasks that other workers keep private.
    /// For a worker that is about to sleep.
    pub(super) fn get_last(&self, wanted: Wanted<'_>) -> Option<Task> {
        let look = Look {
            is_last: true,
            ..Look::default()
        };
        self.get_with(wanted, look)
    }

    #[inline]
    fn get_with(&self, wanted: Wanted<'_>, look: Look) -> Option<Task> {
        match self.take_from_front(&wanted) {
            Some(task) => Some(task),
            None => self.get_from_pool(wanted, look),
        }
    }

    /// Takes a wanted task that is not in the front of this worker.
    fn get_from_pool(&self, wanted: Wanted<'_>, mut look: Look) -> Option<Task> {
        let found = self.seat.get(wanted, &mut look);
        if look.steals_tried > 0 {
            self.counters().steals_tried.add(look.steals_tried);
        }
        if look.hid {
            self.announce_work();
        }
        let Some(found) = found else {
            return look.is_last.then(|| self.raid_fronts(wanted)).flatten();
        };
        if let Some(victim) = found.stolen_from {
            self.counters().steals_done.add(1);
            record::steal(victim);
            self.shared.traffic().takes(self.index, victim);
            if self.front.is_some() {
                // The victim is to make further tasks public.
                self.shared.forks_of(victim).gates().close();
            }
        }
        Some(found.task)
    }
}
