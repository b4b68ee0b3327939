//! A core that its threads share: all active threads run at the speed for their number.
//!
//! Since all threads are equally fast, the core keeps a single work clock: the work that an always
//! active thread has done since the start. A thread's work ends at a reading of that clock, however
//! often the speed changes meanwhile. The thread with the smallest reading ends next.

use super::moment::Moment;
use crate::units::{Nanoseconds, Speed};

/// The work clock of a core, and its speed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Core {
    /// The work of a thread that has always been active.
    work: Nanoseconds,
    /// The moment at which `work` was computed.
    at: Moment,
    /// The speed of the clock; 0 while the core runs another program.
    speed: Speed,
    /// The number of active threads: those that compute, access the network interface, or poll.
    active: u32,
    /// The handler is one of the active threads.
    has_handler: bool,
    /// The core runs another program.
    is_away: bool,
    /// The moment at which the next thread ends its work according to the event list, and the
    /// number of that event.
    pub(super) due: Option<Moment>,
    pub(super) turn: u32,
}

impl Core {
    pub(super) const fn new() -> Self {
        Self {
            work: Nanoseconds::ZERO,
            at: Moment::START,
            speed: Speed::ALONE,
            active: 0,
            has_handler: false,
            is_away: false,
            due: None,
            turn: 0,
        }
    }

    pub(super) const fn is_away(&self) -> bool {
        self.is_away
    }

    pub(super) const fn active(&self) -> u32 {
        self.active
    }

    /// Advances the clock to `now`, and adds the elapsed time to the occupancy.
    #[inline]
    pub(super) fn settle(&mut self, now: Moment, occupancy: &mut Occupied) {
        let passed = now.since(self.at).nanoseconds();
        if passed.0 > 0.0 {
            self.work += passed * self.speed.0;
            occupancy.add(self, passed);
            self.at = now;
        }
    }

    /// Returns the clock reading at which work that starts now ends.
    #[inline]
    pub(super) fn end_of(&self, work: Nanoseconds) -> Nanoseconds {
        self.work + work
    }

    /// Returns whether work that ends at a reading has ended, with a tolerance of a picosecond.
    #[inline]
    pub(super) fn has_ended(&self, end: Nanoseconds) -> bool {
        end.0 <= self.work.0 + 1e-3
    }

    /// Returns the moment at which the clock reaches a reading, or `None` while the core runs
    /// another program.
    #[inline]
    pub(super) fn when(&self, end: Nanoseconds) -> Option<Moment> {
        let left = end - self.work;
        (!self.is_away).then(|| self.at + Moment::after(left / self.speed))
    }

    /// Adds or removes an active thread. [`settle`](Self::settle) has to be called before.
    #[inline]
    pub(super) fn change(&mut self, joins: bool, is_handler: bool, speeds: &[Speed]) {
        if joins {
            self.active += 1;
        } else {
            self.active -= 1;
        }
        self.has_handler = match is_handler {
            true => joins,
            false => self.has_handler,
        };
        self.set_speed(speeds);
    }

    /// Switches the core to another program or back. [`settle`](Self::settle) has to be called
    /// before.
    pub(super) fn set_away(&mut self, is_away: bool, speeds: &[Speed]) {
        self.is_away = is_away;
        self.set_speed(speeds);
    }

    fn set_speed(&mut self, speeds: &[Speed]) {
        self.speed = match self.is_away {
            true => Speed(0.0),
            false => speeds[self.active as usize],
        };
    }
}

/// The time for each number of active threads, with and without the handler among them.
#[derive(Clone, Debug)]
pub(super) struct Occupied {
    /// Indexed by the number of threads besides the handler. Each entry has the time without the
    /// handler and the time with it.
    times: Vec<[Nanoseconds; 2]>,
    /// The time in which cores ran other programs.
    pub(super) away: Nanoseconds,
}

impl Occupied {
    pub(super) fn new(threads: u32) -> Self {
        Self {
            times: vec![[Nanoseconds::ZERO; 2]; threads as usize + 1],
            away: Nanoseconds::ZERO,
        }
    }

    #[inline]
    fn add(&mut self, core: &Core, time: Nanoseconds) {
        if core.is_away {
            self.away += time;
            return;
        }
        let handler = usize::from(core.has_handler);
        self.times[core.active as usize - handler][handler] += time;
    }

    /// Returns the times without the handler, and the times with it.
    pub(super) fn times(&self) -> (Vec<Nanoseconds>, Vec<Nanoseconds>) {
        let of = |which: usize| self.times.iter().map(|times| times[which]).collect();
        (of(0), of(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEEDS: [Speed; 3] = [Speed(1.0), Speed(1.0), Speed(0.5)];

    fn at(nanoseconds: u64) -> Moment {
        Moment::from_picoseconds(nanoseconds * 1_000)
    }

    #[test]
    fn work_takes_longer_beside_others() {
        let mut core = Core::new();
        let mut occupied = Occupied::new(2);
        core.change(true, false, &SPEEDS);
        let end = core.end_of(Nanoseconds(100.0));
        assert_eq!(core.when(end), Some(at(100)));
        core.settle(at(40), &mut occupied);
        core.change(true, true, &SPEEDS);
        assert_eq!(core.when(end), Some(at(160)), "60 ns at half the speed");
        core.settle(at(100), &mut occupied);
        core.set_away(true, &SPEEDS);
        assert_eq!(core.when(end), None);
        core.settle(at(110), &mut occupied);
        core.set_away(false, &SPEEDS);
        assert_eq!(core.when(end), Some(at(170)));
        core.settle(at(170), &mut occupied);
        assert!(core.has_ended(end));
        let (without, with) = occupied.times();
        assert_eq!(without[1], Nanoseconds(40.0));
        assert_eq!(with[1], Nanoseconds(120.0));
        assert_eq!(occupied.away, Nanoseconds(10.0));
    }
}
