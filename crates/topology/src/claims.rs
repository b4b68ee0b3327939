//! Claims: a record, visible to all processes of a machine, of the CPUs that have bound workers.
//!
//! If two processes both bind workers to the first cores, they share these cores while others are
//! idle. A plan that considers one process alone cannot avoid this. So a runtime that binds a
//! worker claims the worker's CPU, and a plan by [`Affinity::Auto`](crate::Affinity::Auto) leaves
//! out the claimed CPUs.
//!
//! # Implementation
//! A claim is an abstract Unix datagram socket. Its name contains the user and the CPU:
//! `raddle/1000/cpu/3`. The socket is shut down for reading, so nothing can be sent to it. Binding
//! the name makes the claim, and the kernel lets only one process bind it. To check a CPU without
//! claiming it, a process tries to connect: the connection is refused if the name is not bound.
//!
//! # Other users
//! Only claims of the same user count, because another user must not be able to block CPUs. Any
//! process can bind any name. So a bound name counts as a claim only if a process of this user has
//! the socket, which the module `owner` finds out from `/proc`. If another user has bound a name,
//! the CPU is used regardless, but other processes of this user cannot see that it is used.
//!
//! # Requirements
//! - **A claim does not outlive its process.** The kernel closes the sockets of a process, however
//!   it ends. The alternatives are worse: lock files would need `flock`, and pid files can be
//!   stale.
//! - **Nothing is left behind.** An abstract name is not in a file system. Files under `/run` or
//!   `/dev/shm` would remain, and belong to a user.
//! - **Users do not affect each other.** Names contain the user, and `owner` detects impostors. The
//!   kernel reports the user of a listening socket, but every check would stay in its queue.
//! - **No races.** Two processes cannot bind one name. Affinity masks in `/proc`, in contrast,
//!   would be read before they are set.
//! - **No blocking.** Bind and connect of a datagram socket return at once, after about 2 µs each.
//!   A lock might have to be waited for.
//! - **No daemon.** The kernel manages the names.
//!
//! # Limits
//! Names belong to a network namespace. So containers with their own network do not see each
//! other's claims, and neither files, masks nor signals cross between them. Such containers are
//! separated by their CPU sets, or share CPUs within their quotas. In a container with a quota,
//! `auto` binds no worker (see [`Others::sees_all_processes`]). Programs other than Raddle's make
//! no claims. A claim is advice: a process that has a name without using the CPU merely keeps
//! others from binding workers there. A child made by `fork` without `exec` keeps the claims of its
//! parent until the child ends too.

mod own;
#[cfg(target_os = "linux")]
mod owner;
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
#[cfg(target_os = "linux")]
use std::path::Path;

use crate::cpu_set::{CpuId, CpuSet};

/// The link target of the initial PID namespace. Its inode is `PROC_PID_INIT_INO` in Linux's
/// `include/linux/proc_ns.h`.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// A group of processes that see each other's claims.
///
/// # Examples
/// ```
/// use raddle_topology::{Claims, CpuId, CpuSet};
/// // A group of its own, so that this example sees no other process.
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
    /// The effective user id of the processes.
    user: u32,
}

/// The claims of other processes and runtimes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Others {
    /// CPUs that other processes of this user have claimed.
    pub processes: CpuSet,
    /// CPUs that this process has already claimed, for other runtimes.
    pub runtimes: CpuSet,
    /// The number of workers that precede these in other processes of the same program. They take
    /// the first entries of an explicit list, of [`Affinity::Compact`](crate::Affinity::Compact)
    /// and of [`Affinity::Scatter`](crate::Affinity::Scatter).
    pub before: usize,
    /// True if this process can see all processes of the machine. False in a container, which
    /// shares CPUs with processes that it cannot see.
    pub sees_all_processes: bool,
    /// The reason why the claims of other processes are unknown, why claims are not visible to
    /// others, or why some claims are ignored. Usually `None`.
    pub note: Option<String>,
}

/// A CPU that stays claimed until this value is dropped.
#[derive(Debug)]
pub struct Claim {
    scope: String,
    cpu: CpuId,
    /// The socket that has the name. `None` once the name is given back, and if another user has
    /// bound the name.
    #[cfg(target_os = "linux")]
    socket: Option<UnixDatagram>,
}

/// The error of a CPU that could not be claimed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// The CPU is already claimed.
    #[error("CPU {cpu} is already claimed")]
    Taken {
        /// The requested CPU.
        cpu: CpuId,
    },
    /// The system does not allow claims.
    #[error("CPU {cpu} cannot be claimed: {reason}")]
    Refused {
        /// The requested CPU.
        cpu: CpuId,
        /// The system's reason.
        reason: io::Error,
    },
}

impl Default for Claims {
    /// Returns the group of all processes that do not choose another group.
    fn default() -> Self {
        Self::in_group("raddle")
    }
}

impl Claims {
    /// The maximum length of a group name in bytes: the name and its suffix must fit into the name
    /// of a socket.
    pub const GROUP_LEN_MAX: usize = 64;

    /// Creates a handle to the processes of this user in the named group.
    ///
    /// A name longer than [`GROUP_LEN_MAX`](Self::GROUP_LEN_MAX) bytes is cut at a character
    /// boundary.
    pub fn in_group(group: impl Into<String>) -> Self {
        let mut group = group.into();
        let length = (0..=Self::GROUP_LEN_MAX.min(group.len()))
            .rfind(|&at| group.is_char_boundary(at))
            .unwrap_or(0);
        group.truncate(length);
        Self {
            group,
            user: this_user(),
        }
    }

    /// Claims a CPU until the claim is dropped or this process ends, for whatever reason.
    ///
    /// # Errors
    /// [`ClaimError::Taken`] if the CPU is already claimed, possibly by this process.
    /// [`ClaimError::Refused`] if the system allows no claims, because of missing permission, too
    /// many open files, or no support for abstract names.
    #[cfg(target_os = "linux")]
    pub fn claim(&self, cpu: CpuId) -> Result<Claim, ClaimError> {
        let refused = |reason| ClaimError::Refused { cpu, reason };
        let name = self.address(cpu).map_err(refused)?;
        let scope = self.scope();
        let mut socket = None;
        let is_taken =
            own::without_children(&scope, cpu, || match UnixDatagram::bind_addr(&name) {
                Ok(bound) => {
                    socket = Some(bound);
                    Ok(false)
                }
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                    Ok(!self.of_this_user(&[cpu]).is_empty())
                }
                Err(reason) => Err(refused(reason)),
            });
        // If another user has the name, only the list of this process separates its runtimes.
        if is_taken? || !own::take(&scope, cpu) {
            return Err(ClaimError::Taken { cpu });
        }
        if let Some(socket) = &socket {
            // The claim holds even if the socket cannot be shut down.
            let _ = socket.shutdown(Shutdown::Read);
        }
        Ok(Claim { scope, cpu, socket })
    }

    /// Refuses the claim, because this system has no names that end with their process.
    ///
    /// # Errors
    /// Always [`ClaimError::Refused`].
    #[cfg(not(target_os = "linux"))]
    pub fn claim(&self, cpu: CpuId) -> Result<Claim, ClaimError> {
        Err(ClaimError::Refused {
            cpu,
            reason: io::ErrorKind::Unsupported.into(),
        })
    }

    /// Returns the claims on `cpus`, without claiming any.
    ///
    /// Takes about 2 µs per CPU. If other processes have claims, it also reads the list of open
    /// files of all processes of this user.
    #[must_use]
    pub fn others(&self, cpus: &CpuSet) -> Others {
        let scope = self.scope();
        let mut in_use = Vec::new();
        let mut others = Others {
            processes: CpuSet::new(),
            runtimes: own::held(&scope),
            before: 0,
            sees_all_processes: sees_all_processes(),
            note: None,
        };
        for cpu in cpus
            .iter()
            .filter(|&cpu| !others.runtimes.contains(cpu))
            .collect::<Vec<_>>()
        {
            match own::without_children(&scope, cpu, || self.is_in_use(cpu)) {
                Ok(false) => {}
                Ok(true) => in_use.push(cpu),
                Err(reason) => {
                    let note = format!("the claims of other processes cannot be read: {reason}");
                    others.note = Some(note);
                    break;
                }
            }
        }
        others.processes = self.of_this_user(&in_use);
        // The remaining names were bound by other users, so they do not count.
        let foreign = in_use.iter().copied();
        let foreign: CpuSet = foreign
            .filter(|&cpu| !others.processes.contains(cpu))
            .collect();
        if !foreign.is_empty() {
            let note = format!("claims of another user on CPUs {foreign} are ignored");
            others.note.get_or_insert(note);
        }
        others
    }

    /// Returns the prefix of the names of this group and user.
    fn scope(&self) -> String {
        format!("{}/{}", self.group, self.user)
    }

    /// Returns the members of `cpus` that processes of this user have claimed.
    ///
    /// The names of all `cpus` must be in use.
    #[cfg(target_os = "linux")]
    fn of_this_user(&self, cpus: &[CpuId]) -> CpuSet {
        if cpus.is_empty() {
            return CpuSet::new();
        }
        let names: Vec<_> = cpus.iter().map(|&cpu| (cpu, self.name(cpu))).collect();
        // If the owners are unknown, every name counts as a claim.
        owner::bound_by(Path::new("/"), self.user, &names)
            .unwrap_or_else(|_| cpus.iter().copied().collect())
    }

    #[cfg(not(target_os = "linux"))]
    fn of_this_user(&self, cpus: &[CpuId]) -> CpuSet {
        cpus.iter().copied().collect()
    }

    #[cfg(target_os = "linux")]
    fn is_in_use(&self, cpu: CpuId) -> io::Result<bool> {
        let name = self.address(cpu)?;
        match UnixDatagram::unbound()?.connect_addr(&name) {
            Ok(()) => Ok(true),
            Err(error) => match error.kind() {
                io::ErrorKind::ConnectionRefused => Ok(false),
                // A security module forbids the connection, so the name is bound.
                io::ErrorKind::PermissionDenied => Ok(true),
                _ => Err(error),
            },
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn is_in_use(&self, _cpu: CpuId) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[cfg(target_os = "linux")]
    fn address(&self, cpu: CpuId) -> io::Result<SocketAddr> {
        SocketAddr::from_abstract_name(self.name(cpu))
    }

    #[cfg(target_os = "linux")]
    fn name(&self, cpu: CpuId) -> String {
        format!("{}/cpu/{cpu}", self.scope())
    }
}

impl Others {
    /// Returns a value without any claims.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            processes: CpuSet::new(),
            runtimes: CpuSet::new(),
            before: 0,
            sees_all_processes: true,
            note: None,
        }
    }

    /// Returns true if another process or runtime has claimed the CPU.
    #[must_use]
    pub fn have(&self, cpu: CpuId) -> bool {
        self.processes.contains(cpu) || self.runtimes.contains(cpu)
    }
}

impl Claim {
    /// Returns the claimed CPU.
    #[must_use]
    pub const fn cpu(&self) -> CpuId {
        self.cpu
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        drop(self.socket.take());
        own::give_back(&self.scope, self.cpu);
    }
}

/// Returns the effective user id of this process.
#[cfg(target_os = "linux")]
fn this_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns the same number for all users, because there are no claims on this system.
#[cfg(not(target_os = "linux"))]
fn this_user() -> u32 {
    0
}

/// Returns true if this process is in the initial PID namespace, which contains all processes of
/// the machine, or if its namespace is unknown.
fn sees_all_processes() -> bool {
    fs::read_link("/proc/self/ns/pid").map_or(true, |name| name.as_os_str() == FIRST_PID_NAMESPACE)
}
