//! The programs of the registry, and runs of them.

use std::cell::RefCell;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use super::builds::{Builds, Variant, system};
use super::inputs::Inputs;
use crate::error::BenchError;
use crate::harness::{Contender, Request, Sample};
use crate::load;

/// A program.
pub(super) struct Program {
    /// The name of the case.
    pub(super) name: &'static str,
    /// The name of the executable file.
    pub(super) executable: &'static str,
    /// The package of the registry and its version. `None` for the program of the libraries.
    pub(super) package: Option<[&'static str; 2]>,
    /// The arguments. `SOURCES`, `FILE`, `PICTURE`, `PICTURES`, `FRAME`, `FRAMES` and `POINTS`
    /// stand for inputs, `OUTPUT` for the file that the program writes.
    arguments: &'static [&'static str],
}

/// The program of the libraries.
const LIBRARIES: &str = "raddle-rayon-libraries";

/// Returns work for a library.
const fn library(name: &'static str, arguments: &'static [&'static str]) -> Program {
    Program {
        name,
        executable: LIBRARIES,
        package: None,
        arguments,
    }
}

/// The programs, in the order of the cases.
pub(super) const PROGRAMS: [Program; 14] = [
    Program {
        name: "b3sum",
        executable: "b3sum",
        package: Some(["b3sum", "1.8.7"]),
        arguments: &["FILE"],
    },
    Program {
        name: "tokei",
        executable: "tokei",
        package: Some(["tokei", "15.0.0"]),
        arguments: &["--no-ignore", "SOURCES"],
    },
    Program {
        name: "dust",
        executable: "dust",
        package: Some(["du-dust", "1.2.7"]),
        arguments: &["--no-progress", "--number-of-lines", "40", "SOURCES"],
    },
    Program {
        name: "oxipng",
        executable: "oxipng",
        package: Some(["oxipng", "10.2.1"]),
        arguments: &["--opt", "2", "--quiet", "--out", "OUTPUT", "PICTURE"],
    },
    Program {
        name: "dssim",
        executable: "dssim",
        package: Some(["dssim", "3.5.1"]),
        arguments: &["PICTURES"],
    },
    Program {
        name: "gifski",
        executable: "gifski",
        package: Some(["gifski", "1.34.0"]),
        arguments: &["--quiet", "--output", "OUTPUT", "FRAMES"],
    },
    library("ark", &["ark"]),
    library("bvh", &["bvh", "POINTS"]),
    library("faer", &["faer", "FRAME"]),
    library("hnsw", &["hnsw", "POINTS"]),
    library("imageproc", &["imageproc", "PICTURE"]),
    library("ndarray", &["ndarray", "FRAME"]),
    library("rapier", &["rapier"]),
    library("resize", &["resize", "FRAME"]),
];

/// The CPU times of the runs of a contender so far, which are read while the contender is in use.
#[derive(Clone, Default)]
pub(super) struct CpuTimes(Rc<RefCell<Vec<Duration>>>);

impl CpuTimes {
    /// Takes the times in milliseconds.
    pub(super) fn take_ms(&self) -> Vec<f64> {
        let times = self.0.take();
        times.iter().map(|time| time.as_secs_f64() * 1e3).collect()
    }
}

/// A build of a program that is run again and again.
pub(super) struct Run {
    variant: Variant,
    program: PathBuf,
    arguments: Vec<String>,
    /// The file that the program writes. If there is none, its standard output counts.
    output: Option<PathBuf>,
    cpu_times: CpuTimes,
}

impl Run {
    pub(super) fn new(
        variant: Variant,
        program: &Program,
        builds: &Builds,
        inputs: &Inputs,
    ) -> Self {
        let output = builds.files().join(format!("{}.out", variant.name()));
        let mut arguments = Vec::new();
        for &word in program.arguments {
            match word {
                "OUTPUT" => arguments.push(output.display().to_string()),
                _ => arguments.extend(inputs.of(word)),
            }
        }
        Self {
            variant,
            program: builds.program(variant, program.executable),
            arguments,
            output: program.arguments.contains(&"OUTPUT").then_some(output),
            cpu_times: CpuTimes::default(),
        }
    }

    /// Returns the CPU times of all measured runs, also of later ones.
    pub(super) fn cpu_times(&self) -> CpuTimes {
        self.cpu_times.clone()
    }

    /// Runs the program once without measuring it. Returns its result, and the largest number of
    /// threads that was seen.
    pub(super) fn try_out(&self, workers: usize) -> Result<(u64, usize), BenchError> {
        /// The time between two looks at the process.
        const PERIOD: Duration = Duration::from_micros(500);
        let mut most = 0;
        let sample = self.run(workers, |child| {
            while let Some(threads) = load::thread_count(child.id()) {
                most = most.max(threads);
                thread::sleep(PERIOD);
            }
        })?;
        Ok((sample.result, most))
    }

    fn run(&self, workers: usize, watch: impl FnOnce(&Child)) -> Result<Sample, BenchError> {
        let name = self.variant.name();
        let number = workers.to_string();
        if let Some(output) = &self.output {
            let _absent = fs::remove_file(output);
        }
        let began = Instant::now();
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .env("RAYON_NUM_THREADS", &number)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(system(&self.program.display().to_string()))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (mut written, mut complaints) = (Vec::new(), Vec::new());
        let status = thread::scope(|scope| {
            scope.spawn(|| stdout.map(|mut pipe| pipe.read_to_end(&mut written)));
            scope.spawn(|| stderr.map(|mut pipe| pipe.read_to_end(&mut complaints)));
            watch(&child);
            child.wait()
        });
        let time = began.elapsed();
        let status = status.map_err(system(name))?;
        if !status.success() {
            let complaints = String::from_utf8_lossy(&complaints);
            let last = complaints.lines().last().unwrap_or_default();
            return Err(BenchError::contender(name, format!("{status}: {last}")));
        }
        let result = match &self.output {
            Some(output) => hash(&fs::read(output).map_err(system(&output.display().to_string()))?),
            None => checksum(&written),
        };
        Ok(Sample { time, result })
    }
}

impl Contender for Run {
    fn name(&self) -> &str {
        self.variant.name()
    }

    fn measure(&mut self, request: &Request<'_>) -> Result<Sample, BenchError> {
        let before = load::cpu_time_of_children();
        let sample = self.run(request.workers, |_| ())?;
        let cpu = load::cpu_time_of_children().saturating_sub(before);
        self.cpu_times.0.borrow_mut().push(cpu);
        Ok(sample)
    }
}

/// Returns a number that is the same for the same lines in any order. Programs print lines of equal
/// size in the order in which their threads find them.
fn checksum(text: &[u8]) -> u64 {
    let lines = text.split(|&byte| byte == b'\n');
    lines.map(hash).fold(0, u64::wrapping_add)
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
