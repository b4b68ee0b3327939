//! What the targets assert of everything that reads a topology or an affinity.

use raddle_topology::{Affinity, Matrix, PlaceOptions, Topology, TopologyError, format, place};

/// The most CPUs of a topology whose neighbours and formats are looked at: more would take longer, not further.
const CPUS_MAX: usize = 256;

/// The most parties that are placed: more would take longer, not further.
const PARTIES_MAX: usize = 32;

/// Reads `bytes` as an XML file and judges what comes of it.
///
/// # Panics
/// When a topology contradicts itself, when an error takes more than a line or does not name the file, or when
/// hwloc refuses what passed the check.
pub fn read_topology_xml(bytes: &[u8]) {
    match Topology::read_xml(bytes, "it.xml") {
        Ok(topology) => check_topology(&topology),
        Err(TopologyError::XmlRefused { reason, .. }) => {
            panic!("hwloc refused what passed: {reason}")
        }
        // The decoder's own words come before.
        Err(error @ TopologyError::ReadXml { .. }) => {
            check_message(&error.to_string(), "it.xml:", "; expected ");
        }
        Err(error) => check_message(&error.to_string(), "it.xml:", ", expected "),
    }
}

/// Reads `text` as a synthetic description and judges what comes of it.
///
/// # Panics
/// When a topology contradicts itself, when an error takes more than a line, or when hwloc refuses what passed the
/// check.
pub fn read_topology_synthetic(text: &str) {
    match Topology::synthetic(text) {
        Ok(topology) => check_topology(&topology),
        Err(TopologyError::SyntheticRefused { reason, .. }) => {
            panic!("hwloc refused what passed: {reason}")
        }
        Err(error) => check_message(&error.to_string(), "synthetic topology ", ", expected "),
    }
}

/// Reads `text` as an affinity.
///
/// # Panics
/// When an affinity does not survive being written and read again, or when an error takes more than a line.
pub fn read_affinity(text: &str) {
    match text.parse::<Affinity>() {
        Ok(affinity) => assert_eq!(affinity.to_string().parse(), Ok(affinity)),
        Err(error) => check_message(&error.to_string(), "found ", ", expected "),
    }
}

/// Reads `bytes` as a communication matrix, and places its parties when they are few.
///
/// # Panics
/// When a matrix or a placement breaks a promise, or when an error takes more than a line or does not name the file.
pub fn read_matrix(bytes: &[u8]) {
    let matrix = match Matrix::from_bytes(bytes, "it.csv") {
        Ok(matrix) => matrix,
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("it.csv:"), "{message}");
            assert!(!message.contains(char::is_control), "{message:?}");
            assert!(message.contains(" expected "), "{message}");
            return;
        }
    };
    assert!(
        matrix
            .entries()
            .all(|(_, _, bytes)| bytes > 0.0 && bytes.is_finite())
    );
    if matrix.order() == 0 || matrix.order() > PARTIES_MAX {
        return;
    }
    let topology = Topology::synthetic("package:2 l3:2 core:2 pu:2").expect("a good description");
    let placement = place(&matrix, &topology, &PlaceOptions::new()).expect("a placement");
    assert_eq!(placement.cpus.len(), matrix.order());
    assert!(placement.cost.is_finite() && placement.cost >= 0.0);
}

fn check_message(message: &str, beginning: &str, expectation: &str) {
    assert!(message.starts_with(beginning), "{message}");
    assert!(!message.contains(char::is_control), "{message:?}");
    assert!(message.contains(expectation), "{message}");
}

fn check_topology(topology: &Topology) {
    let cpus = topology.cpus();
    assert!(!cpus.is_empty());
    assert!(!topology.is_this_machine());
    assert!(topology.worker_count_default() >= 1);
    for (position, cpu) in cpus.iter().enumerate() {
        assert_eq!(cpu.logical_index, position);
        assert_eq!(topology.cpu(cpu.id), Some(cpu));
        let siblings: Vec<_> = topology.smt_siblings(cpu.id).collect();
        assert_eq!(siblings.get(cpu.smt_rank), Some(&cpu.id));
    }
    if cpus.len() > CPUS_MAX {
        return;
    }
    for cpu in cpus {
        let neighbours = topology.neighbours(cpu.id);
        assert_eq!(neighbours.len(), cpus.len() - 1);
        assert!(!neighbours.contains(&cpu.id));
    }
    assert!(format::text(topology).ends_with('\n'));
    assert!(format::svg(topology).contains("<svg"));
    assert!(format::json(topology).ends_with("}\n"));
}
