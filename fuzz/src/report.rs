//! Analyses of recordings: any events with the names and arguments of ours, in any order, give a
//! report or an error.

use raddle_analysis::summary::Summary;
use raddle_analysis::{Recording, page, text};
use raddle_timeline::{Event, Format, Track, Value, Writer, read};

/// The categories of events.
const CATEGORIES: [&str; 22] = [
    "task",
    "fork",
    "message",
    "entry",
    "call",
    "section",
    "scope",
    "loop",
    "wait",
    "pause",
    "idle",
    "join",
    "put",
    "publish",
    "steal",
    "send",
    "node",
    "note",
    "access",
    "not recorded",
    "",
    "other",
];
/// Names of events, of which some have a meaning.
const NAMES: [&str; 16] = [
    "a",
    "b",
    "wait for join",
    "wait for scope",
    "wait for handle",
    "wait for location",
    "search",
    "sleep",
    "rest",
    "blocked",
    "preempted",
    "send to node",
    "receive from node",
    "<b>&",
    "not recorded",
    "",
];
/// Names of arguments.
const ARGUMENTS: [&str; 16] = [
    "bytes",
    "collection",
    "depth",
    "element",
    "idle_ns",
    "items",
    "messages",
    "node",
    "owner",
    "second_ns",
    "tasks",
    "value",
    "victim",
    "worker",
    "on",
    "entry",
];
/// Names of threads.
const THREADS: [&str; 6] = [
    "worker 0",
    "worker 1",
    "worker 0",
    "compensating thread 2",
    "main",
    "runtime 1, worker 7",
];

/// Bytes that decide about a recording; zeros when they are used up.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::from(self.byte()) % all.len()]
    }

    /// Returns a number that is small, or near a power of two.
    fn number(&mut self) -> u64 {
        match self.byte() {
            small @ ..192 => u64::from(small % 16),
            power => (1_u64 << (power % 64)).wrapping_sub(u64::from(self.byte() % 3)),
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Makes a recording of `bytes`, and reports it in all forms.
///
/// # Panics
/// If an analysis panics, or the error for a recording takes more than one line.
pub fn report(bytes: &[u8]) {
    let file = write(&mut Choices(bytes)).expect("memory");
    let timeline = read(&file[..]).expect("a timeline that we have written");
    match Recording::new(timeline) {
        Ok(recording) => {
            let summary = Summary::of(&recording);
            assert!(!text::render(&summary, 5).is_empty());
            assert!(
                page::render(&summary, "fuzz")
                    .trim_end()
                    .ends_with("</html>")
            );
            for table in summary.tables() {
                assert!(table.to_csv().contains('\n'));
            }
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1),
    }
}

fn write(choices: &mut Choices<'_>) -> std::io::Result<Vec<u8>> {
    let mut writer = Writer::new(Format::Perfetto, Vec::new())?;
    let processes = 1 + u32::from(choices.byte() % 2);
    let tracks = 1 + u64::from(choices.byte() % 4);
    let mut id = 0;
    let mut of_threads = Vec::new();
    for process in 0..processes {
        writer.process(process, "program")?;
        for (rank, name) in ["raddle"].into_iter().chain(THREADS).enumerate() {
            if rank as u64 > tracks {
                break;
            }
            writer.track(&Track {
                id,
                process,
                thread: id as u32,
                name,
                rank: rank as i32,
            })?;
            match rank {
                0 => write_facts(&mut writer, id, choices)?,
                _ => of_threads.push(id),
            }
            id += 1;
        }
    }
    let mut open = vec![0_u32; of_threads.len()];
    let mut at_ns = vec![0_u64; of_threads.len()];
    for _ in 0..1_000 {
        if choices.is_empty() {
            break;
        }
        let index = usize::from(choices.byte()) % of_threads.len();
        let track = of_threads[index];
        // Some are longer than a clock runs.
        let mask = if choices.byte() == 255 {
            u64::MAX
        } else {
            (1 << 50) - 1
        };
        at_ns[index] = at_ns[index].saturating_add(choices.number() & mask);
        let now_ns = at_ns[index];
        let arguments = [(); 2].map(|()| {
            let name = choices.of(&ARGUMENTS);
            (name, Value::Unsigned(choices.number()))
        });
        let flow = [u64::from(choices.byte() % 8)];
        let (flows, flows_ended): (&[u64], &[u64]) = match flow[0] {
            0..3 => (&[], &[]),
            3..6 => (&flow, &[]),
            _ => (&[], &flow),
        };
        let event = Event {
            category: choices.of(&CATEGORIES),
            arguments: &arguments,
            flows,
            flows_ended,
            ..Event::named(choices.of(&NAMES))
        };
        match choices.byte() % 4 {
            0 => writer.instant(track, now_ns, &event)?,
            1 if open[index] > 0 => {
                writer.end(track, now_ns)?;
                open[index] -= 1;
            }
            _ => {
                writer.begin(track, now_ns, &event)?;
                open[index] += 1;
            }
        }
    }
    writer.finish()
}

fn write_facts(
    writer: &mut Writer<Vec<u8>>,
    track: u64,
    choices: &mut Choices<'_>,
) -> std::io::Result<()> {
    let runtime = format!(
        "{{\"runtime\":{},\"report\":{{\"workers\":[{{\"tasks\":{}}}]}},\
         \"plan\":{{\"workers\":[{}]}},\
         \"sharing\":{{\"names\":[\"L3\"],\"pairs\":[[0,{},0]]}},\
         \"traffic\":{{\"size\":2,\"entries\":[[0,{},{}]]}}}}",
        choices.number(),
        choices.number(),
        choices.number(),
        choices.number(),
        choices.number(),
        choices.number(),
    );
    let arguments = [
        ("from_ns", Value::Unsigned(choices.number())),
        ("until_ns", Value::Unsigned(choices.number())),
        ("dropped_events", Value::Unsigned(choices.number())),
        ("scope_interior_ns", Value::Float(f64::from(choices.byte()))),
        ("runtime 0", Value::Text(&runtime)),
    ];
    let facts = Event {
        category: raddle_trace::export::FACTS,
        arguments: &arguments,
        ..Event::named("facts")
    };
    writer.instant(track, 0, &facts)
}
