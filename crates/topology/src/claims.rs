//! Who has bound workers to which CPUs: claims that all processes of a machine see.
//!
//! Two processes that both bind themselves to the first cores share them while others stand idle, and no plan that
//! looks at one process alone can know. So whoever binds a worker claims its CPU, and whoever plans by
//! [`Affinity::Auto`](crate::Affinity::Auto) leaves out what is claimed.
//!
//! # What a claim is
//! An abstract Unix datagram socket by the name of the CPU, `raddle/cpu/3`, shut down for reading: nothing can be sent to
//! it. Binding the name is the claim, and the kernel gives it to one process only. To look without claiming is to try to
//! connect: nobody there is refused.
//!
//! | asked for | how it is met | what else was weighed |
//! |---|---|---|
//! | survives a crash | the kernel closes the sockets of a process that ends in whatever way | lock files would need `flock`; pid files lie |
//! | leaves nothing | an abstract name is in no file system | files under `/run` or `/dev/shm` stay, and belong to a user |
//! | between users | anybody may look at any name | files need a folder that all may write to; a reader of masks in `/proc` sees nothing with `hidepid` |
//! | no race | two cannot bind one name | masks in `/proc` are read before they are set |
//! | cannot block | bind and connect of a datagram socket answer at once; some 2 µs each | a lock can be waited for |
//! | no daemon | names are the kernel's | |
//!
//! # What it does not see
//! Names belong to a network namespace: containers with a network of their own do not see each other's claims, nor
//! do files, masks or signals reach from one to the next. They are kept apart by their CPU sets, or share by their quota; with a
//! quota in a container, `auto` binds nobody (see [`Others::sees_everybody`]). Programs that are not Raddle's make no
//! claims. A claim is advice: whoever holds a name without using the CPU keeps others from binding workers there, and no
//! more than that. A child made by `fork` without `exec` keeps its parent's claims until it ends too.

mod own;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;

#[cfg(target_os = "linux")]
use std::net::Shutdown;
#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt;
#[cfg(target_os = "linux")]
use std::os::unix::net::{SocketAddr, UnixDatagram};

use crate::cpu_set::{CpuId, CpuSet};

/// The inode of the first namespace of processes: `PROC_PID_INIT_INO` in Linux's `include/linux/proc_ns.h`.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// A group of processes that see each other's claims.
///
/// # Examples
/// ```
/// use raddle_topology::{Claims, CpuId, CpuSet};
/// // A name of its own, so that this example sees nobody.
/// let claims = Claims::in_group(format!("example-{}", std::process::id()));
/// let claim = claims.claim(CpuId(3));
/// let all: CpuSet = [CpuId(3), CpuId(4)].into_iter().collect();
/// if cfg!(target_os = "linux") {
///     assert!(claim.is_ok());
///     assert!(claims.claim(CpuId(3)).is_err());
///     assert_eq!(claims.others(&all).runtimes.to_string(), "3");
/// }
/// drop(claim);
/// assert!(claims.others(&all).runtimes.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    group: String,
}

/// Who else has claimed CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Others {
    /// CPUs that other processes have claimed.
    pub processes: CpuSet,
    /// CPUs that this process has claimed already, for other runtimes.
    pub runtimes: CpuSet,
    /// How many workers of other processes of this program come before: they have the first places of a list, and of [`Affinity::Compact`](crate::Affinity::Compact) and
    /// [`Affinity::Scatter`](crate::Affinity::Scatter).
    pub before: usize,
    /// False in a container, which shares CPUs with processes that it cannot see.
    pub sees_everybody: bool,
    /// Why it cannot be told, or is not told to others; usually nothing.
    pub note: Option<String>,
}

/// A CPU that is claimed as long as this lives.
#[derive(Debug)]
pub struct Claim {
    group: String,
    cpu: CpuId,
    /// Nothing once the name is given back.
    #[cfg(target_os = "linux")]
    socket: Option<UnixDatagram>,
}

/// A CPU could not be claimed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// Somebody else has it.
    #[error("CPU {cpu} is claimed already")]
    Taken {
        /// The CPU.
        cpu: CpuId,
    },
    /// The system lets nobody claim anything.
    #[error("CPU {cpu} cannot be claimed: {reason}")]
    Refused {
        /// The CPU.
        cpu: CpuId,
        /// The system's reason.
        reason: io::Error,
    },
}

impl Default for Claims {
    /// The group of all processes that do not ask for another.
    fn default() -> Self {
        Self::in_group("raddle")
    }
}

impl Claims {
    /// The most bytes of a group's name: with what stands behind it, it is the name of a socket.
    pub const GROUP_LEN_MAX: usize = 64;

    /// A group by name; what is beyond [`GROUP_LEN_MAX`](Self::GROUP_LEN_MAX) bytes of it is cut.
    pub fn in_group(group: impl Into<String>) -> Self {
        let mut group = group.into();
        let length = (0..=Self::GROUP_LEN_MAX.min(group.len()))
            .rfind(|&at| group.is_char_boundary(at))
            .unwrap_or(0);
        group.truncate(length);
        Self { group }
    }

    /// Claims a CPU; it is given back when the claim is dropped, or this process ends in whatever way.
    ///
    /// # Errors
    /// [`ClaimError::Taken`] when somebody has it, be it this process; [`ClaimError::Refused`] when the system allows no claims: no
    /// permission, no more files, no abstract names.
    #[cfg(target_os = "linux")]
    pub fn claim(&self, cpu: CpuId) -> Result<Claim, ClaimError> {
        let refused = |reason| ClaimError::Refused { cpu, reason };
        let name = self.address(cpu).map_err(refused)?;
        let mut socket = None;
        let is_taken =
            own::without_children(&self.group, cpu, || match UnixDatagram::bind_addr(&name) {
                Ok(bound) => {
                    socket = Some(bound);
                    Ok(false)
                }
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(true),
                Err(reason) => Err(refused(reason)),
            });
        if is_taken? {
            return Err(ClaimError::Taken { cpu });
        }
        if let Some(socket) = &socket {
            // What cannot be shut down still says whose the CPU is.
            let _ = socket.shutdown(Shutdown::Read);
        }
        own::take(&self.group, cpu);
        let group = self.group.clone();
        Ok(Claim { group, cpu, socket })
    }

    /// Claims nothing: this system has no names that end with their process.
    ///
    /// # Errors
    /// [`ClaimError::Refused`], always.
    #[cfg(not(target_os = "linux"))]
    pub fn claim(&self, cpu: CpuId) -> Result<Claim, ClaimError> {
        Err(ClaimError::Refused {
            cpu,
            reason: io::ErrorKind::Unsupported.into(),
        })
    }

    /// Looks which of `cpus` are claimed, without claiming any. Cost: some 2 µs for each.
    #[must_use]
    pub fn others(&self, cpus: &CpuSet) -> Others {
        let mut others = Others {
            processes: CpuSet::new(),
            runtimes: own::held(&self.group),
            before: 0,
            sees_everybody: sees_everybody(),
            note: None,
        };
        for cpu in cpus
            .iter()
            .filter(|&cpu| !others.runtimes.contains(cpu))
            .collect::<Vec<_>>()
        {
            match own::without_children(&self.group, cpu, || self.is_claimed(cpu)) {
                Ok(false) => {}
                Ok(true) => {
                    others.processes.insert(cpu);
                }
                Err(reason) => {
                    others.note = Some(format!("CPUs of other processes cannot be seen: {reason}"));
                    break;
                }
            }
        }
        others
    }

    #[cfg(target_os = "linux")]
    fn is_claimed(&self, cpu: CpuId) -> io::Result<bool> {
        let name = self.address(cpu)?;
        match UnixDatagram::unbound()?.connect_addr(&name) {
            Ok(()) => Ok(true),
            Err(error) => match error.kind() {
                io::ErrorKind::ConnectionRefused => Ok(false),
                // A security module keeps us from whoever is there: somebody is.
                io::ErrorKind::PermissionDenied => Ok(true),
                _ => Err(error),
            },
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn is_claimed(&self, _cpu: CpuId) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[cfg(target_os = "linux")]
    fn address(&self, cpu: CpuId) -> io::Result<SocketAddr> {
        SocketAddr::from_abstract_name(format!("{}/cpu/{cpu}", self.group))
    }
}

impl Others {
    /// Nobody else.
    #[must_use]
    pub const fn nobody() -> Self {
        Self {
            processes: CpuSet::new(),
            runtimes: CpuSet::new(),
            before: 0,
            sees_everybody: true,
            note: None,
        }
    }

    /// True when somebody else has claimed the CPU.
    #[must_use]
    pub fn have(&self, cpu: CpuId) -> bool {
        self.processes.contains(cpu) || self.runtimes.contains(cpu)
    }
}

impl Claim {
    /// The CPU.
    #[must_use]
    pub const fn cpu(&self) -> CpuId {
        self.cpu
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        drop(self.socket.take());
        own::give_back(&self.group, self.cpu);
    }
}

/// True where all processes of the machine are in this process's namespace, or nobody can tell.
fn sees_everybody() -> bool {
    fs::read_link("/proc/self/ns/pid").map_or(true, |name| name.as_os_str() == FIRST_PID_NAMESPACE)
}
