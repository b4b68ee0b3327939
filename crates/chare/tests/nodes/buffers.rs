//! Buffers of numbers cross nodes in every possible way: as arguments, replies, messages,
//! contributions and broadcasts, and inside elements that migrate.

use std::sync::Arc;

use raddle_chare::nodes::Job;
use raddle_chare::reduce::{Max, Sum};
use raddle_chare::{Chares, Cx, chare};
use raddle_net::TransportKind;
use raddle_runtime::Runtime;
use serde::{Deserialize, Serialize};

/// Lengths of buffers that fit into one packet of a wire message, and of buffers that need several.
const LENS: [usize; 4] = [0, 1, 1_000, 300_000];
const COUNT: usize = 4;

/// Stores the buffers that it receives.
#[derive(Serialize, Deserialize)]
struct Store {
    #[serde(with = "raddle_chare::nodes::plain")]
    floats: Vec<f64>,
    words: Vec<String>,
}

fn floats(len: usize) -> Vec<f64> {
    (0..len).map(|number| number as f64 / 3.0).collect()
}

fn bytes(len: usize) -> Box<[u8]> {
    (0..len).map(|number| (number * 7) as u8).collect()
}

#[chare(nodes, state)]
impl Store {
    #[message]
    fn piece(piece: Box<[i32]>);

    /// Takes buffers between other arguments.
    #[entry]
    fn put(&mut self, before: u32, floats: Vec<f64>, bytes: Box<[u8]>, words: Vec<String>) -> bool {
        let expected = self::bytes(bytes.len());
        let is_whole = before == 7 && bytes.into_vec() == expected.into_vec();
        (self.floats, self.words) = (floats, words);
        is_whole
    }

    #[entry]
    fn get(&mut self) -> Vec<f64> {
        self.floats.clone()
    }

    #[entry]
    fn share(&mut self, shared: Arc<[u16]>) -> u64 {
        shared.iter().copied().map(u64::from).sum()
    }

    #[entry]
    async fn add_pieces(&mut self, cx: &mut Cx<Self>, count: usize) -> i64 {
        let mut sum = 0;
        for _ in 0..count {
            let piece = cx.next(Self::piece).await;
            sum += piece.iter().copied().map(i64::from).sum::<i64>();
        }
        sum
    }

    #[entry]
    fn fill(&mut self, floats: Vec<f64>) {
        self.floats = floats;
    }

    #[entry]
    fn add_up(&mut self, cx: &mut Cx<Self>) {
        let highest = Max(self.floats.clone());
        cx.contribute((Sum(1_u64), Sum(cx.index() as u64)));
        cx.contribute(highest);
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, worker: usize) {
        cx.migrate_to(worker);
    }

    #[entry]
    fn node(&mut self, cx: &mut Cx<Self>) -> usize {
        cx.node()
    }
}

#[test]
fn buffers_arrive_unchanged_in_every_way_of_sending() {
    for &kind in TransportKind::WITHIN {
        let job = Job::new(2)
            .transport(kind)
            .runtime(Runtime::builder().workers(1));
        let ran = job.run_within(
            |setup| {
                setup.reducer::<(Sum<u64>, Sum<u64>)>();
                setup.array(COUNT, |_| Store {
                    floats: Vec::new(),
                    words: Vec::new(),
                })
            },
            |runtime, stores| {
                let far = stores.at(COUNT - 1);
                for len in LENS {
                    let words = vec!["a word".to_owned(); 3];
                    let put = far.put(7, floats(len), bytes(len), words);
                    assert!(put.wait(), "{kind}, {len}");
                    assert_eq!(far.get().wait(), floats(len), "{kind}, {len}");
                    assert_eq!(far.share(vec![5; len].into()).wait(), 5 * len as u64);
                    let sum = far.add_pieces(2);
                    far.piece(vec![-1; len].into());
                    far.piece(vec![3; len].into());
                    assert_eq!(sum.wait(), 2 * len as i64, "{kind}, {len}");

                    stores.all().fill(floats(len));
                    stores.all().add_up();
                    let sums: (u64, u64) = stores.reduction().wait();
                    assert_eq!(sums, (COUNT as u64, 6));
                    let highest: Vec<f64> = stores.reduction().wait();
                    assert_eq!(highest, floats(len), "{kind}, {len}");

                    for worker in [0, 1] {
                        far.go(worker);
                        runtime.quiescence().wait();
                        assert_eq!(far.node().wait(), worker, "{kind}, {len}");
                        assert_eq!(far.get().wait(), floats(len), "{kind}, {len}");
                    }
                }
            },
        );
        ran.unwrap_or_else(|error| panic!("{kind}: {error}"));
    }
}
