//! Elements migrate between nodes while messages, broadcasts and reductions are under way: no
//! message is lost or duplicated, and the messages of each sender keep their order. The result is
//! the same as that of the same program on one node.

use raddle_chare::nodes::{Job, Setup};
use raddle_chare::reduce::Sum;
use raddle_chare::{Array, Chares, Cx, chare};
use raddle_net::TransportKind;
use raddle_runtime::{MailboxKind, Runtime};
use serde::{Deserialize, Serialize};

use crate::dice::Dice;

const COUNT: usize = 9;
const STEPS: u32 = 30;

/// Sends numbered messages to all other elements, and checks that theirs arrive in order.
#[derive(Serialize, Deserialize)]
struct Walker {
    received: Vec<u32>,
    called: Vec<u32>,
    sent: u32,
    dice: Dice,
    /// The number of changes of node, and the last node.
    crossings: u32,
    node: usize,
}

impl Walker {
    fn new(index: usize, seed: u64) -> Self {
        Self {
            received: vec![0; COUNT],
            called: Vec::new(),
            sent: 0,
            dice: Dice::new(seed * COUNT as u64 + index as u64),
            crossings: 0,
            node: 0,
        }
    }
}

#[chare(nodes, state)]
impl Walker {
    #[entry]
    fn step(&mut self, cx: &mut Cx<Self>, left: u32) {
        let (array, index) = (cx.array(), cx.index());
        self.crossings += u32::from(cx.node() != self.node);
        self.node = cx.node();
        self.sent += 1;
        for other in 0..COUNT {
            array.at(other).receive(index, self.sent);
        }
        let (rolled, worker) = (self.dice.roll(3), self.dice.roll(60));
        if rolled == 0 {
            cx.migrate_to(worker % (cx.worker_count() * cx.node_count()));
        }
        cx.contribute(Sum(u64::from(self.sent) * index as u64));
        if left > 0 {
            cx.this().step(left - 1);
        }
    }

    #[entry]
    fn receive(&mut self, from: usize, number: u32) {
        self.received[from] += 1;
        assert_eq!(self.received[from], number, "from {from}");
    }

    /// Receives a broadcast of one element.
    #[entry]
    fn call(&mut self, number: u32) {
        self.called.push(number);
    }

    /// Sends a broadcast to all elements between messages to one element.
    #[entry]
    fn call_all(&mut self, cx: &mut Cx<Self>, left: u32) {
        cx.all().call(left);
        cx.array().at(COUNT - 1).call(left + 1_000);
        let worker = self.dice.roll(60);
        cx.migrate_to(worker % (cx.worker_count() * cx.node_count()));
        if left > 0 {
            cx.this().call_all(left - 1);
        }
    }

    /// Asks the next element. The reply arrives wherever the two elements are.
    #[entry]
    async fn ask_round(&mut self, cx: &mut Cx<Self>, times: usize) -> usize {
        let mut sum = 0;
        for time in 0..times {
            let other = (cx.index() + 1 + time) % COUNT;
            if other != cx.index() {
                sum += cx.array().at(other).add(time).await;
            }
            // The element migrates at the end of this entry.
            cx.migrate_to(self.dice.roll(60) % (cx.worker_count() * cx.node_count()));
        }
        sum
    }

    #[entry]
    fn add(&mut self, cx: &mut Cx<Self>, number: usize) -> usize {
        cx.migrate_to(self.dice.roll(60) % (cx.worker_count() * cx.node_count()));
        number + cx.index()
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, worker: usize) {
        cx.migrate_to(worker);
    }

    /// Replies before it migrates.
    #[entry]
    fn going(&mut self, cx: &mut Cx<Self>, worker: usize) -> Going {
        cx.migrate_to(worker);
        Going
    }

    #[entry]
    fn whereabouts(&self, cx: &mut Cx<Self>) -> usize {
        cx.node() * cx.worker_count() + cx.worker()
    }

    #[entry]
    fn story(&self) -> (Vec<u32>, Vec<u32>, u32) {
        (self.received.clone(), self.called.clone(), self.sent)
    }

    #[entry]
    fn crossings(&self) -> u32 {
        self.crossings
    }

    #[entry]
    async fn agree(&mut self, cx: &mut Cx<Self>) -> u64 {
        cx.reduce(Sum(cx.index() as u64)).await
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
}

#[derive(Serialize, Deserialize)]
struct Going;

/// A chare without a serialisable state.
struct Rock;

#[chare(nodes)]
impl Rock {
    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, worker: usize) {
        cx.migrate_to(worker);
    }
}

/// A chare with a state that cannot always be serialised, and with messages that may stay
/// unreceived.
struct Heavy {
    weighs: bool,
}

impl Serialize for Heavy {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.weighs {
            return Err(serde::ser::Error::custom("it is too heavy"));
        }
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Heavy {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <()>::deserialize(deserializer).map(|()| Self { weighs: false })
    }
}

#[chare(nodes, state)]
impl Heavy {
    #[message]
    fn stone();

    #[entry]
    fn load(&mut self) {
        self.weighs = true;
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, worker: usize) {
        cx.migrate_to(worker);
    }
}

/// An element of an array that exists on its own node only.
struct Local {
    moves: u32,
}

#[chare]
impl Local {
    #[entry]
    fn step(&mut self, cx: &mut Cx<Self>, left: u32) {
        self.moves += 1;
        cx.migrate_to((cx.worker() + 1) % cx.worker_count());
        if left > 0 {
            cx.this().step(left - 1);
        }
    }

    #[entry]
    fn moves(&self) -> u32 {
        self.moves
    }
}

fn job(nodes: u16, kind: TransportKind, mailbox: MailboxKind) -> Job {
    let builder = Runtime::builder().workers(2).mailbox(mailbox);
    crate::job(nodes, kind).runtime(builder)
}

/// The messages that elements have received and sent, and the results of reductions.
type Story = (Vec<(Vec<u32>, Vec<u32>, u32)>, Vec<u64>);

/// Returns the story and the number of times that elements have changed nodes.
fn walk(runtime: &Runtime, walkers: Array<Walker>) -> (Story, u32) {
    walkers.all().step(STEPS);
    walkers.at(1).call_all(STEPS);
    let sums = (0..=STEPS).map(|_| walkers.reduction().wait()).collect();
    runtime.quiescence().wait();
    let stories = (0..COUNT).map(|at| walkers.at(at).story().wait());
    let stories = stories.collect();
    let crossings = (0..COUNT).map(|at| walkers.at(at).crossings().wait());
    ((stories, sums), crossings.sum())
}

fn made(seed: u64) -> impl Fn(&Setup<'_>) -> Array<Walker> {
    move |setup| setup.array(COUNT, move |index| Walker::new(index, seed))
}

#[test]
fn migration_between_nodes_does_not_change_the_results() {
    for seed in 0..6 {
        let run = |nodes, kind, mailbox| {
            let ran = job(nodes, kind, mailbox).run_within(made(seed), walk);
            ran.expect("the nodes start")
        };
        let (expected, _) = run(1, TransportKind::Memory, MailboxKind::default());
        for kind in [TransportKind::Memory, TransportKind::Sockets] {
            for mailbox in MailboxKind::ALL {
                for nodes in 2..=4 {
                    let (story, crossings) = run(nodes, kind, mailbox);
                    assert_eq!(story, expected, "seed {seed}, {nodes} nodes, {mailbox:?}");
                    assert!(crossings > 0, "no element has migrated");
                }
            }
        }
    }
}

#[test]
fn an_element_migrates_to_the_requested_worker() {
    for nodes in 1..=4 {
        let job = job(nodes, TransportKind::Memory, MailboxKind::default());
        let places = job.run_within(made(0), |runtime, walkers| {
            let workers = 2 * usize::from(nodes);
            (0..2 * workers)
                .map(|to| {
                    walkers.at(4).go(to * 3 % workers);
                    runtime.quiescence().wait();
                    (to * 3 % workers, walkers.at(4).whereabouts().wait())
                })
                .collect::<Vec<_>>()
        });
        for (wanted, is) in places.expect("the nodes start") {
            assert_eq!(is, wanted);
        }
    }
}

#[test]
fn asynchronous_entries_end_before_their_element_migrates() {
    for nodes in 1..=4 {
        let job = job(nodes, TransportKind::Memory, MailboxKind::default());
        let sums = job.run_within(made(1), |_, walkers| {
            let asked: Vec<_> = (0..3).map(|at| walkers.at(3 * at).ask_round(2)).collect();
            let sums: Vec<_> = asked.into_iter().map(raddle_chare::Reply::wait).collect();
            sums
        });
        assert_eq!(sums.expect("the nodes start"), [4, 10, 16]);
    }
}

#[test]
fn all_elements_may_leave_the_node_where_reductions_end() {
    for nodes in 1..=3_u16 {
        let job = job(nodes, TransportKind::Memory, MailboxKind::default());
        let agreed = job.run_within(made(2), |runtime, walkers| {
            let last = 2 * usize::from(nodes) - 1;
            walkers.all().go(last);
            runtime.quiescence().wait();
            walkers.at(3).leave();
            runtime.quiescence().wait();
            let others = (0..COUNT).filter(|&at| at != 3);
            let others: Vec<_> = others.map(|at| walkers.at(at).agree()).collect();
            let agreed: Vec<_> = others.into_iter().map(raddle_chare::Reply::wait).collect();
            agreed
        });
        let expected: u64 = (0..COUNT as u64).filter(|&at| at != 3).sum();
        assert_eq!(agreed.expect("the nodes start"), [expected; COUNT - 1]);
    }
}

#[test]
fn arrays_of_one_node_migrate_beside_arrays_of_all_nodes() {
    let ran = job(3, TransportKind::Memory, MailboxKind::default()).run_within(
        made(3),
        |runtime, walkers| {
            let own = runtime.array(4, |_| Local { moves: 0 });
            own.all().step(100);
            let (_, crossings) = walk(runtime, walkers);
            let moves: Vec<_> = (0..4).map(|at| own.at(at).moves().wait()).collect();
            (crossings, moves)
        },
    );
    let (crossings, moves) = ran.expect("the nodes start");
    assert!(crossings > 0);
    assert_eq!(moves, [101; 4]);
}

// Arrays are destroyed while their elements migrate. The elements of other arrays continue.
#[test]
fn arrays_may_be_destroyed_while_elements_migrate() {
    for seed in 0..10 {
        let setup = |setup: &Setup<'_>| (made(seed)(setup), made(seed)(setup));
        let ran = job(3, TransportKind::Memory, MailboxKind::default()).run_within(
            setup,
            |runtime, (walkers, doomed)| {
                let going = |at| {
                    walkers.at(at).go((at + 1) % 6);
                    doomed.at(at).going((at + seed as usize) % 6)
                };
                let going: Vec<_> = (0..COUNT).map(going).collect();
                for going in going {
                    let Going = going.wait();
                }
                doomed.destroy();
                runtime.quiescence().wait();
                let whereabouts = (0..COUNT).map(|at| walkers.at(at).whereabouts().wait());
                whereabouts.collect::<Vec<_>>()
            },
        );
        for (at, is) in ran.expect("the nodes start").into_iter().enumerate() {
            assert_eq!(is, (at + 1) % 6);
        }
    }
}

#[test]
fn an_element_that_cannot_be_serialised_stays_and_reports_the_reason() {
    let setup = |setup: &Setup<'_>| (setup.array(4, |_| Rock), heavy(setup));
    let failure_of = |call: &(dyn Fn(Array<Rock>, Array<Heavy>) + Sync)| {
        let job = job(2, TransportKind::Memory, MailboxKind::default());
        let failure = job.run_within(setup, |runtime, (rocks, heavy)| {
            call(rocks, heavy);
            let failure = runtime.quiescence().try_wait();
            failure.expect_err("it is refused").to_string()
        });
        failure.expect("the nodes start")
    };
    let said = failure_of(&|rocks, _| rocks.at(0).go(3));
    assert!(said.contains("write `#[chare(nodes, state)]`"), "{said}");
    let said = failure_of(&|rocks, _| rocks.at(0).go(4));
    assert!(said.contains("there is no worker 4: there are 4"), "{said}");
    let said = failure_of(&|_, heavy| {
        heavy.at(0).load();
        heavy.at(0).go(3);
    });
    let cannot = "Heavy[0] cannot go to another node: ";
    let heavier = said.contains(cannot) && said.contains("it is too heavy");
    // The wire format does not include the message of serde.
    assert!(heavier || said.contains(cannot), "{said}");
    let said = failure_of(&|_, heavy| {
        heavy.at(0).stone();
        heavy.at(0).go(3);
    });
    let why = format!("{cannot}it has not received `stone`");
    assert!(said.contains(&why), "{said}");
}

fn heavy(setup: &Setup<'_>) -> Array<Heavy> {
    setup.array(4, |_| Heavy { weighs: false })
}

/// Runs the same tests between processes: each test starts its own executable again, which runs the
/// same test as another node.
mod processes {
    use super::{Job, MailboxKind, Runtime, TransportKind, job, made, walk};

    #[test]
    fn by_memory() {
        as_on_one_node("moving::processes::by_memory", TransportKind::Memory);
    }

    #[test]
    fn by_sockets() {
        as_on_one_node("moving::processes::by_sockets", TransportKind::Sockets);
    }

    fn as_on_one_node(test: &str, kind: TransportKind) {
        let processes = Job::new(3)
            .transport(kind)
            .runtime(Runtime::builder().workers(2))
            .arguments(["--exact", test, "--nocapture"])
            .quiet(true);
        let ran = processes.run(made(7), walk);
        // There is no result on the nodes that were started.
        if let Some((story, crossings)) = ran.expect("the nodes start") {
            let alone = job(1, kind, MailboxKind::default()).run_within(made(7), walk);
            assert_eq!(story, alone.expect("the runtime starts").0);
            assert!(crossings > 0, "no element has migrated");
        }
    }
}
