//! Loads a topology through hwloc and copies it.
//!
//! What a person wrote, a synthetic description or an XML file, is checked here before hwloc sees it:
//! hwloc answers "invalid argument" to everything that it does not understand, its XML parser writes to the standard
//! error stream, and a huge count would keep it for hours. After these checks hwloc is asked to load it
//! with the CPUs that the process may not use included, so that a picture can show them. Where
//! hwloc cannot be asked about this machine, `kernel` reads it.

mod convert;
mod kernel;
mod synthetic;
mod sysfs;
#[cfg(test)]
mod tests;
mod xml;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hwlocality::cpu::binding::CpuBindingFlags;
use hwlocality::object::types::ObjectType;
use hwlocality::topology::builder::{BuildFlags, TopologyBuilder, TypeFilter};

pub(crate) use self::convert::cpus_in;
use self::xml::XmlProblem;
use crate::cgroup::cpu_quota;
use crate::cpu_set::CpuSet;
use crate::error::TopologyError;
use crate::gzip;
use crate::topology::{Binder, Limits, Source, Topology};

/// The largest XML file that is read: hwloc's parser takes no more. The largest known one is below half a megabyte.
const XML_BYTES_MAX: u64 = 10_000_000;

impl Topology {
    /// Returns the topology of this machine, loaded on the first call and kept.
    ///
    /// What the process may use is found out then: call it before threads are bound. hwloc's
    /// environment variables, such as `HWLOC_SYNTHETIC`, put no other machine in its place: see
    /// [`Limits::notes`]. Cost: some milliseconds the first time, a load afterwards.
    ///
    /// # Errors
    /// [`TopologyError::ThisMachine`] when hwloc fails; the next call tries again.
    pub fn this_machine() -> Result<&'static Self, TopologyError> {
        static LOADED: OnceLock<Topology> = OnceLock::new();
        static LOADING: Mutex<()> = Mutex::new(());
        if let Some(topology) = LOADED.get() {
            return Ok(topology);
        }
        let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(topology) = LOADED.get() {
            return Ok(topology);
        }
        let topology = load_this_machine()?;
        Ok(LOADED.get_or_init(|| topology))
    }

    /// Makes the topology of an imagined machine, such as `"numa:2 core:4 pu:2"`.
    ///
    /// Each word is a kind of object and how many of them each object of the word before has; the last
    /// counts the CPUs. Caches are `l1`, `l2` and so on. hwloc's attributes work too: `l2:1(size=1048576)`. A
    /// machine that has no quota and no affinity: every CPU may be used. Threads cannot be bound to it.
    ///
    /// Sizes are bytes, or numbers with a unit of the SI or IEC: `[numa(memory=16GiB)]`.
    ///
    /// At most 5120 CPUs and 40,960 objects: hwloc's time grows with the cube of a machine that is wide and flat, and
    /// reaches some seconds at these limits.
    ///
    /// # Errors
    /// [`TopologyError::Synthetic`] with what stands in the description and what could have stood there;
    /// [`TopologyError::SyntheticRefused`] when hwloc refuses it all the same.
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::Topology;
    /// let topology = Topology::synthetic("package:2 l3:2 core:4 pu:2")?;
    /// assert_eq!((topology.package_count(), topology.core_count(), topology.cpu_count()), (2, 16, 32));
    /// assert!(!topology.is_this_machine());
    /// # Ok::<(), raddle_topology::TopologyError>(())
    /// ```
    pub fn synthetic(description: &str) -> Result<Self, TopologyError> {
        let wrong = |problem: synthetic::Problem| TopologyError::Synthetic {
            description: description.to_owned(),
            found: problem.found,
            expected: problem.expected,
        };
        let readable = synthetic::for_hwloc(description, knows_side_caches).map_err(wrong)?;
        let refused = |reason: String| TopologyError::SyntheticRefused {
            description: description.to_owned(),
            reason,
        };
        let loaded = builder()
            .and_then(|builder| {
                builder
                    .from_synthetic(&readable)
                    .map_err(|error| error.to_string())
            })
            .and_then(build)
            .map_err(refused)?;
        let limits = imagined_limits(&loaded);
        let source = Source::Synthetic(description.to_owned());
        Ok(assemble(&loaded, source, limits))
    }

    /// Loads the topology of another machine from an XML file that hwloc exported (`lstopo machine.xml`).
    ///
    /// The file may be of hwloc 1 or 2, and may be compressed by gzip. It says which CPUs may be
    /// used; there is no quota. Threads cannot be bound to it.
    ///
    /// # Errors
    /// [`TopologyError::ReadXml`] when the file cannot be read, [`TopologyError::Xml`] with line and
    /// column when it is no topology, [`TopologyError::XmlRefused`] when hwloc refuses it all the same.
    pub fn from_xml(path: impl AsRef<Path>) -> Result<Self, TopologyError> {
        let path = path.as_ref();
        let bytes = read_limited(path).map_err(|cause| TopologyError::ReadXml {
            path: path.to_path_buf(),
            cause,
        })?;
        Self::read_xml(&bytes, path)
    }

    /// Makes the topology of another machine from the content of such a file, which `name` stands for in errors.
    ///
    /// # Errors
    /// As [`from_xml`](Self::from_xml); [`TopologyError::ReadXml`] only where the content cannot be
    /// unpacked.
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::Topology;
    /// let error = Topology::read_xml(b"<svg/>", "a picture").unwrap_err().to_string();
    /// assert_eq!(error, "a picture:1:1: found the element <svg>, expected <topology>");
    /// ```
    pub fn read_xml(bytes: &[u8], name: impl AsRef<Path>) -> Result<Self, TopologyError> {
        load_xml(bytes, name.as_ref())
    }
}

/// Whether the installed hwloc reads caches of memories in synthetic descriptions.
fn knows_side_caches() -> bool {
    builder().is_ok_and(|builder| builder.from_synthetic(synthetic::SIDE_CACHE_PROBE).is_ok())
}

fn load_xml(bytes: &[u8], path: &Path) -> Result<Topology, TopologyError> {
    let wrong = |problem: XmlProblem| TopologyError::Xml {
        path: path.to_path_buf(),
        line: problem.line,
        column: problem.column,
        found: problem.found,
        expected: problem.expected,
    };
    let unpacked;
    let bytes = if gzip::is_packed(bytes) {
        unpacked = gzip::unpack(bytes, XML_BYTES_MAX).map_err(|cause| TopologyError::ReadXml {
            path: path.to_path_buf(),
            cause,
        })?;
        &unpacked
    } else {
        bytes
    };
    let text = xml::decode(bytes).map_err(wrong)?;
    let checked = xml::check(text).map_err(wrong)?;
    let loaded = load_checked(&checked).map_err(|reason| TopologyError::XmlRefused {
        path: path.to_path_buf(),
        reason,
    })?;
    let limits = imagined_limits(&loaded);
    let source = Source::Xml(path.to_path_buf());
    Ok(assemble(&loaded, source, limits))
}

fn load_this_machine() -> Result<Topology, TopologyError> {
    if let Some(reason) = kernel::reason_against_hwloc() {
        return without_search(reason);
    }
    let loaded = probe().map_err(|reason| TopologyError::ThisMachine { reason })?;
    let mut limits = imagined_limits(&loaded);
    // The union over all threads: a thread that somebody bound before must not narrow all workers.
    let binding = loaded
        .cpu_binding(CpuBindingFlags::PROCESS)
        .map_err(|error| error.to_string())
        .or_else(|_| {
            loaded
                .cpu_binding(CpuBindingFlags::THREAD)
                .map_err(|error| error.to_string())
        });
    match binding {
        Ok(set) => limits.affinity = Some(convert::cpus_in(&loaded, &set)),
        Err(reason) => limits
            .notes
            .push(format!("the affinity mask could not be read: {reason}")),
    }
    add_quota(&mut limits);
    let mut parts = convert::parts(&loaded, Source::ThisMachine, limits);
    parts.binder = Some(Binder::Hwloc(Arc::new(loaded)));
    Ok(Topology::assemble(parts))
}

/// Loads this machine without hwloc's search for it, for a `reason` that stands among the notes.
fn without_search(reason: String) -> Result<Topology, TopologyError> {
    let mut problem = String::new();
    for text in kernel::describe() {
        let loaded = match xml::check(&text) {
            Ok(checked) => load_checked(&checked),
            Err(XmlProblem { found, .. }) => Err(format!("found {found} in /sys")),
        };
        match loaded {
            Ok(loaded) => {
                let mut limits = imagined_limits(&loaded);
                limits.affinity = kernel::affinity(Path::new("/"));
                limits.notes.push(reason);
                add_quota(&mut limits);
                let mut parts = convert::parts(&loaded, Source::ThisMachine, limits);
                parts.binder = Some(Binder::Kernel);
                return Ok(Topology::assemble(parts));
            }
            Err(found) => problem = found,
        }
    }
    Err(TopologyError::ThisMachine {
        reason: format!("{reason}; {problem}"),
    })
}

fn add_quota(limits: &mut Limits) {
    match cpu_quota(Path::new("/")) {
        Ok(quota) => limits.quota = quota,
        Err(error) => limits
            .notes
            .push(format!("the CPU quota could not be read: {error}")),
    }
}

/// Has hwloc put together a topology from XML that has passed the checks.
fn load_checked(checked: &str) -> Result<hwlocality::Topology, String> {
    builder()
        .and_then(|builder| builder.from_xml(checked).map_err(|error| error.to_string()))
        .and_then(build)
}

/// Asks the operating system what the machine looks like, and the CPUs themselves only where that tells too little.
///
/// To ask a CPU, hwloc binds the calling thread to it, one after the other, and waits wherever something else
/// runs: milliseconds on a busy machine, for caches that Linux tells of anyway unless `/sys` is hidden.
fn probe() -> Result<hwlocality::Topology, String> {
    let quick = builder_with(BuildFlags::DONT_CHANGE_BINDING).and_then(build)?;
    let knows_caches = quick
        .objects_with_type(ObjectType::L1Cache)
        .next()
        .is_some();
    if knows_caches {
        Ok(quick)
    } else {
        builder().and_then(build)
    }
}

fn assemble(loaded: &hwlocality::Topology, source: Source, limits: Limits) -> Topology {
    Topology::assemble(convert::parts(loaded, source, limits))
}

/// Only what the topology itself says of the CPUs that may be used.
fn imagined_limits(loaded: &hwlocality::Topology) -> Limits {
    let allowed: CpuSet = convert::cpus_in(loaded, &loaded.allowed_cpuset());
    Limits {
        cpuset: allowed,
        ..Limits::default()
    }
}

/// Sets up what every load has in common: CPUs that may not be used are kept, and so are all caches.
fn builder() -> Result<TopologyBuilder, String> {
    builder_with(BuildFlags::empty())
}

fn builder_with(flags: BuildFlags) -> Result<TopologyBuilder, String> {
    TopologyBuilder::new()
        .with_flags(BuildFlags::INCLUDE_DISALLOWED | flags)
        .map_err(|error| error.to_string())?
        .with_cpu_icache_type_filter(TypeFilter::KeepAll)
        .map_err(|error| error.to_string())?
        .with_type_filter(ObjectType::MemCache, TypeFilter::KeepAll)
        .map_err(|error| error.to_string())
}

fn build(builder: TopologyBuilder) -> Result<hwlocality::Topology, String> {
    let loaded = builder.build().map_err(|error| match error.errno {
        Some(errno) => format!("{}: {errno}", error.api),
        None => error.to_string(),
    })?;
    if loaded.is_abi_compatible() {
        Ok(loaded)
    } else {
        Err("the installed hwloc is not the one that this program was built for".to_owned())
    }
}

fn read_limited(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(XML_BYTES_MAX + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > XML_BYTES_MAX {
        return Err(io::Error::other(format!(
            "found more than {XML_BYTES_MAX} bytes"
        )));
    }
    Ok(bytes)
}
