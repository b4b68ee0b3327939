//! Checkpoints of arrays that are written by one number of processes and read by another. Each node
//! of each part runs this executable again.
#![cfg(not(any(loom, shuttle)))]

#[cfg(feature = "mpi")]
#[path = "../../net/tests/mpirun/mod.rs"]
mod mpirun;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use raddle_chare::nodes::{Job, JobEnvironment};
use raddle_chare::reduce::Sum;
use raddle_chare::{Chares, Cx, chare};
use raddle_net::TransportKind;
use raddle_runtime::Runtime;
use serde::{Deserialize, Serialize};

const LENGTH: usize = 50;
/// Environment variable with the folder of the checkpoint: set for processes that write or read it.
const FOLDER: &str = "RADDLE_TEST_FOLDER";
/// Environment variable that is set for processes that write the checkpoint.
const WRITES: &str = "RADDLE_TEST_WRITES";

#[derive(Serialize, Deserialize)]
struct Account {
    owner: String,
    balance: u64,
}

#[chare(nodes, state)]
impl Account {
    #[entry]
    fn pay_in(&mut self, amount: u64) {
        self.balance += amount;
    }

    #[entry]
    fn statement(&mut self) -> String {
        format!("{}: {}", self.owner, self.balance)
    }

    #[entry]
    fn count(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(Sum(self.balance));
    }
}

/// Writes or reads the checkpoint, as the environment variables say.
fn take_part(test: &str, folder: &Path) {
    let environment = JobEnvironment::read().expect("it was set");
    let nodes = environment.nodes.expect("it was set");
    let kind = environment.transport.expect("it was set");
    let job = Job::new(nodes)
        .transport(kind)
        .runtime(Runtime::builder().workers(2))
        .arguments(["--exact", test, "--nocapture"]);
    let done = if env::var_os(WRITES).is_some() {
        let account = |index: usize| Account {
            owner: format!("owner {index}"),
            balance: index as u64,
        };
        job.run(
            |setup| setup.array(LENGTH, account),
            |runtime, accounts| {
                accounts.all().pay_in(1_000);
                runtime.quiescence().wait();
                let written = accounts.checkpoint(folder).expect("it can be written");
                assert_eq!(written, LENGTH as u64);
            },
        )
    } else {
        job.run(
            |setup| setup.restore::<Account>(folder).expect("it can be read"),
            |_, accounts| {
                for index in 0..LENGTH {
                    let expected = format!("owner {index}: {}", 1_000 + index);
                    assert_eq!(accounts.at(index).statement().wait(), expected);
                }
                accounts.all().count();
                let sum: u64 = accounts.reduction().wait();
                assert_eq!(
                    sum,
                    (0..LENGTH as u64).map(|index| 1_000 + index).sum::<u64>()
                );
            },
        )
    };
    done.expect("all nodes come to a good end");
}

/// Runs this test again on `nodes` nodes.
fn run(test: &str, kind: TransportKind, nodes: u16, folder: &Path, writes: bool) -> Output {
    let nodes = nodes.to_string();
    let folder = folder.to_str().expect("the name is valid UTF-8");
    let mut variables = vec![
        ("RADDLE_NODES", &*nodes),
        ("RADDLE_TRANSPORT", kind.name()),
        (FOLDER, folder),
    ];
    if writes {
        variables.push((WRITES, "1"));
    }
    #[cfg(feature = "mpi")]
    if kind.is_by_mpi() {
        let ranks = nodes.parse().expect("it is a number");
        return mpirun::again(test, ranks, variables);
    }
    let program = env::current_exe().expect("this program is a file");
    let mut command = Command::new(program);
    command
        .args(["--exact", test, "--nocapture"])
        .envs(variables);
    command.output().expect("it starts")
}

#[test]
fn an_array_is_restored_in_any_number_of_processes() {
    let test = "an_array_is_restored_in_any_number_of_processes";
    if let Some(folder) = env::var_os(FOLDER) {
        return take_part(test, &PathBuf::from(folder));
    }
    let folder = env::temp_dir().join(format!("raddle-checkpoint-{}", std::process::id()));
    let check = |kind: TransportKind, nodes: u16, writes| {
        let output = run(test, kind, nodes, &folder, writes);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let what = if writes { "written" } else { "read" };
        assert!(
            output.status.success(),
            "{what} by {kind} on {nodes}: {stderr}"
        );
        if writes {
            let files = fs::read_dir(&folder).expect("it was written").count();
            assert_eq!(files, 1 + usize::from(nodes), "one of each node");
        }
    };
    let has_mpi = cfg!(feature = "mpi");
    let kinds = TransportKind::OF_PROCESSES.iter().copied();
    let kinds: Vec<_> = kinds.filter(|kind| has_mpi || !kind.is_by_mpi()).collect();
    // Each transport also reads what the previous one has written.
    for (kind, next) in kinds.iter().zip(kinds.iter().cycle().skip(1)) {
        check(*kind, 4, true);
        check(*kind, 1, false);
        check(*next, 3, false);
        check(*next, 1, true);
        check(*kind, 4, false);
        // The next transport must not find this checkpoint instead of its own.
        fs::remove_dir_all(&folder).expect("it was written");
    }
}
