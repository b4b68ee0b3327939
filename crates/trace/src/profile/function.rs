//! The functions that profiles measure.

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

/// The number of functions that a process can tell apart. The number 0 is the thread itself; the
/// functions that come after the last number share it.
pub(super) const FUNCTIONS_MAX: usize = 64;

/// The purpose of a function, for sums over functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Activity {
    /// Work that the program would do on one thread, too.
    Compute,
    /// Sending, receiving, and waiting for an answer.
    Communicate,
    /// Waking threads and excluding them from data.
    Synchronise,
    /// Waiting for work: the imbalance.
    WaitForWork,
    /// Waiting for messages that need not come.
    Idle,
}

impl Activity {
    /// All activities.
    pub const ALL: [Self; 5] = [
        Self::Compute,
        Self::Communicate,
        Self::Synchronise,
        Self::WaitForWork,
        Self::Idle,
    ];

    /// Returns the name of this activity, in tables and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Communicate => "communicate",
            Self::Synchronise => "synchronise",
            Self::WaitForWork => "wait for work",
            Self::Idle => "idle",
        }
    }
}

impl fmt::Display for Activity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A function to be measured, or a part of one. It is a `static` of the code that calls it.
#[derive(Debug)]
pub struct Function {
    name: &'static str,
    activity: Activity,
    number: OnceLock<u8>,
}

/// The functions that have numbers, from 1 on.
static NUMBERED: Mutex<Vec<&'static Function>> = Mutex::new(Vec::new());

impl Function {
    /// Creates a function.
    #[must_use]
    pub const fn new(name: &'static str, activity: Activity) -> Self {
        Self {
            name,
            activity,
            number: OnceLock::new(),
        }
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the activity.
    #[must_use]
    pub const fn activity(&self) -> Activity {
        self.activity
    }

    /// Returns the number of the function, from 1 to [`FUNCTIONS_MAX`] − 1.
    #[inline(always)]
    pub(super) fn number(&'static self) -> usize {
        match self.number.get() {
            Some(number) => usize::from(*number),
            None => self.number_slow(),
        }
    }

    #[cold]
    fn number_slow(&'static self) -> usize {
        let number = self.number.get_or_init(|| {
            let mut numbered = NUMBERED.lock().unwrap_or_else(PoisonError::into_inner);
            if numbered.len() + 1 < FUNCTIONS_MAX {
                numbered.push(self);
            }
            // At most 63.
            numbered.len() as u8
        });
        usize::from(*number)
    }

    /// Returns the function with this number, if there is one.
    pub(super) fn of_number(number: usize) -> Option<&'static Self> {
        let numbered = NUMBERED.lock().unwrap_or_else(PoisonError::into_inner);
        numbered.get(number.checked_sub(1)?).copied()
    }
}
