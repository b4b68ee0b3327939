//! Binds the calling thread to a CPU, and reads where it runs.
//!
//! When hwloc is asked to bind to the CPUs of another machine, it does nothing and returns success.
//! Here, such a request is an error. Binding to a CPU that the process may not use is an error as
//! well. The kernel would allow it if only an affinity mask excludes the CPU, but the mask was set
//! on purpose.

#[cfg(feature = "hwloc")]
use hwlocality::cpu::binding::CpuBindingFlags;
#[cfg(feature = "hwloc")]
use hwlocality::cpu::cpuset::CpuSet as HwlocSet;

use crate::cpu_set::{CpuId, CpuSet};
use crate::error::BindError;
#[cfg(feature = "hwloc")]
use crate::load::cpus_in;
use crate::topology::{Binder, Topology};

impl Topology {
    /// Binds the calling thread to one CPU, until its binding is changed again.
    ///
    /// # Errors
    /// [`BindError::NotThisMachine`], [`BindError::UnknownCpu`], [`BindError::NotAllowed`], and
    /// [`BindError::Refused`] if the operating system refuses.
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::Topology;
    /// let topology = Topology::this_machine()?;
    /// if let Some(cpu) = topology.allowed_cpus().next() {
    ///     topology.bind_this_thread(cpu.id)?;
    ///     assert_eq!(topology.this_thread_last_cpu()?, cpu.id);
    ///     topology.unbind_this_thread()?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bind_this_thread(&self, cpu: CpuId) -> Result<(), BindError> {
        self.check_binding(cpu)?;
        bind(self.binder_or_error()?, &CpuSet::from_iter([cpu]))
    }

    /// Checks whether threads may be bound to a CPU, without binding any.
    ///
    /// # Errors
    /// The errors of [`Topology::bind_this_thread`] except [`BindError::Refused`]: only an attempt
    /// to bind shows whether the operating system refuses.
    pub fn check_binding(&self, cpu: CpuId) -> Result<(), BindError> {
        self.binder_or_error()?;
        match self.cpu(cpu) {
            None => Err(BindError::UnknownCpu {
                cpu,
                existing: self.cpus().iter().map(|cpu| cpu.id).collect(),
            }),
            Some(known) if !known.allowed => Err(BindError::NotAllowed {
                cpu,
                allowed: self.allowed_set(),
            }),
            Some(_) => Ok(()),
        }
    }

    /// Lets the calling thread run on every CPU that the process may use.
    ///
    /// # Errors
    /// [`BindError::NotThisMachine`], and [`BindError::Refused`] if the operating system refuses.
    pub fn unbind_this_thread(&self) -> Result<(), BindError> {
        bind(self.binder_or_error()?, &self.allowed_set())
    }

    /// Returns the CPUs that the calling thread is bound to.
    ///
    /// # Errors
    /// Those of [`Topology::unbind_this_thread`].
    pub fn this_thread_cpus(&self) -> Result<CpuSet, BindError> {
        match self.binder_or_error()? {
            #[cfg(feature = "hwloc")]
            Binder::Hwloc(loaded) => {
                let set = loaded
                    .cpu_binding(CpuBindingFlags::THREAD)
                    .map_err(|error| refused(&error))?;
                Ok(cpus_in(loaded, &set))
            }
            Binder::Kernel => kernel::binding(),
        }
    }

    /// Returns the CPU that the calling thread ran on last.
    ///
    /// A thread that is not bound may have moved since.
    ///
    /// # Errors
    /// Those of [`Topology::unbind_this_thread`].
    pub fn this_thread_last_cpu(&self) -> Result<CpuId, BindError> {
        let last = match self.binder_or_error()? {
            #[cfg(feature = "hwloc")]
            Binder::Hwloc(loaded) => {
                let set = loaded
                    .last_cpu_location(CpuBindingFlags::THREAD)
                    .map_err(|error| refused(&error))?;
                cpus_in(loaded, &set).first()
            }
            Binder::Kernel => kernel::last_cpu(),
        };
        last.ok_or_else(|| BindError::Refused {
            reason: "it does not report the CPU of the thread".to_owned(),
        })
    }

    fn binder_or_error(&self) -> Result<&Binder, BindError> {
        self.binder().ok_or_else(|| BindError::NotThisMachine {
            topology: self.source().to_string(),
        })
    }
}

fn bind(binder: &Binder, cpus: &CpuSet) -> Result<(), BindError> {
    match binder {
        #[cfg(feature = "hwloc")]
        Binder::Hwloc(loaded) => {
            let mut set = HwlocSet::new();
            for cpu in cpus.iter() {
                set.set(cpu.index());
            }
            loaded
                .bind_cpu(&set, CpuBindingFlags::THREAD)
                .map_err(|error| refused(&error))
        }
        Binder::Kernel => kernel::bind(cpus),
    }
}

fn refused(error: &dyn std::error::Error) -> BindError {
    BindError::Refused {
        reason: error.to_string(),
    }
}

/// Binding by system calls, for a machine that was loaded without hwloc's search.
#[cfg(target_os = "linux")]
mod kernel {
    use rustix::thread::{CpuSet as Mask, sched_getaffinity, sched_getcpu, sched_setaffinity};

    use super::refused;
    use crate::cpu_set::{CpuId, CpuSet};
    use crate::error::BindError;

    pub(super) fn bind(cpus: &CpuSet) -> Result<(), BindError> {
        let mut mask = Mask::new();
        for cpu in cpus.iter() {
            if cpu.index() >= Mask::MAX_CPU {
                return Err(BindError::Refused {
                    reason: format!(
                        "only hwloc can bind to CPU {cpu}, and it did not load this machine"
                    ),
                });
            }
            mask.set(cpu.index());
        }
        sched_setaffinity(None, &mask).map_err(|error| refused(&error))
    }

    pub(super) fn binding() -> Result<CpuSet, BindError> {
        let mask = sched_getaffinity(None).map_err(|error| refused(&error))?;
        let numbers = (0..Mask::MAX_CPU).filter(|&number| mask.is_set(number));
        Ok(numbers.map(|number| CpuId(number as u32)).collect())
    }

    pub(super) fn last_cpu() -> Option<CpuId> {
        u32::try_from(sched_getcpu()).ok().map(CpuId)
    }
}

/// Binding without hwloc on other systems, which have no common system calls for it: refused.
#[cfg(not(target_os = "linux"))]
mod kernel {
    use crate::cpu_set::{CpuId, CpuSet};
    use crate::error::BindError;

    pub(super) fn bind(_cpus: &CpuSet) -> Result<(), BindError> {
        Err(BindError::Refused {
            reason: "only hwloc can bind threads on this system, and it did not load this machine"
                .to_owned(),
        })
    }

    pub(super) fn binding() -> Result<CpuSet, BindError> {
        bind(&CpuSet::new()).map(|()| CpuSet::new())
    }

    pub(super) fn last_cpu() -> Option<CpuId> {
        None
    }
}
