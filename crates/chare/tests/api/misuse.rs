//! Programming errors: each is reported where the program can react to it, with the names involved.

use raddle_chare::reduce::{Max, Sum};
use raddle_chare::{Array, ArrayOptions, Chares, Cx, Group, Reply, Section, chare};
use raddle_runtime::Runtime;

use crate::common::runtime;
use crate::panics::panic_text;

/// Makes mistakes on request.
struct Clumsy;

#[chare]
impl Clumsy {
    #[entry]
    fn is_there(&self) -> bool {
        true
    }

    #[entry]
    fn listen(&self) {}

    #[entry]
    fn end(&self, cx: &mut Cx<Self>) {
        cx.end();
    }

    #[entry]
    fn stumble(&self) {
        panic!("over its own feet");
    }

    #[entry]
    fn stumble_when_asked(&self) -> u32 {
        panic!("over {}", "a question");
    }

    #[entry]
    async fn stumble_later(&self, cx: &mut Cx<Self>) -> u32 {
        cx.next_where(Self::word, |_| panic!("over a word")).await
    }

    #[message]
    fn word(number: u32);

    #[entry]
    fn contribute_what_others_do_not(&self, cx: &mut Cx<Self>) {
        if cx.index() == 1 {
            cx.contribute(Max(1_u32));
        } else {
            cx.contribute(Sum(1_u32));
        }
    }

    #[entry]
    fn contribute_more_than_others(&self, cx: &mut Cx<Self>) {
        let count = if cx.index() == 1 { 3 } else { 2 };
        cx.contribute(Sum(vec![1_u32; count]));
    }

    #[entry]
    fn wait_for_itself(&self, cx: &mut Cx<Self>) -> bool {
        cx.this().is_there().wait()
    }

    #[entry]
    fn wait_for_another(&self, other: ClumsyProxy) -> bool {
        other.is_there().wait()
    }

    #[entry]
    async fn await_itself(&self, cx: &mut Cx<Self>) -> bool {
        cx.this().is_there().await
    }

    #[entry]
    fn ask_its_index(&self, cx: &mut Cx<Self>) -> usize {
        cx.index()
    }

    #[entry]
    fn contribute(&self, cx: &mut Cx<Self>) -> u32 {
        cx.contribute(Sum(1));
        1
    }

    #[entry]
    fn contribute_to(&self, cx: &mut Cx<Self>, section: Section<Self>) -> u32 {
        cx.contribute_to(section, Sum(1));
        1
    }

    #[entry]
    fn migrate(&self, cx: &mut Cx<Self>, worker: usize) -> u32 {
        cx.migrate_to(worker);
        1
    }

    #[entry]
    fn call_itself(&self, group: Group<Self>) -> u32 {
        group.with_here(|_| 1)
    }
}

fn clumsy(runtime: &Runtime) -> Array<Clumsy> {
    runtime.array(3, |_| Clumsy)
}

/// Returns the failure that the receiver of `reply` gets.
#[track_caller]
fn failure_of<T>(reply: Reply<T>) -> String {
    match reply.try_wait() {
        Ok(_) => panic!("the reply is a value"),
        Err(failure) => failure.to_string(),
    }
}

/// An element that panics.
struct Bomb;

#[chare]
impl Bomb {
    #[entry]
    fn explode(&mut self) {
        panic!("the fuse was short");
    }
}

#[test]
fn asking_for_an_element_that_panicked_says_what_it_panicked_with() {
    let runtime = runtime(2);
    let grid = runtime.array(2, |_| Bomb);
    let sparse = runtime.sparse_array::<Bomb>();
    sparse.insert(7, |_| Bomb);
    runtime.quiescence().wait();
    for (name, explode, ask) in [
        (
            "Bomb[1]",
            &(|| grid.at(1).explode()) as &dyn Fn(),
            &(|| _ = grid.at(1)) as &dyn Fn(),
        ),
        ("Bomb[7]", &|| sparse.at(7).explode(), &|| _ = sparse.at(7)),
    ] {
        explode();
        let gone = format!(
            "there is no {name}: it has ended; {name} panicked in `explode`: the fuse was short"
        );
        assert_eq!(
            panic_text(|| loop {
                ask()
            }),
            gone
        );
    }
    assert!(panic_text(|| drop(runtime)).contains("the fuse was short"));
}

#[test]
fn a_question_to_a_removed_element_fails_its_reply() {
    let runtime = runtime(2);
    let array = clumsy(&runtime);
    let removed = array.at(1);
    array.remove(1);
    let gone = "`is_there` was sent to Clumsy[1], which has ended";
    assert_eq!(failure_of(removed.is_there()), gone);
    assert_eq!(panic_text(|| removed.is_there().wait()), gone);
    // Other elements are not affected.
    assert!(array.at(2).is_there().wait());
    assert!(array.get(1).is_none());
    assert_eq!(
        panic_text(|| array.at(1)),
        "there is no Clumsy[1]: it was never made, or has ended"
    );
    assert_eq!(
        panic_text(|| array.remove(1)),
        "there is no Clumsy[1]: it was never made, or has ended"
    );
}

#[test]
fn a_message_to_a_removed_element_fails_pending_reductions() {
    let runtime = runtime(2);
    let array = clumsy(&runtime);
    let removed = array.at(1);
    array.remove(1);
    runtime.quiescence().wait();
    removed.listen();
    assert_eq!(
        failure_of(array.reduction::<u32>()),
        "`listen` was sent to Clumsy[1], which has ended"
    );
}

#[test]
fn a_panic_is_reported_with_the_name_of_the_chare() {
    let runtime = runtime(2);
    let array = clumsy(&runtime);
    assert_eq!(
        failure_of(array.at(0).stumble_when_asked()),
        "Clumsy[0] panicked in `stumble_when_asked`: over a question"
    );
    let reply = array.at(1).stumble_later();
    array.at(1).word(1);
    assert_eq!(
        failure_of(reply),
        "Clumsy[1] panicked in `stumble_later`: over a word"
    );
    // The two panics above failed the replies. The next message has no reply, so that its panic
    // fails the whole runtime.
    array.at(2).stumble();
    let stumbled = "Clumsy[2] panicked in `stumble`: over its own feet";
    assert_eq!(failure_of(array.reduction::<u32>()), stumbled);
    assert_eq!(panic_text(|| runtime.until_exit()), stumbled);
}

#[test]
fn a_panic_in_a_constructor_is_reported() {
    let runtime = runtime(2);
    let array = runtime.array(3, |index| {
        assert_ne!(index, 1, "no good number");
        Clumsy
    });
    let text = failure_of(array.reduction::<u32>());
    assert!(
        text.starts_with("Clumsy[1] panicked in `its constructor`:")
            && text.contains("no good number"),
        "{text}"
    );
}

#[test]
fn a_reduction_of_another_type_is_refused() {
    let runtime = runtime(2);
    let array = clumsy(&runtime);
    for index in 0..3 {
        array.at(index).contribute().wait();
    }
    assert_eq!(
        failure_of(array.reduction::<String>()),
        "a reduction of Clumsy results in i32, not in alloc::string::String"
    );
}

#[test]
fn a_worker_must_not_block_on_a_reply() {
    let runtime = runtime(2);
    let array = clumsy(&runtime);
    let why = "a worker waits for a reply, but the awaited message may have to run on that worker: \
        `.await` the reply in an `async` entry, or call `block_on(reply)`";
    assert_eq!(
        failure_of(array.at(0).wait_for_itself()),
        format!("Clumsy[0] panicked in `wait_for_itself`: {why}")
    );
    assert_eq!(
        failure_of(array.at(1).wait_for_another(array.at(2))),
        format!("Clumsy[1] panicked in `wait_for_another`: {why}")
    );
    assert_eq!(
        panic_text(|| runtime.install(|| array.at(2).is_there().wait())),
        why
    );
}

#[test]
fn an_entry_must_not_await_its_own_reply() {
    let runtime = runtime(2);
    let array = clumsy(&runtime);
    assert_eq!(
        failure_of(array.at(0).await_itself()),
        "Clumsy[0] panicked in `await_itself`: \
         waits for a reply of its own, which cannot arrive before its entry ends"
    );
}

#[test]
fn proxies_outlive_their_runtime() {
    let runtime = runtime(2);
    let array = clumsy(&runtime);
    let (one, section) = (array.at(0), array.section([0, 1]));
    assert!(one.is_there().wait());
    drop(runtime);
    let lost = "the reply to `Clumsy::is_there` is lost: the message was dropped";
    assert_eq!(failure_of(one.is_there()), lost);
    // Messages without a reply are dropped silently.
    one.listen();
    array.all().listen();
    section.all().listen();
    assert!(array.get(0).is_none());
    assert_eq!(
        failure_of(array.reduction::<u32>()),
        "the reply to `Clumsy::reduction` is lost: the message was dropped"
    );
    for panic in [
        panic_text(|| array.insert(3, |_| Clumsy)),
        panic_text(|| array.remove(0)),
        panic_text(|| array.section([0])),
        panic_text(|| section.count()),
    ] {
        let names =
            ["Array<Clumsy>#", "Section<Clumsy>#"].map(|what| format!("the runtime of {what}"));
        let is_named = names.iter().any(|name| panic.starts_with(name));
        assert!(is_named && panic.ends_with(" has ended"), "{panic}");
    }
}

#[test]
fn indices_outside_the_array_and_duplicate_indices_are_refused() {
    let runtime = runtime(2);
    let array = clumsy(&runtime);
    assert!(array.get(3).is_none());
    let none = "there is no Clumsy[3]: it was never made, or has ended";
    assert_eq!(panic_text(|| array.at(3)), none);
    assert_eq!(panic_text(|| array.remove(3)), none);
    assert_eq!(panic_text(|| array.section([0, 3])), none);
    for (index, refused) in [
        (1, "Clumsy[1] is there already"),
        (3, "Clumsy[3] lies outside the array"),
    ] {
        assert_eq!(panic_text(|| array.insert(index, |_| Clumsy)), refused);
    }
    let keys: Array<Clumsy> = runtime.sparse_array();
    keys.insert(1 << 40, |_| Clumsy);
    assert_eq!(
        panic_text(|| keys.insert(1 << 40, |_| Clumsy)),
        "Clumsy[1099511627776] is there already"
    );
    assert!(keys.at(1 << 40).is_there().wait());
}

#[test]
fn a_section_refuses_duplicates_and_contributions_of_strangers() {
    let runtime = runtime(2);
    let array = clumsy(&runtime);
    assert_eq!(
        panic_text(|| array.section([0, 1, 0])),
        "a section of Clumsy names 0 twice"
    );
    let section = array.section([0, 1]);
    let stranger = failure_of(array.at(2).contribute_to(section));
    assert!(
        stranger.starts_with(
            "Clumsy[2] panicked in `contribute_to`: Clumsy[2] is not a member of Section<Clumsy>#"
        ),
        "{stranger}"
    );
}

#[test]
fn a_section_of_single_chares_refuses_other_members() {
    let (runtime, other) = (runtime(2), runtime(2));
    let array = clumsy(&runtime);
    let (one, two) = (runtime.chare(|_| Clumsy), runtime.chare_on(1, |_| Clumsy));
    let section = |members: Vec<ClumsyProxy>| panic_text(|| runtime.section(members));
    let in_array = section(vec![one, array.at(0)]);
    assert!(
        in_array.ends_with(" is in an array or a group; create its sections with `Array::section`"),
        "{in_array}"
    );
    let stranger = section(vec![other.chare(|_| Clumsy)]);
    assert!(
        stranger.ends_with(" is a chare of another runtime"),
        "{stranger}"
    );
    let twice = section(vec![one, two, one]);
    assert!(
        twice.starts_with("a section of Clumsy names Clumsy#") && twice.ends_with(" twice"),
        "{twice}"
    );
    two.end();
    runtime.quiescence().wait();
    assert_eq!(
        section(vec![one, two]),
        "`section` was sent to a Clumsy, which has ended"
    );
    let section = runtime.section([one]);
    assert_eq!(
        panic_text(|| section.array()),
        format!("the members of {section:?} are in no array")
    );
    assert_eq!(array.section([0]).array().at(0), array.at(0));
    let stranger = failure_of(runtime.chare(|_| Clumsy).contribute_to(section));
    assert!(
        stranger.starts_with(
            "a Clumsy panicked in `contribute_to`: a Clumsy is not a member of Section<Clumsy>#"
        ),
        "{stranger}"
    );
    let stranger = failure_of(array.at(0).contribute_to(section));
    assert!(
        stranger.ends_with(": its members are in another collection"),
        "{stranger}"
    );
}

#[test]
fn a_chare_in_no_array_has_no_index_and_cannot_contribute() {
    let runtime = runtime(2);
    assert_eq!(
        failure_of(runtime.chare(|_| Clumsy).ask_its_index()),
        "a Clumsy panicked in `ask_its_index`: this Clumsy is in no array"
    );
    assert_eq!(
        failure_of(runtime.chare(|_| Clumsy).contribute()),
        "a Clumsy panicked in `contribute`: \
         this Clumsy is in no array, and has no elements to reduce with"
    );
}

#[test]
fn worker_numbers_out_of_range_are_refused() {
    let runtime = runtime(2);
    let array = clumsy(&runtime);
    let none = "there is no worker 2: there are 2";
    assert_eq!(
        failure_of(array.at(0).migrate(2)),
        format!("Clumsy[0] panicked in `migrate`: {none}")
    );
    assert_eq!(panic_text(|| array.insert_on(2, 7, |_| Clumsy)), none);
    assert_eq!(panic_text(|| runtime.chare_on(2, |_| Clumsy)), none);
    let options = ArrayOptions::new(3).placed(|index| index);
    assert_eq!(
        panic_text(|| runtime.array_with(options, |_| Clumsy)),
        "Clumsy[2] is placed on worker 2; there are 2"
    );
    assert_eq!(
        panic_text(|| runtime.array(1 << 31, |_| Clumsy)),
        "an array of shape 2147483648 has too many elements; expected fewer than 2^31"
    );
}

#[test]
fn elements_of_a_group_cannot_migrate_and_are_called_on_their_worker() {
    let runtime = runtime(2);
    let group = runtime.group(|_| Clumsy);
    assert_eq!(
        failure_of(group.at(0).migrate(1)),
        "Clumsy[0] panicked in `migrate`: elements of a group stay where they are"
    );
    assert_eq!(
        panic_text(|| group.here()),
        "this thread is not a worker, and has no element of Group<Clumsy>"
    );
    let unreachable = "no element of Group<Clumsy> can be reached here: \
        this thread is not a worker, or the element is already running, or not constructed yet";
    assert_eq!(panic_text(|| group.with_here(|_| 1)), unreachable);
    assert_eq!(
        failure_of(group.at(1).call_itself(group)),
        format!("Clumsy[1] panicked in `call_itself`: {unreachable}")
    );
}

#[test]
fn contributions_of_different_types_or_lengths_fail_the_reduction() {
    let text_of = |contribute: fn(Array<Clumsy>)| {
        let runtime = runtime(2);
        let array = clumsy(&runtime);
        contribute(array);
        failure_of(array.reduction::<u32>())
    };
    let kinds = text_of(|array| array.all().contribute_what_others_do_not());
    let [one, other] = ["Sum<u32>", "Max<u32>"];
    let said = |one, other| {
        format!("reduction 0 of Clumsy: some elements contribute {one}, others {other}")
    };
    assert!(
        [said(one, other), said(other, one)].contains(&kinds),
        "{kinds}"
    );
    let lengths = text_of(|array| array.all().contribute_more_than_others());
    let said = |one, other| {
        format!(
            "reduction 0 of Clumsy: contributions of {one} and of {other} values \
             do not fit together"
        )
    };
    assert!([said(2, 3), said(3, 2)].contains(&lengths), "{lengths}");
}
