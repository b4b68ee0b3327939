//! Loads a topology through hwloc.
//!
//! Synthetic descriptions and XML files are checked before hwloc reads them. hwloc itself reports
//! every problem as "invalid argument", its XML parser writes to the standard error stream, and a
//! huge count would keep it busy for hours. After the checks, hwloc loads the topology including
//! the CPUs that the process may not use, so that a picture can show them.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use hwlocality::cpu::binding::CpuBindingFlags;
use hwlocality::object::types::ObjectType;
use hwlocality::topology::builder::{BuildFlags, TopologyBuilder, TypeFilter};

use super::xml::{self, XmlProblem};
use super::{add_quota, convert, synthetic};
use crate::cpu_set::CpuSet;
use crate::error::TopologyError;
use crate::gzip;
use crate::topology::{Binder, Limits, Source, Topology};

/// The maximum size of an XML file, which is the limit of hwloc's parser. The largest known file is
/// smaller than half a megabyte.
const XML_BYTES_MAX: u64 = 10_000_000;

impl Topology {
    /// Creates the topology of an imagined machine, such as `"numa:2 core:4 pu:2"`.
    ///
    /// Each word consists of a kind of object and a count. The count is the number of such objects
    /// in each object of the previous word. The last word counts the CPUs. Caches are written `l1`,
    /// `l2` and so on. The attributes of hwloc are allowed too: `l2:1(size=1048576)`. Sizes are
    /// bytes, or numbers with an SI or IEC unit: `[numa(memory=16GiB)]`.
    ///
    /// The machine has no quota and no affinity mask, so every CPU may be used. Threads cannot be
    /// bound to it.
    ///
    /// A machine may have at most 5120 CPUs and 40,960 objects. For wide and flat machines, the
    /// time that hwloc needs grows with the cube of the size, and reaches some seconds at these
    /// limits.
    ///
    /// # Errors
    /// [`TopologyError::Synthetic`], with the invalid part of the description and the valid
    /// choices. [`TopologyError::SyntheticRefused`] if hwloc refuses a description that passed the
    /// checks.
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::Topology;
    /// let topology = Topology::synthetic("package:2 l3:2 core:4 pu:2")?;
    /// assert_eq!((topology.package_count(), topology.core_count()), (2, 16));
    /// assert_eq!(topology.cpu_count(), 32);
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

    /// Loads the topology of another machine from an XML file that hwloc exported, for example with
    /// `lstopo machine.xml`.
    ///
    /// The file may have the format of hwloc 1 or 2, and may be compressed with gzip. It contains
    /// the set of CPUs that may be used. There is no quota. Threads cannot be bound to the machine.
    ///
    /// # Errors
    /// [`TopologyError::ReadXml`] if the file cannot be read. [`TopologyError::Xml`], with line and
    /// column, if it is not a topology. [`TopologyError::XmlRefused`] if hwloc refuses a file that
    /// passed the checks.
    pub fn from_xml(path: impl AsRef<Path>) -> Result<Self, TopologyError> {
        let path = path.as_ref();
        let bytes = read_limited(path).map_err(|cause| TopologyError::ReadXml {
            path: path.to_path_buf(),
            cause,
        })?;
        Self::read_xml(&bytes, path)
    }

    /// Loads the topology of another machine from the content of an XML file.
    ///
    /// Errors use `name` as the name of the file. See [`from_xml`](Self::from_xml) for the format.
    ///
    /// # Errors
    /// The errors of [`from_xml`](Self::from_xml). [`TopologyError::ReadXml`] occurs only if the
    /// content cannot be decompressed.
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

/// Returns true if the installed hwloc supports memory-side caches in synthetic descriptions.
fn knows_side_caches() -> bool {
    builder().is_ok_and(|builder| builder.from_synthetic(synthetic::SIDE_CACHE_PROBE).is_ok())
}

/// Decompresses, checks and loads the content of an XML file.
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

/// Discovers this machine.
pub(super) fn this_machine() -> Result<Topology, TopologyError> {
    let loaded = probe().map_err(|reason| TopologyError::ThisMachine { reason })?;
    let mut limits = imagined_limits(&loaded);
    // The binding of a process is the union over its threads. A single thread that was bound before
    // must not restrict all workers.
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

/// Loads XML that has passed the checks through hwloc.
fn load_checked(checked: &str) -> Result<hwlocality::Topology, String> {
    builder()
        .and_then(|builder| builder.from_xml(checked).map_err(|error| error.to_string()))
        .and_then(build)
}

/// Discovers this machine from the operating system, and queries the CPUs only if that is not
/// enough.
///
/// To query the CPUs, hwloc binds the calling thread to each of them in turn, and has to wait if
/// something else runs there. That takes milliseconds on a busy machine. Its benefit is information
/// about caches, which Linux provides anyway unless `/sys` is hidden.
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

/// Copies a topology that hwloc loaded.
fn assemble(loaded: &hwlocality::Topology, source: Source, limits: Limits) -> Topology {
    Topology::assemble(convert::parts(loaded, source, limits))
}

/// Returns the limits of a topology without a process: only its own set of allowed CPUs.
fn imagined_limits(loaded: &hwlocality::Topology) -> Limits {
    let allowed: CpuSet = convert::cpus_in(loaded, &loaded.allowed_cpuset());
    Limits {
        cpuset: allowed,
        ..Limits::default()
    }
}

/// Creates a builder with the common settings of all loads.
fn builder() -> Result<TopologyBuilder, String> {
    builder_with(BuildFlags::empty())
}

/// Creates a builder that keeps CPUs that may not be used, and all caches.
fn builder_with(flags: BuildFlags) -> Result<TopologyBuilder, String> {
    TopologyBuilder::new()
        .with_flags(BuildFlags::INCLUDE_DISALLOWED | flags)
        .map_err(|error| error.to_string())?
        .with_cpu_icache_type_filter(TypeFilter::KeepAll)
        .map_err(|error| error.to_string())?
        .with_type_filter(ObjectType::MemCache, TypeFilter::KeepAll)
        .map_err(|error| error.to_string())
}

/// Loads a topology, and checks that the installed hwloc matches the one at build time.
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

/// Reads a file of at most [`XML_BYTES_MAX`] bytes.
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
