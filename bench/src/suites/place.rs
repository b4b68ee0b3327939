//! The cost of placements, and the time to compute them, compared with Scotch.
//!
//! - `MATRIX-MACHINE`: the 64 parties of a measured matrix on a real machine, in 10⁹ hop-bytes.
//!   Peer `scotch`: the program `gmap`, on the CPUs that Raddle took, with as many parties on each.
//! - `mean`: the geometric mean of all ratios above.
//! - `dense-5000`: 5000 parties that all communicate, on 5000 CPUs, in milliseconds.
//! - `sparse-100000`: a grid of 100,000 parties on 1024 CPUs, in milliseconds, and in hop-bytes as
//!   `sparse-100000-cost`. Peer `scotch`, with the reading and writing of its files.
//!
//! Scotch gets the CPUs as a tree (`tleaf`) if they form one, and as a decomposition with all
//! distances (`deco`). The best result of three of its strategies counts. Both placements are rated
//! by Raddle's cost function.

mod scotch;

use std::path::PathBuf;
use std::time::Instant;

use raddle_topology::{CpuId, CpuSet, Matrix, PlaceOptions, Placement, Topology, cost, place};

use self::scotch::Mapping;
use crate::error::BenchError;
use crate::record::{Record, median, range};
use crate::suites::{Measurement, check_data, data_folder};

/// The names of the cases.
pub(crate) const CASES: [&str; 38] = [
    "cg-uv",
    "btmz-uv",
    "sp-uv",
    "lulesh-uv",
    "amg-uv",
    "cg-uv-blades",
    "btmz-uv-blades",
    "sp-uv-blades",
    "lulesh-uv-blades",
    "amg-uv-blades",
    "cg-uv-8nodes",
    "btmz-uv-8nodes",
    "sp-uv-8nodes",
    "lulesh-uv-8nodes",
    "amg-uv-8nodes",
    "cg-epyc-7451",
    "btmz-epyc-7451",
    "sp-epyc-7451",
    "lulesh-epyc-7451",
    "amg-epyc-7451",
    "cg-epyc-7763",
    "btmz-epyc-7763",
    "sp-epyc-7763",
    "lulesh-epyc-7763",
    "amg-epyc-7763",
    "cg-epyc-9654",
    "btmz-epyc-9654",
    "sp-epyc-9654",
    "lulesh-epyc-9654",
    "amg-epyc-9654",
    "cg-power8",
    "btmz-power8",
    "sp-power8",
    "lulesh-power8",
    "amg-power8",
    "mean",
    "dense-5000",
    "sparse-100000",
];

/// The real machines, and the number of cores that may be used, if not all.
const MACHINES: [(&str, &str, Option<usize>); 7] = [
    ("uv", "192em64t-24n8c2t.xml", None),
    ("uv-blades", "192em64t-12gr2n8c2t.xml", None),
    ("uv-8nodes", "192em64t-24n8c2t.xml", Some(64)),
    ("epyc-7451", "x86-AMD-17h-Zen-2xEpyc-7451.xml", None),
    ("epyc-7763", "x86-AMD-19h-Zen3-2xEpyc-7763.xml", None),
    ("epyc-9654", "x86-AMD-19h-Zen4-2xEpyc-9654.xml", None),
    ("power8", "power8gpudistances.xml", None),
];

/// The measured matrices. The rows of `sp` are in reverse order in its file.
const MATRICES: [(&str, &str); 5] = [
    ("cg", "maplib_cg_64_size.csv"),
    ("btmz", "maplib_btmz_64_size.csv"),
    ("sp", "eagermap_nas_sp_omp_64.csv"),
    ("lulesh", "maplib_lulesh_64_size.csv"),
    ("amg", "maplib_amg_64_size.csv"),
];

const DENSE_PARTIES: usize = 5000;
const GRID_WIDTH: usize = 400;
const GRID_HEIGHT: usize = 250;

/// Runs the suite, always on one thread.
///
/// # Errors
/// [`BenchError::NoData`] if a file is missing, [`BenchError::Contender`] if one cannot be read.
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let mut ratios = Vec::new();
    let mut has_peer = true;
    for (machine, file, core_count) in MACHINES {
        for (matrix, matrix_file) in MATRICES {
            let name = format!("{matrix}-{machine}");
            if !measurement.wants(&name) && !measurement.wants("mean") {
                continue;
            }
            let topology = machine_of(file)?;
            let matrix = matrix_of(matrix_file)?;
            let mut options = PlaceOptions::new();
            if let Some(count) = core_count {
                options = options.cpus(first_cores(&topology, count));
            }
            let ratio = compare(
                measurement,
                &name,
                &matrix,
                &topology,
                &options,
                &mut has_peer,
            )?;
            ratios.extend(ratio);
        }
    }
    if measurement.wants("mean") && !ratios.is_empty() {
        let logarithms: f64 = ratios.iter().map(|ratio: &f64| ratio.ln()).sum();
        let mean = (logarithms / ratios.len() as f64).exp();
        let (least, most) = range(&ratios);
        let mut record = record(measurement, "mean", "scotch", "ratio", &[mean]);
        record.ratio = Some(mean);
        record.ratio_range = Some((least, most));
        record.pairs = ratios.len();
        measurement.add(vec![record])?;
    }
    if measurement.wants("dense-5000") {
        let topology = imagined("numa:8 l3:25 core:25 pu:1")?;
        time(measurement, "dense-5000", &dense(), &topology)?;
    }
    if measurement.wants("sparse-100000") {
        let topology = imagined("numa:8 l3:8 core:16 pu:1")?;
        let grid = grid();
        let placement = time(measurement, "sparse-100000", &grid, &topology)?;
        against_scotch(
            measurement,
            "sparse-100000-cost",
            &grid,
            &topology,
            &placement,
            &mut has_peer,
        )?;
    }
    Ok(())
}

/// Places a matrix by both and emits the costs. Returns Raddle's cost divided by Scotch's.
fn compare(
    measurement: &mut Measurement<'_>,
    name: &str,
    matrix: &Matrix,
    topology: &Topology,
    options: &PlaceOptions,
    has_peer: &mut bool,
) -> Result<Option<f64>, BenchError> {
    let placement = place(matrix, topology, options).map_err(|error| failed("raddle", &error))?;
    against_scotch(measurement, name, matrix, topology, &placement, has_peer)
}

fn against_scotch(
    measurement: &mut Measurement<'_>,
    name: &str,
    matrix: &Matrix,
    topology: &Topology,
    placement: &Placement,
    has_peer: &mut bool,
) -> Result<Option<f64>, BenchError> {
    let own = record(
        measurement,
        name,
        "raddle",
        "Ghop-B",
        &[placement.cost / 1e9],
    );
    measurement.add(vec![own])?;
    if !*has_peer {
        return Ok(None);
    }
    let began = Instant::now();
    let tried = match scotch::map(matrix, topology, &placement.cpus) {
        Ok(tried) => tried,
        Err(error) => {
            *has_peer = false;
            (measurement.warn)(error.to_string());
            return Ok(None);
        }
    };
    let took = began.elapsed().as_secs_f64() * 1e3 / tried.len().max(1) as f64;
    let mut mappings = Vec::new();
    for found in tried {
        match found {
            Ok(mapping) => mappings.push(mapping),
            Err(error) => (measurement.warn)(format!("{name}: {error}")),
        }
    }
    let rated = |mapping: &Mapping| {
        let cost = cost(matrix, topology, &mapping.cpus).map_err(|error| failed("scotch", &error));
        cost.map(|cost| (mapping.most, cost))
    };
    let most = placement.parties_per_cpu;
    let mut rated = mappings.iter().map(rated).collect::<Result<Vec<_>, _>>()?;
    // A mapping with more parties on a CPU than Raddle's counts only if there is no other.
    rated.sort_by(|left, right| {
        (left.0.max(most), left.1)
            .partial_cmp(&(right.0.max(most), right.1))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let Some(&(found_most, found)) = rated.first() else {
        return Ok(None);
    };
    if found_most > most {
        (measurement.warn)(format!(
            "{name}: scotch put {found_most} parties on one CPU, Raddle {most}"
        ));
    }
    let mut peer = record(measurement, name, "scotch", "Ghop-B", &[found / 1e9]);
    let ratio = (placement.cost > 0.0 && found > 0.0).then_some(placement.cost / found);
    peer.ratio = ratio;
    peer.ratio_range = ratio.map(|ratio| (ratio, ratio));
    measurement.add(vec![peer])?;
    if name.starts_with("sparse") {
        let time = record(measurement, "sparse-100000", "scotch", "ms", &[took]);
        measurement.add(vec![time])?;
    }
    Ok(ratio)
}

/// Places `pairs` times and emits the times.
fn time(
    measurement: &mut Measurement<'_>,
    name: &str,
    matrix: &Matrix,
    topology: &Topology,
) -> Result<Placement, BenchError> {
    let mut times = Vec::new();
    let mut last = None;
    for _ in 0..measurement.pairs {
        let began = Instant::now();
        last = Some(
            place(matrix, topology, &PlaceOptions::new())
                .map_err(|error| failed("raddle", &error))?,
        );
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    let record = record(measurement, name, "raddle", "ms", &times);
    measurement.add(vec![record])?;
    last.ok_or_else(|| failed("raddle", &"no pairs"))
}

fn record(
    measurement: &Measurement<'_>,
    case: &str,
    contender: &str,
    unit: &str,
    figures: &[f64],
) -> Record {
    let (min, max) = range(figures);
    Record {
        suite: "place".to_owned(),
        case: case.to_owned(),
        contender: contender.to_owned(),
        workers: 1,
        unit: unit.to_owned(),
        median: median(figures),
        min,
        max,
        pairs: figures.len(),
        ratio: None,
        ratio_range: None,
        machine: measurement.environment.machine.clone(),
        mode: "one-thread".to_owned(),
        commit: measurement.environment.commit.clone(),
    }
}

fn failed(contender: &str, error: &dyn std::fmt::Display) -> BenchError {
    BenchError::contender(contender, error)
}

fn file_of(folder: &str, file: &str) -> Result<PathBuf, BenchError> {
    let path = data_folder().join("topology").join(folder).join(file);
    check_data(&path)?;
    Ok(path)
}

fn machine_of(file: &str) -> Result<Topology, BenchError> {
    Topology::from_xml(file_of("hwloc-xml", file)?).map_err(|error| failed("raddle", &error))
}

fn matrix_of(file: &str) -> Result<Matrix, BenchError> {
    let matrix =
        Matrix::read(file_of("comm-matrices", file)?).map_err(|error| failed("raddle", &error))?;
    let is_reversed = file.starts_with("eagermap");
    Ok(if is_reversed {
        matrix.with_rows_reversed()
    } else {
        matrix
    })
}

fn imagined(description: &str) -> Result<Topology, BenchError> {
    Topology::synthetic(description).map_err(|error| failed("raddle", &error))
}

/// Returns the CPUs of the first cores.
fn first_cores(topology: &Topology, count: usize) -> CpuSet {
    let cores = topology
        .cpus()
        .iter()
        .filter(|cpu| cpu.smt_rank == 0)
        .take(count);
    let siblings = cores.flat_map(|cpu| topology.smt_siblings(cpu.id));
    siblings.collect::<Vec<CpuId>>().into_iter().collect()
}

/// Returns a matrix in which all parties communicate, the more the nearer they are along a hidden
/// line.
fn dense() -> Matrix {
    let mut bytes = vec![0.0; DENSE_PARTIES * DENSE_PARTIES];
    let hidden = |party: usize| (party * 7919 % DENSE_PARTIES) as f64;
    for from in 0..DENSE_PARTIES {
        for to in 0..DENSE_PARTIES {
            if from != to {
                let apart = (hidden(from) - hidden(to)).abs();
                bytes[from * DENSE_PARTIES + to] = (1e6 / apart).round();
            }
        }
    }
    Matrix::from_dense(DENSE_PARTIES, &bytes).unwrap_or_default()
}

/// Returns a matrix in which each party communicates with its neighbours in a grid.
fn grid() -> Matrix {
    let mut grid = Matrix::new(GRID_WIDTH * GRID_HEIGHT);
    for party in 0..GRID_WIDTH * GRID_HEIGHT {
        let right = (party % GRID_WIDTH + 1 < GRID_WIDTH).then_some(party + 1);
        let below = (party + GRID_WIDTH < GRID_WIDTH * GRID_HEIGHT).then_some(party + GRID_WIDTH);
        for other in [right, below].into_iter().flatten() {
            grid.add(party, other, 100.0);
            grid.add(other, party, 100.0);
        }
    }
    grid
}
