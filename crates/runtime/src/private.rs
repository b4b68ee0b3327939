//! Variables of which every worker has a value of its own: [`Private`] in thread-local storage, [`PrivateArray`] in an array.
//!
//! The study replaced the array, in which workers push each other's values out of their caches, by thread-local storage. Both are here, so
//! that the difference can be measured.
//!
//! # Source
//! Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime system for multicore clusters. 2010, sect. 3.3.

mod array;

use std::fmt;

use raddle_sync::per_thread::PerThread;

pub use array::PrivateArray;
pub use raddle_sync::per_thread::ValueInUse;

/// A variable of which every worker has a value of its own, made when that worker first uses it.
///
/// A use costs about as much as that of a thread-local variable, as long as at most 255 such
/// variables live: no lock, no atomic, no cache line that another thread writes. Every thread has a
/// value of its own, also threads that are no workers, and workers that stand in for others that
/// wait. The values belong to the variable: they outlive their threads, come back with
/// [`into_values`](Self::into_values), and are dropped with it. A thread can use the variable as
/// long as it runs, in the destructors of its thread-local variables as well.
///
/// While other threads use the variable their values cannot be read; a [`Post`](crate::Post) can ask each worker for its own. For
/// numbers that are read at any time there is [`PrivateArray`].
///
/// # Examples
/// Counting without a shared counter:
/// ```
/// use raddle_runtime::Private;
///
/// let even = Private::new(|| 0);
/// raddle_runtime::for_each(0..1_000, |number| {
///     if number % 2 == 0 {
///         even.with(|count| *count += 1);
///     }
/// });
/// assert_eq!(even.into_values().sum::<i32>(), 500);
/// ```
/// For the life of the program, with a value that depends on the worker:
/// ```
/// use std::sync::LazyLock;
/// use raddle_runtime::{Private, Runtime, worker_index};
///
/// static NAME: LazyLock<Private<String>> =
///     LazyLock::new(|| Private::new(|| format!("worker {:?}", worker_index())));
///
/// let runtime = Runtime::builder().workers(1).build()?;
/// let name = runtime.install(|| NAME.with(|name| name.clone()));
/// assert_eq!(name, "worker Some(0)");
/// # Ok::<(), raddle_runtime::BuildError>(())
/// ```
/// # Source
/// The processor-private variables (`Cpv`) of Charm++, in thread-local storage.
pub struct Private<T> {
    values: PerThread<T>,
    make: Box<dyn Fn() -> T + Send + Sync>,
}

impl<T> fmt::Debug for Private<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Private").finish_non_exhaustive()
    }
}

impl<T: Default + 'static> Default for Private<T> {
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T> Private<T> {
    /// A variable of which nobody has a value yet; `make` makes each, on the worker that it is for.
    pub fn new(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self {
            values: PerThread::new(),
            make: Box::new(make),
        }
    }

    /// Calls `change` with the calling thread's value, making that first if need be.
    ///
    /// `change` should not fork, spawn or wait: other work, which this worker may run meanwhile, must not use the same variable. It
    /// may use other variables.
    ///
    /// # Panics
    /// When `change`, or the call that makes the value, uses the variable again; and with their panics. In a destructor of a
    /// thread-local variable, where a panic ends the process, [`try_with`](Self::try_with) is better.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        match self.try_with(change) {
            Ok(result) => result,
            Err(in_use) => refuse(in_use),
        }
    }

    /// As [`with`](Self::with), with an error instead of a panic when the value is in use.
    ///
    /// # Errors
    /// [`ValueInUse`] when `change`, or the call that makes the value, uses the variable again: for the inner use, which
    /// does nothing.
    ///
    /// # Panics
    /// With the panics of `change` and of the call that makes the value.
    ///
    /// # Examples
    /// ```
    /// use raddle_runtime::{Private, ValueInUse};
    ///
    /// let count = Private::new(|| 0);
    /// let nested = count.with(|_| count.try_with(|inner| *inner += 1));
    /// assert_eq!(nested, Err(ValueInUse));
    /// ```
    #[inline]
    pub fn try_with<R>(&self, change: impl FnOnce(&mut T) -> R) -> Result<R, ValueInUse> {
        self.values.try_with(&self.make, change)
    }

    /// The values of all threads that have used the variable, in the order of their first uses.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.values_mut()
    }

    /// As [`values_mut`](Self::values_mut), with the values themselves.
    pub fn into_values(self) -> impl Iterator<Item = T> {
        self.values.into_values()
    }
}

#[cold]
#[track_caller]
fn refuse(in_use: ValueInUse) -> ! {
    panic!("{in_use}");
}
