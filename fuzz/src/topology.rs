//! Checks for the readers of topologies, affinities and communication matrices.

use raddle_topology::{Affinity, Matrix, PlaceOptions, Topology, TopologyError, format, place};

/// The largest CPU count for which neighbours and output formats are checked. More CPUs would take
/// longer without covering more code.
const CPUS_MAX: usize = 256;

/// The largest number of parties that are placed. More parties would take longer without covering
/// more code.
const PARTIES_MAX: usize = 32;

/// Reads `bytes` as an XML topology file and checks the result.
///
/// # Panics
/// If a topology contradicts itself, if an error takes more than one line or does not name the
/// file, or if hwloc refuses a file that passed our check.
pub fn read_topology_xml(bytes: &[u8]) {
    match Topology::read_xml(bytes, "it.xml") {
        Ok(topology) => check_topology(&topology),
        Err(TopologyError::XmlRefused { reason, .. }) => {
            panic!("hwloc refused what passed: {reason}")
        }
        // The decoder's own message precedes the expectation, hence the semicolon.
        Err(error @ TopologyError::ReadXml { .. }) => {
            check_message(&error.to_string(), "it.xml:", "; expected ");
        }
        Err(error) => check_message(&error.to_string(), "it.xml:", ", expected "),
    }
}

/// Reads `text` as a synthetic description and checks the result.
///
/// # Panics
/// If a topology contradicts itself, if an error takes more than one line, or if hwloc refuses a
/// description that passed our check.
pub fn read_topology_synthetic(text: &str) {
    match Topology::synthetic(text) {
        Ok(topology) => check_topology(&topology),
        Err(TopologyError::SyntheticRefused { reason, .. }) => {
            panic!("hwloc refused what passed: {reason}")
        }
        Err(error) => check_message(&error.to_string(), "synthetic topology ", ", expected "),
    }
}

/// Reads `text` as an affinity and checks the result.
///
/// # Panics
/// If writing an affinity and reading it again changes it, or if an error takes more than one line.
pub fn read_affinity(text: &str) {
    match text.parse::<Affinity>() {
        Ok(affinity) => assert_eq!(affinity.to_string().parse(), Ok(affinity)),
        Err(error) => check_message(&error.to_string(), "found ", ", expected "),
    }
}

/// Reads `bytes` as a communication matrix, and places its parties if they are few.
///
/// # Panics
/// If a matrix or a placement violates a guarantee, or if an error takes more than one line or does
/// not name the file.
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
