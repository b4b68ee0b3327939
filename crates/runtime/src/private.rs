//! Variables with one value per worker: [`Private`] in thread-local storage, [`PrivateArray`] in an
//! array.
//!
//! In an array, workers push each other's values out of their caches. The study therefore replaced
//! the array by thread-local storage. This crate has both, so that the difference can be measured.
//!
//! # Source
//! Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime system for multicore clusters. 2010,
//! sect. 3.3.

mod array;

use std::fmt;

use raddle_sync::per_thread::PerThread;

pub use array::PrivateArray;
pub use raddle_sync::per_thread::ValueInUse;

/// A variable with one value per worker. A worker's value is created when the worker first uses it.
///
/// An access costs about as much as that of a thread-local variable, as long as at most 255 such
/// variables exist: no lock, no atomic operation, no cache line that another thread writes. Every
/// thread has its own value, including threads that are not workers and compensating threads. The
/// values belong to the variable: they outlive their threads, are returned by
/// [`into_values`](Self::into_values), and are dropped with the variable. A thread can use the
/// variable as long as the thread runs, even in the destructors of its thread-local variables.
///
/// The values of other threads cannot be read while these threads use the variable. A
/// [`Post`](crate::Post) can ask each worker for its own value. For numbers that are read at any
/// time, use [`PrivateArray`].
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
/// A variable for the whole run of the program, with a value that depends on the worker:
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
    /// Creates a variable without values. `make` creates each value, on the thread that uses it.
    pub fn new(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self {
            values: PerThread::new(),
            make: Box::new(make),
        }
    }

    /// Calls `change` with the current thread's value. Creates the value first if necessary.
    ///
    /// `change` should not fork, spawn or wait: this worker may then run other work, which must not
    /// use the same variable. `change` may use other variables.
    ///
    /// # Panics
    /// If `change`, or the call that creates the value, uses the variable again; with the panics of
    /// both. In a destructor of a thread-local variable, where a panic ends the process, use
    /// [`try_with`](Self::try_with).
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        match self.try_with(change) {
            Ok(result) => result,
            Err(in_use) => refuse(in_use),
        }
    }

    /// Does what [`with`](Self::with) does, but returns an error instead of a panic if the value is
    /// in use.
    ///
    /// # Errors
    /// [`ValueInUse`] if `change`, or the call that creates the value, uses the variable again. The
    /// inner use gets the error and does nothing.
    ///
    /// # Panics
    /// With the panics of `change` and of the call that creates the value.
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

    /// Returns the values of all threads that have used the variable, in the order of their first
    /// uses.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.values_mut()
    }

    /// Consumes the variable and returns the values themselves, in the order of
    /// [`values_mut`](Self::values_mut).
    pub fn into_values(self) -> impl Iterator<Item = T> {
        self.values.into_values()
    }
}

#[cold]
#[track_caller]
fn refuse(in_use: ValueInUse) -> ! {
    panic!("{in_use}");
}
