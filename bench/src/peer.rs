//! The C++ peers: programs that are compiled on demand, kept alive, and controlled through a pipe.
//!
//! The source of a peer is under `peers/`. Its process lives through a case, so that its threads
//! and data are ready when the clock starts. It answers one request at a time, so that its runs
//! alternate with Raddle's. Both sides are compiled for the same baseline: the compiler's default
//! processor, without `-march=native` or `target-cpu=native`.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::error::BenchError;
use crate::harness::{Contender, Request, Sample};

/// The source and the requirements of a peer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PeerSource {
    /// The peer's name; its source is `peers/NAME.cpp`.
    pub(crate) name: &'static str,
    /// A header that exists if the peer's library is installed.
    header: &'static str,
    /// The Debian package that has the header.
    package: &'static str,
    /// Further arguments for the compiler.
    flags: &'static [&'static str],
    /// The compiler that builds the peer and finds the header.
    compiler: &'static str,
    /// The command that starts the program, with its arguments, and the Debian package of that
    /// command. `None` if the program is started directly.
    launcher: Option<(&'static [&'static str], &'static str)>,
}

/// The common values of most peers.
const IN_CPP: PeerSource = PeerSource {
    name: "",
    header: "vector",
    package: "g++",
    flags: &[],
    compiler: "g++",
    launcher: None,
};

/// C++ without a runtime: the baseline of the other C++ peers.
pub(crate) const PLAIN_CPP: PeerSource = PeerSource {
    name: "plain-cpp",
    header: "vector",
    package: "g++",
    flags: &[],
    ..IN_CPP
};

/// oneTBB: forks.
pub(crate) const ONETBB: PeerSource = PeerSource {
    name: "onetbb",
    header: "tbb/task_group.h",
    package: "libtbb-dev",
    flags: &["-ltbb"],
    ..IN_CPP
};

/// oneTBB: kd-trees.
///
/// Floating-point contraction is off, so that the trees equal Raddle's bit by bit.
pub(crate) const KDTREE_ONETBB: PeerSource = PeerSource {
    name: "kdtree-onetbb",
    header: "tbb/parallel_invoke.h",
    package: "libtbb-dev",
    flags: &["-ltbb", "-ffp-contract=off"],
    ..IN_CPP
};

/// OpenMP as included with the C++ compiler: forks and loops.
pub(crate) const OPENMP: PeerSource = PeerSource {
    name: "openmp",
    header: "omp.h",
    package: "g++",
    flags: &["-fopenmp"],
    ..IN_CPP
};

/// Kernel 23 by OpenMP's loops.
///
/// Floating-point contraction is off, so that the results equal Raddle's bit by bit.
pub(crate) const LK23_OPENMP: PeerSource = PeerSource {
    name: "lk23-openmp",
    header: "omp.h",
    package: "g++",
    flags: &["-fopenmp", "-ffp-contract=off"],
    ..IN_CPP
};

/// Kernel 23 by OpenMP's tasks.
pub(crate) const LK23_TASKS: PeerSource = PeerSource {
    name: "lk23-tasks",
    ..LK23_OPENMP
};

/// OpenBLAS: products of matrices.
pub(crate) const OPENBLAS: PeerSource = PeerSource {
    name: "openblas",
    header: "cblas.h",
    package: "libopenblas-dev",
    flags: &["-lopenblas"],
    ..IN_CPP
};

/// Embree: rays.
pub(crate) const EMBREE: PeerSource = PeerSource {
    name: "embree",
    header: "embree3/rtcore.h",
    package: "libembree-dev",
    flags: &["-lembree3"],
    ..IN_CPP
};

/// OpenVDB: rays at level sets.
pub(crate) const OPENVDB: PeerSource = PeerSource {
    name: "openvdb",
    header: "openvdb/openvdb.h",
    package: "libopenvdb-dev libboost-iostreams-dev libtbb-dev libimath-dev",
    flags: &["-lopenvdb", "-ltbb", "-lImath-3_1"],
    ..IN_CPP
};

/// The yard: the unit of the time of programs that are not available. It is defined with `-O2`.
pub(crate) const YARD: PeerSource = PeerSource {
    name: "yard",
    flags: &["-O2"],
    ..IN_CPP
};

/// The packages of Python that the peers in `peers/volumes.py` need.
const PYTHON_PACKAGES: &str = "vtk numpy embreex, by pip; PYTHON names their python3";

/// Open MPI: messages between two processes.
///
/// `mpirun` does not bind the processes, because the peer does so itself.
pub(crate) const OPENMPI: PeerSource = PeerSource {
    name: "openmpi",
    header: "mpi.h",
    package: "libopenmpi-dev",
    compiler: "mpicxx",
    launcher: Some((
        &[
            "mpirun",
            "-n",
            "2",
            "--allow-run-as-root",
            "--oversubscribe",
            "--bind-to",
            "none",
        ],
        "openmpi-bin",
    )),
    ..IN_CPP
};

/// Open MPI: the same messages in the way in which raddle-net's transport by MPI sends them.
pub(crate) const OPENMPI_MESSAGES: PeerSource = PeerSource {
    name: "openmpi-messages",
    ..OPENMPI
};

/// Open MPI: the same messages by windows.
pub(crate) const OPENMPI_WINDOW: PeerSource = PeerSource {
    name: "openmpi-window",
    ..OPENMPI
};

/// The lock that is held while a peer is compiled, so that another thread that needs the peer
/// waits.
static COMPILING: Mutex<()> = Mutex::new(());

const FLAGS: [&str; 4] = ["-std=c++17", "-O3", "-fno-math-errno", "-DNDEBUG"];

/// A running peer.
#[derive(Debug)]
pub(crate) struct Peer {
    name: &'static str,
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Compiles the peer if its sources changed, starts it and waits until it is ready.
    ///
    /// # Errors
    /// [`BenchError::PeerMissing`] names the Debian package if the compiler or the library is
    /// missing.
    pub(crate) fn start(source: PeerSource) -> Result<Self, BenchError> {
        let program = compile(source)?;
        let child = command(source, &program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| match (error.kind(), source.launcher) {
                (io::ErrorKind::NotFound, Some((words, package))) => BenchError::PeerMissing {
                    peer: source.name.to_owned(),
                    what: words[0].to_owned(),
                    package: package.to_owned(),
                },
                _ => system(&program.display().to_string(), error),
            })?;
        Self::of_child(source.name, child)
    }

    /// Starts a program that speaks the protocol of the peers, and waits until it is ready.
    ///
    /// # Errors
    /// [`BenchError::System`] if it cannot be started.
    pub(crate) fn start_program(name: &'static str, program: &Path) -> Result<Self, BenchError> {
        let child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| system(&program.display().to_string(), error))?;
        Self::of_child(name, child)
    }

    /// Starts one of the peers in `peers/volumes.py`, by the Python that `PYTHON` names.
    ///
    /// # Errors
    /// [`BenchError::PeerMissing`] if Python or one of its packages is missing.
    pub(crate) fn start_python(name: &'static str) -> Result<Self, BenchError> {
        let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/volumes.py");
        let missing = || BenchError::PeerMissing {
            peer: name.to_owned(),
            what: "python3 with its packages".to_owned(),
            package: PYTHON_PACKAGES.to_owned(),
        };
        let found = Command::new(&python)
            .args(["-c", "import vtk, numpy, embreex"])
            .stderr(Stdio::null())
            .status();
        if !found.is_ok_and(|status| status.success()) {
            return Err(missing());
        }
        let child = Command::new(&python)
            .arg(script)
            .arg(name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| missing())?;
        Self::of_child(name, child)
    }

    fn of_child(name: &'static str, mut child: Child) -> Result<Self, BenchError> {
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("standard input and output are pipes");
        };
        let mut peer = Self {
            name,
            child,
            requests,
            answers: BufReader::new(answers),
        };
        match peer.read_line()?.as_str() {
            "ready" => Ok(peer),
            other => Err(peer.malformed(other)),
        }
    }

    fn read_line(&mut self) -> Result<String, BenchError> {
        let mut line = String::new();
        self.answers
            .read_line(&mut line)
            .map_err(|error| system(self.name, error))?;
        Ok(line.trim_end().to_owned())
    }

    fn malformed(&self, found: &str) -> BenchError {
        BenchError::PeerAnswer {
            peer: self.name.to_owned(),
            found: found.to_owned(),
        }
    }
}

impl Contender for Peer {
    fn name(&self) -> &str {
        self.name
    }

    fn process(&self) -> Option<u32> {
        Some(self.child.id())
    }

    fn measure(&mut self, request: &Request<'_>) -> Result<Sample, BenchError> {
        let file = request
            .file
            .map(|path| path.display().to_string())
            .unwrap_or_default();
        writeln!(
            self.requests,
            "{} {} {} {file}",
            request.case, request.workers, request.repetitions
        )
        .and_then(|()| self.requests.flush())
        .map_err(|error| system(self.name, error))?;
        let line = self.read_line()?;
        parse_answer(&line).ok_or_else(|| self.malformed(&line))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // A peer ends at the end of its input. The kill also ends one that hangs.
        let _already_gone = self.child.kill();
        let _status = self.child.wait();
    }
}

/// Returns the command that starts the peer.
fn command(source: PeerSource, program: &Path) -> Command {
    match source.launcher {
        None => Command::new(program),
        Some((words, _)) => {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).arg(program);
            command
        }
    }
}

fn parse_answer(line: &str) -> Option<Sample> {
    let (nanoseconds, result) = line.split_once(' ')?;
    Some(Sample {
        time: Duration::from_nanos(nanoseconds.parse().ok()?),
        result: result.parse().ok()?,
    })
}

/// Compiles `peers/NAME.cpp` and returns the program. Does nothing if the program is newer than
/// every source.
fn compile(source: PeerSource) -> Result<PathBuf, BenchError> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    let folder = program_folder();
    fs::create_dir_all(&folder).map_err(|error| system(&folder.display().to_string(), error))?;
    let program = folder.join(source.name);
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    if is_newer_than_all(&program, &sources) {
        return Ok(program);
    }
    check_header(source)?;
    // Another process may build the same program now. The rename makes it appear as a whole.
    let unfinished = folder.join(format!("{}-{}.new", source.name, std::process::id()));
    let output = Command::new(source.compiler)
        .args(FLAGS)
        .arg(sources.join(source.name).with_extension("cpp"))
        .arg("-o")
        .arg(&unfinished)
        .args(source.flags)
        .output()
        .map_err(|error| system(source.compiler, error))?;
    if output.status.success() {
        fs::rename(&unfinished, &program)
            .map_err(|error| system(&program.display().to_string(), error))?;
        return Ok(program);
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(BenchError::PeerDoesNotCompile {
        peer: source.name.to_owned(),
        message: message
            .lines()
            .find(|line| line.contains("error") || line.contains("cannot find"))
            .unwrap_or("no message")
            .to_owned(),
    })
}

/// Returns the folder of compiled peers, beside the build's other results: `target/peers`.
pub(crate) fn program_folder() -> PathBuf {
    target_folder().join("peers")
}

/// Returns the folder of the build's results: `target`.
pub(crate) fn target_folder() -> PathBuf {
    std::env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.parent()?.to_owned()))
        .unwrap_or_else(|| PathBuf::from("target"))
}

fn is_newer_than_all(program: &Path, sources: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    let Some(built) = changed(program) else {
        return false;
    };
    let Ok(files) = fs::read_dir(sources) else {
        return false;
    };
    files
        .flatten()
        .all(|file| changed(&file.path()).is_some_and(|time| time < built))
}

/// Lets the compiler look for the peer's header, so that the error can name the missing package.
fn check_header(source: PeerSource) -> Result<(), BenchError> {
    let missing = |what: &str, package: &str| BenchError::PeerMissing {
        peer: source.name.to_owned(),
        what: what.to_owned(),
        package: package.to_owned(),
    };
    let mut compiler = Command::new(source.compiler)
        .args(["-x", "c++", "-fopenmp", "-fsyntax-only", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => missing(source.compiler, source.package),
            _ => system(source.compiler, error),
        })?;
    if let Some(mut input) = compiler.stdin.take() {
        writeln!(input, "#include <{}>", source.header)
            .map_err(|error| system(source.compiler, error))?;
    }
    let status = compiler
        .wait()
        .map_err(|error| system(source.compiler, error))?;
    if status.success() {
        Ok(())
    } else {
        Err(missing(source.header, source.package))
    }
}

fn system(what: &str, source: io::Error) -> BenchError {
    BenchError::System {
        what: what.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests;
