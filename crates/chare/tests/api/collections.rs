//! Sections, scans, groups, node groups, sparse arrays, insertion and removal of elements,
//! priorities.

use raddle_chare::SeedPolicy;
use raddle_chare::reduce::{Concat, Gather, Max, Sum};
use raddle_chare::{Array, ArrayOptions, Chares, Cx, ScanForm, Section, SectionForm, chare};
use raddle_runtime::Runtime;

use crate::common::{runtime, runtime_with};

/// An element with a number.
struct Member {
    number: u64,
}

#[chare]
impl Member {
    #[entry]
    fn add(&mut self, more: u64) {
        self.number = self.number.wrapping_add(more);
    }

    #[entry]
    fn tell(&mut self, cx: &mut Cx<Self>, section: Section<Self>) {
        cx.contribute_to(section, Gather::new(self.number));
    }

    #[entry]
    fn tell_all(&mut self, cx: &mut Cx<Self>) {
        cx.contribute((Sum(self.number), Max(cx.index())));
    }

    #[entry]
    fn number(&self) -> u64 {
        self.number
    }

    #[entry]
    async fn before(&mut self, cx: &mut Cx<Self>, form: ScanForm) -> (u64, Vec<usize>) {
        let sum = cx.scan_with(form, Sum(self.number)).await;
        let index = cx.index();
        let indices = cx.scan_with(form, Concat::new(vec![index])).await;
        (sum, indices)
    }
}

fn members(runtime: &Runtime, count: usize) -> Array<Member> {
    runtime.array(count, |index| Member {
        number: index as u64,
    })
}

#[test]
fn the_form_of_a_section_depends_on_its_members_per_worker() {
    use SectionForm::{Binomial, PointToPoint, TwoLevel};
    let expected = [
        (1, 1, (PointToPoint, PointToPoint)),
        (1, 2, (TwoLevel, TwoLevel)),
        (2, 3, (PointToPoint, PointToPoint)),
        (2, 4, (TwoLevel, TwoLevel)),
        (4, 4, (PointToPoint, PointToPoint)),
        (4, 5, (TwoLevel, Binomial)),
        (4, 8, (TwoLevel, TwoLevel)),
    ];
    for (workers, count, forms) in expected {
        let runtime = runtime(workers);
        let section = members(&runtime, 8).section(0..count);
        assert_eq!(section.forms(), forms, "{count} on {workers}");
    }
}

#[test]
fn sections_broadcast_and_reduce_in_every_form() {
    for workers in 1..=4 {
        let runtime = runtime(workers);
        let members = members(&runtime, 40);
        for form in SectionForm::ALL {
            for count in [0_usize, 1, 2, 3, 5, 8, 13, 20] {
                let chosen: Vec<usize> = (0..count).map(|at| (at * 7 + 3) % 40).collect();
                let section = members.section_with(form, chosen.iter().copied());
                assert_ne!(section.forms().0, SectionForm::Auto);
                assert_eq!(section.count(), count);
                for round in 0..3 {
                    section.all().add(100);
                    section.all().tell(section);
                    if count > 0 {
                        let numbers: Vec<u64> = section.reduction().wait();
                        let own = chosen.iter().map(|&at| at as u64 + 100 * (round + 1));
                        assert_eq!(
                            numbers,
                            own.collect::<Vec<_>>(),
                            "{form}, {count} of {workers}"
                        );
                    }
                }
                section.all().add(0_u64.wrapping_sub(300));
                runtime.quiescence().wait();
            }
        }
    }
}

#[test]
fn scans_return_the_contributions_of_preceding_elements() {
    for workers in 1..=4 {
        let runtime = runtime(workers);
        for count in [1, 2, 3, 7, 8, 33] {
            let members = members(&runtime, count);
            for form in ScanForm::ALL {
                let replies: Vec<_> = (0..count)
                    .rev()
                    .map(|index| (index, members.at(index).before(form)))
                    .collect();
                for (index, reply) in replies {
                    let (sum, indices) = reply.wait();
                    assert_eq!(
                        sum,
                        (0..index as u64).sum::<u64>(),
                        "{form}, {index} of {count}"
                    );
                    assert_eq!(indices, (0..index).collect::<Vec<_>>());
                }
            }
        }
    }
}

#[test]
fn elements_are_inserted_and_removed_between_reductions() {
    for workers in 1..=4 {
        let runtime = runtime(workers);
        let members = members(&runtime, 5);
        let result = || -> (u64, usize) {
            members.all().tell_all();
            members.reduction().wait()
        };
        assert_eq!(result(), (10, 4));
        members.remove(4);
        members.remove(2);
        runtime.quiescence().wait();
        assert!(members.get(2).is_none());
        assert_eq!(result(), (4, 3));
        members.insert(4, |_| Member { number: 50 });
        assert_eq!(members.at(4).number().wait(), 50);
        assert_eq!(result(), (54, 4));
    }
}

/// An element with a pair of numbers outside any grid as its index.
struct Patch {
    level: i64,
}

#[chare(index = (i64, i64))]
impl Patch {
    #[entry]
    fn level(&self) -> i64 {
        self.level
    }

    #[entry]
    fn count(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(Sum(1_usize));
        if self.level == 0 {
            cx.end();
        }
    }

    #[entry]
    fn split(&mut self, cx: &mut Cx<Self>) {
        let (x, y) = cx.index();
        let level = self.level + 1;
        cx.array().insert((2 * x, 2 * y), move |_| Self { level });
        cx.array()
            .insert((2 * x, 2 * y - 1), move |_| Self { level });
    }
}

#[test]
fn sparse_arrays_accept_arbitrary_keys() {
    for workers in 1..=4 {
        let runtime = runtime(workers);
        let patches = runtime.sparse_array::<Patch>();
        for x in -3..3 {
            patches.insert((x, 5), |_| Patch { level: 0 });
        }
        patches.at((-3, 5)).split();
        runtime.quiescence().wait();
        assert_eq!(patches.at((-6, 9)).level().wait(), 1);
        assert!(patches.get((-6, 8)).is_none());
        for left in [8, 2, 2] {
            patches.all().count();
            let count: usize = patches.reduction().wait();
            assert_eq!(count, left);
        }
        patches.insert((0, 5), |_| Patch { level: 7 });
        assert_eq!(patches.at((0, 5)).level().wait(), 7);
    }
}

/// A counter of a worker or of a node.
struct Counter {
    count: u64,
}

#[chare]
impl Counter {
    #[entry]
    fn add(&mut self, more: u64) {
        self.count += more;
    }

    #[entry]
    fn count(&self) -> u64 {
        self.count
    }

    #[message]
    fn gate(open: bool);

    #[entry]
    async fn pass(&mut self, cx: &mut Cx<Self>) -> u64 {
        while !cx.next(Self::gate).await {
            self.count += 1000;
        }
        self.count
    }
}

/// Adds to the counters of its worker and its node.
struct Worker;

#[chare]
impl Worker {
    #[entry]
    fn work(&self, group: raddle_chare::Group<Counter>, node: raddle_chare::NodeGroup<Counter>) {
        group.with_here(|counter| counter.count += 1);
        group.here().add(10);
        node.here().add(1);
    }
}

#[test]
fn groups_and_node_groups_count_on_their_worker_or_node() {
    for workers in 1..=4 {
        let runtime = runtime(workers);
        let group = runtime.group(|_| Counter { count: 0 });
        let node = runtime.node_group(|_| Counter { count: 0 });
        let array = runtime.array(100, |_| Worker);
        array.all().work(group, node);
        runtime.quiescence().wait();
        let counts = (0..workers).map(|worker| group.at(worker).count().wait());
        assert_eq!(counts.sum::<u64>(), 1100);
        assert_eq!(node.here().count().wait(), 100);
        let passed = node.here().pass();
        node.here().gate(false);
        node.here().add(5);
        node.here().gate(true);
        assert_eq!(passed.wait(), 1100);
        assert_eq!(node.here().count().wait(), 1105);
    }
}

/// Stores the numbers that it receives.
struct Listener {
    received: Vec<i32>,
}

#[chare]
impl Listener {
    #[entry]
    fn receive(&mut self, what: i32) {
        self.received.push(what);
    }

    #[entry]
    fn speak(&mut self, cx: &mut Cx<Self>) {
        for priority in [3, 1, 0, -1, 2, 1, -7] {
            cx.this().with_priority(priority).receive(priority);
        }
    }

    #[entry]
    fn received(&self) -> Vec<i32> {
        self.received.clone()
    }
}

#[test]
fn more_urgent_messages_are_received_first() {
    let runtime = runtime(2);
    let listeners = runtime.array_with(ArrayOptions::new(1), |_| Listener {
        received: Vec::new(),
    });
    listeners.at(0).speak();
    runtime.quiescence().wait();
    assert_eq!(listeners.at(0).received().wait(), [-7, -1, 0, 1, 1, 2, 3]);
}

/// A leaf of a tree, or an inner node that adds up its two children.
struct Sum2 {
    value: u64,
    missing: u32,
    above: Option<Sum2Proxy>,
}

#[chare]
impl Sum2 {
    #[entry]
    fn take(&mut self, cx: &mut Cx<Self>, value: u64) {
        self.value += value;
        self.missing -= 1;
        if self.missing == 0
            && let Some(above) = self.above
        {
            above.take(self.value);
            cx.end();
        }
    }

    #[entry]
    fn value(&self) -> u64 {
        self.value
    }

    fn grow(cx: &mut Cx<Self>, depth: u32, above: Option<Sum2Proxy>) -> Self {
        let mut made = Self {
            value: 0,
            missing: 2,
            above,
        };
        if depth == 0 {
            made.missing = 1;
            cx.this().take(1);
        } else {
            let this = cx.this();
            for _ in 0..2 {
                cx.chare(move |cx| Self::grow(cx, depth - 1, Some(this)));
            }
        }
        made
    }
}

#[test]
fn seeds_are_placed_under_every_policy() {
    for workers in 1..=4 {
        for policy in SeedPolicy::ALL {
            let runtime = runtime_with(workers, |builder| builder.setting(policy));
            let root = runtime.chare(|cx| Sum2::grow(cx, 8, None));
            runtime.quiescence().wait();
            assert_eq!(root.value().wait(), 256, "{policy}, {workers}");
        }
    }
}

/// Reports when it is dropped.
struct Mortal {
    drops: std::sync::mpsc::Sender<usize>,
    index: usize,
}

#[chare]
impl Mortal {
    #[message]
    fn never(nothing: ());

    #[entry]
    async fn wait(&mut self, cx: &mut Cx<Self>) {
        cx.next(Self::never).await;
    }

    #[entry]
    fn index(&self) -> usize {
        self.index
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        // The receiver is gone if the test has failed.
        let _ = self.drops.send(self.index);
    }
}

#[test]
fn a_destroyed_array_drops_its_elements_and_is_unreachable() {
    for workers in 1..=4 {
        let runtime = runtime(workers);
        let (drops, dropped) = std::sync::mpsc::channel();
        let drops = std::sync::Mutex::new(drops);
        let array = runtime.array(10, move |index| Mortal {
            drops: drops.lock().expect("no panic poisons it").clone(),
            index,
        });
        let last = array.at(9);
        array.at(3).wait();
        array.at(3).index().is_here();
        runtime.quiescence().wait();
        assert_eq!(
            runtime.explain_waits(),
            ["Mortal[3] waits in `wait`, and a message for it"]
        );
        assert_eq!(last.index().wait(), 9);
        runtime.quiescence().wait();
        array.destroy();
        let mut indices: Vec<_> = dropped.iter().take(10).collect();
        indices.sort_unstable();
        assert_eq!(indices, (0..10).collect::<Vec<_>>());
        assert!(array.get(9).is_none());
        runtime.quiescence().wait();
        let failure = last.index().try_wait().expect_err("it is gone");
        assert_eq!(
            failure.to_string(),
            "`index` was sent to a Mortal, which has ended"
        );
    }
}

/// Creates arrays and groups.
struct Maker;

#[chare]
impl Maker {
    /// Creates two arrays and a group, sends messages to them before any element can exist, and
    /// adds up their replies.
    #[entry]
    async fn make(&mut self, cx: &mut Cx<Self>, count: usize) -> u64 {
        let number = |index| Member {
            number: index as u64,
        };
        let row = cx.runtime().array(count, number);
        let sparse = cx.runtime().sparse_array::<Member>();
        sparse.insert(1 << 40, move |_| number(count));
        let group = cx.runtime().group(move |_| Member { number: 1000 });
        let workers = cx.worker_count() as u64;
        let helper = cx.runtime().chare_on(cx.worker_count() - 1, |_| Maker);
        assert_eq!(helper.add_to(row, 10).await, cx.worker_count() - 1);
        // Messages of another sender may arrive after the messages of this one, although that
        // sender has already reported that they are sent.
        cx.quiescence().await;
        row.all().tell_all();
        group.all().tell_all();
        let (sum, last) = row.reduction::<(u64, usize)>().await;
        assert_eq!(last, count - 1);
        let (of_group, _) = group.reduction::<(u64, usize)>().await;
        assert_eq!(of_group, 1000 * workers);
        sum + sparse.at(1 << 40).number().await
    }

    #[entry]
    fn add_to(&self, cx: &mut Cx<Self>, row: Array<Member>, more: u64) -> usize {
        row.all().add(more);
        cx.worker()
    }
}

#[test]
fn entries_create_arrays_and_groups() {
    for workers in 1..=3 {
        let runtime = runtime(workers);
        for count in [1, 2, 9] {
            let sum = runtime.chare(|_| Maker).make(count).wait();
            let own = (0..count as u64).sum::<u64>();
            assert_eq!(sum, own + 10 * count as u64 + count as u64);
        }
        runtime.quiescence().wait();
    }
}

/// Records the order in which messages arrive.
#[derive(Debug, Default)]
struct Diary {
    notes: Vec<u32>,
}

#[chare]
impl Diary {
    #[entry]
    fn note(&mut self, what: u32) {
        self.notes.push(what);
    }

    /// Sends messages that cannot be received before this entry ends.
    #[entry]
    fn busy_day(&mut self, cx: &mut Cx<Self>, of: Section<Self>) {
        for what in 0..3 {
            cx.all().note(what);
        }
        of.all().with_priority(-1).note(10);
        cx.all().with_priority(-2).note(20);
    }

    #[entry]
    fn notes(&self) -> Vec<u32> {
        self.notes.clone()
    }
}

#[test]
fn urgent_broadcasts_overtake_waiting_messages() {
    for form in SectionForm::ALL {
        let runtime = runtime(1);
        let diaries = runtime.array(3, |_| Diary::default());
        diaries.at(1).busy_day(diaries.section_with(form, 0..3));
        runtime.quiescence().wait();
        for index in 0..3 {
            assert_eq!(
                diaries.at(index).notes().wait(),
                [20, 10, 0, 1, 2],
                "{form}"
            );
        }
    }
}

#[test]
#[should_panic(expected = "can be more urgent than others, not less: its priority is 1")]
fn a_message_to_all_is_not_less_urgent_than_others() {
    let runtime = runtime(1);
    let diaries = runtime.array(3, |_| Diary::default());
    diaries.all().with_priority(1).note(0);
}
