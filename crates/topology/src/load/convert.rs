//! Copies a topology that hwloc loaded into plain values.

use std::ffi::CStr;

use hwlocality::cpu::cpuset::CpuSet as HwlocSet;
use hwlocality::object::TopologyObject;
use hwlocality::object::attributes::ObjectAttributes;
use hwlocality::object::depth::NormalDepth;
use hwlocality::object::distance::DistancesKind;
use hwlocality::object::types::{CacheType, ObjectType};

use crate::cpu_set::{CPU_NUMBER_LIMIT, CpuId, CpuSet};
use crate::object::{Attributes, CacheKind, Object, ObjectKind};
use crate::topology::{CpuKind, LatencyMatrix, Limits, Parts, Source};

/// Copies all parts of a topology. The binder is left empty.
pub(super) fn parts(loaded: &hwlocality::Topology, source: Source, limits: Limits) -> Parts {
    Parts {
        source,
        hwloc_version: Some(version()),
        root: object(loaded.root_object()),
        cpu_kinds: cpu_kinds(loaded),
        numa_latencies: numa_latencies(loaded),
        limits,
        binder: None,
    }
}

/// Returns the CPUs of the machine that are in `set`. The set may be infinite.
pub(crate) fn cpus_in(loaded: &hwlocality::Topology, set: &HwlocSet) -> CpuSet {
    loaded
        .objects_with_type(ObjectType::PU)
        .filter_map(cpu_id)
        .filter(|cpu| set.is_set(cpu.index()))
        .collect()
}

/// Returns the version of hwloc's interface as text.
fn version() -> String {
    let packed = hwlocality::hwloc_api_version();
    format!(
        "{}.{}.{}",
        packed >> 16,
        (packed >> 8) & 0xff,
        packed & 0xff
    )
}

fn cpu_id(pu: &TopologyObject) -> Option<CpuId> {
    os_index(pu)
        .filter(|&number| number < CPU_NUMBER_LIMIT)
        .map(CpuId)
}

fn os_index(object: &TopologyObject) -> Option<u32> {
    object
        .os_index()
        .and_then(|index| u32::try_from(index).ok())
}

/// Copies an object and everything below it.
///
/// The recursion is as deep as the machine has levels, which is about ten.
fn object(source: &TopologyObject) -> Object {
    let children: Vec<_> = source.normal_children().map(object).collect();
    let mut cpus = match cpu_id(source) {
        Some(cpu) if source.object_type() == ObjectType::PU => CpuSet::from_iter([cpu]),
        _ => CpuSet::new(),
    };
    for child in &children {
        cpus.extend_from(&child.cpus);
    }
    let memory_children = source
        .memory_children()
        .map(|memory| memory_object(memory, &cpus))
        .collect();
    Object {
        cpus,
        children,
        memory_children,
        ..bare_object(source)
    }
}

/// Copies a memory that belongs to an object with the CPUs `near`. The CPUs of the memory are a
/// subset of these.
fn memory_object(source: &TopologyObject, near: &CpuSet) -> Object {
    let cpus = source.cpuset().map_or_else(CpuSet::new, |set| {
        near.iter().filter(|cpu| set.is_set(cpu.index())).collect()
    });
    Object {
        memory_children: source
            .memory_children()
            .map(|memory| memory_object(memory, near))
            .collect(),
        cpus,
        ..bare_object(source)
    }
}

/// Copies an object without its CPUs and children.
fn bare_object(source: &TopologyObject) -> Object {
    Object {
        kind: kind(source.object_type()),
        depth: NormalDepth::try_from(source.depth()).ok().map(usize::from),
        logical_index: source.logical_index(),
        os_index: os_index(source),
        subtype: source.subtype().and_then(text),
        name: source.name().and_then(text),
        attributes: attributes(source),
        cpus: CpuSet::new(),
        children: Vec::new(),
        memory_children: Vec::new(),
    }
}

fn kind(source: ObjectType) -> ObjectKind {
    match source {
        ObjectType::Machine => ObjectKind::Machine,
        ObjectType::Group => ObjectKind::Group,
        ObjectType::Package => ObjectKind::Package,
        ObjectType::Die => ObjectKind::Die,
        ObjectType::Core => ObjectKind::Core,
        ObjectType::PU => ObjectKind::Pu,
        ObjectType::NUMANode => ObjectKind::NumaNode,
        ObjectType::MemCache => ObjectKind::MemoryCache,
        cache if cache.is_cpu_cache() => ObjectKind::Cache,
        _ => ObjectKind::Other,
    }
}

fn attributes(source: &TopologyObject) -> Attributes {
    match source.attributes() {
        Some(ObjectAttributes::Cache(cache)) => Attributes::Cache {
            level: u32::try_from(cache.depth()).unwrap_or(0),
            kind: match cache.cache_type() {
                CacheType::Data => CacheKind::Data,
                CacheType::Instruction => CacheKind::Instruction,
                _ => CacheKind::Unified,
            },
            size_bytes: cache.size().map(u64::from),
            line_bytes: cache.line_size().map(|line| line.get() as u64),
        },
        Some(ObjectAttributes::NUMANode(node)) => Attributes::Numa {
            memory_bytes: node.local_memory().map(u64::from),
        },
        Some(ObjectAttributes::Group(group)) => Attributes::Group {
            level: u32::try_from(group.depth()).unwrap_or(0),
        },
        _ => Attributes::None,
    }
}

fn cpu_kinds(loaded: &hwlocality::Topology) -> Vec<CpuKind> {
    let Ok(kinds) = loaded.cpu_kinds() else {
        return Vec::new();
    };
    kinds
        .map(|kind| CpuKind {
            efficiency: kind.efficiency,
            cpus: cpus_in(loaded, &kind.cpuset),
        })
        .collect()
}

/// Copies the latencies between all NUMA nodes, if known.
///
/// If there are several matrices, prefers the one that hwloc itself provides.
fn numa_latencies(loaded: &hwlocality::Topology) -> Option<LatencyMatrix> {
    let matrices = loaded
        .distances_with_type(Some(DistancesKind::MEANS_LATENCY), ObjectType::NUMANode)
        .ok()?
        .into_iter()
        .filter_map(|matrix| {
            let nodes: Option<Vec<_>> = matrix
                .objects()
                .map(|node| node.map(TopologyObject::logical_index))
                .collect();
            let nodes = nodes?;
            let values = matrix.distances().to_vec();
            let name = matrix.name().and_then(text).unwrap_or_default();
            (values.len() == nodes.len() * nodes.len()).then_some(LatencyMatrix {
                name,
                nodes,
                values,
            })
        });
    matrices.min_by_key(|matrix| matrix.name != "NUMALatency")
}

/// Converts a text of hwloc. Returns `None` for an empty text.
fn text(source: &CStr) -> Option<String> {
    let text = source.to_string_lossy().into_owned();
    (!text.is_empty()).then_some(text)
}
