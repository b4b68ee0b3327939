//! Who has bound workers to which CPUs: claims that all processes of a machine see.
//!
//! Two processes that both bind themselves to the first cores share them while others stand idle, and no plan that
//! looks at one process alone can know. So whoever binds a worker claims its CPU, and whoever plans by
//! [`Affinity::Auto`](crate::Affinity::Auto) leaves out what is claimed.
//!
//! # What a claim is
//! An abstract Unix datagram socket by the name of the user and the CPU, `raddle/1000/cpu/3`, shut
//! down for reading: nothing can be sent to it. Binding the name is the claim, and the kernel gives
//! it to one process only. To look without claiming is to try to connect: a name that is not bound
//! refuses.
//!
//! # Other users
//! Only claims of the same user count: another user must not be able to keep us from CPUs. Any
//! process can bind any name, so a name that is in use is a claim only if a process of our user has
//! its socket, as `owner` finds out in `/proc`. A name that another user has bound is passed over:
//! the CPU is used, and only other processes of ours do not see it.
//!
//! | asked for | how it is met | what else was weighed |
//! |---|---|---|
//! | survives a crash | the kernel closes the sockets of a process that ends in whatever way | lock files would need `flock`; pid files lie |
//! | leaves nothing | an abstract name is in no file system | files under `/run` or `/dev/shm` stay, and belong to a user |
//! | not between users | names have their user, and `owner` knows impostors | the kernel tells the user of a listening socket, but each look would stay in its queue |
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
    /// The number of the user whose processes these are.
    user: u32,
}

/// Who else has claimed CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Others {
    /// CPUs that other processes of this user have claimed.
    pub processes: CpuSet,
    /// CPUs that this process has claimed already, for other runtimes.
    pub runtimes: CpuSet,
    /// How many workers of other processes of this program come before: they have the first places of a list, and of [`Affinity::Compact`](crate::Affinity::Compact) and
    /// [`Affinity::Scatter`](crate::Affinity::Scatter).
    pub before: usize,
    /// False in a container, which shares CPUs with processes that it cannot see.
    pub sees_everybody: bool,
    /// Why it cannot be told, or is not told to others, or that claims do not count; usually
    /// nothing.
    pub note: Option<String>,
}

/// A CPU that is claimed as long as this lives.
#[derive(Debug)]
pub struct Claim {
    scope: String,
    cpu: CpuId,
    /// `None` once the name is given back, and where another user has bound the name.
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

    /// The processes of this user in a group by name; what is beyond
    /// [`GROUP_LEN_MAX`](Self::GROUP_LEN_MAX) bytes of it is cut.
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

    /// Claims a CPU; it is given back when the claim is dropped, or this process ends in whatever way.
    ///
    /// # Errors
    /// [`ClaimError::Taken`] when somebody has it, be it this process; [`ClaimError::Refused`] when the system allows no claims: no
    /// permission, no more files, no abstract names.
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
        // Where another user has the name, the list of this process alone tells its runtimes apart.
        if is_taken? || !own::take(&scope, cpu) {
            return Err(ClaimError::Taken { cpu });
        }
        if let Some(socket) = &socket {
            // What cannot be shut down still says whose the CPU is.
            let _ = socket.shutdown(Shutdown::Read);
        }
        Ok(Claim { scope, cpu, socket })
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

    /// Looks which of `cpus` are claimed, without claiming any.
    ///
    /// Cost: some 2 µs for each; where there are claims of other processes, in addition a look at
    /// all open files of this user's processes.
    #[must_use]
    pub fn others(&self, cpus: &CpuSet) -> Others {
        let scope = self.scope();
        let mut in_use = Vec::new();
        let mut others = Others {
            processes: CpuSet::new(),
            runtimes: own::held(&scope),
            before: 0,
            sees_everybody: sees_everybody(),
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
                    others.note = Some(format!("CPUs of other processes cannot be seen: {reason}"));
                    break;
                }
            }
        }
        others.processes = self.of_this_user(&in_use);
        let foreign = in_use.iter().copied();
        let foreign: CpuSet = foreign
            .filter(|&cpu| !others.processes.contains(cpu))
            .collect();
        if !foreign.is_empty() {
            let note = format!("claims of another user on {foreign} do not count");
            others.note.get_or_insert(note);
        }
        others
    }

    /// What tells the claims of this group and user from all others.
    fn scope(&self) -> String {
        format!("{}/{}", self.group, self.user)
    }

    /// Returns those of `cpus` whose names, which are in use, processes of this user have bound.
    #[cfg(target_os = "linux")]
    fn of_this_user(&self, cpus: &[CpuId]) -> CpuSet {
        if cpus.is_empty() {
            return CpuSet::new();
        }
        let names: Vec<_> = cpus.iter().map(|&cpu| (cpu, self.name(cpu))).collect();
        // Where the system does not tell, all that we can do is to believe the names.
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
                // A security module keeps us from whoever is there: somebody is.
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
        own::give_back(&self.scope, self.cpu);
    }
}

/// The number of the user for whom this process acts.
#[cfg(target_os = "linux")]
fn this_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// One for all: there are no claims.
#[cfg(not(target_os = "linux"))]
fn this_user() -> u32 {
    0
}

/// True where all processes of the machine are in this process's namespace, or nobody can tell.
fn sees_everybody() -> bool {
    fs::read_link("/proc/self/ns/pid").map_or(true, |name| name.as_os_str() == FIRST_PID_NAMESPACE)
}
