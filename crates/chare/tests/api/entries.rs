//! All accepted forms of entries and message declarations.

use raddle_chare::{Chares, Cx, chare};

use crate::common::runtime;

struct Point {
    x: u32,
    y: u32,
}

/// A chare with arguments that have names which could clash with the generated code.
struct Odd;

#[chare]
impl Odd {
    const LENGTH: usize = 3;

    #[entry]
    fn same_names(&mut self, me: u32, cx: u32, args: u32, local: u32) -> u32 {
        me + cx + args + local
    }

    #[entry]
    async fn same_names_waiting(&mut self, me: u32, cx: u32) -> u32 {
        me + cx
    }

    #[entry]
    fn r#type(&self, r#fn: u32) -> u32 {
        r#fn
    }

    #[entry]
    fn patterns(&self, Point { x, y }: Point, (a, b): (u32, u32), mut c: u32, _: u32) -> u32 {
        c *= 10;
        x + y + a + b + c
    }

    #[entry]
    fn own_words(&self, values: [u8; Self::LENGTH], other: Option<Self>) -> usize {
        values.len() + usize::from(other.is_some())
    }

    #[entry]
    fn calls(&self, plain: fn(&str) -> usize, boxed: Box<dyn Fn(&str) -> usize + Send>) -> usize {
        plain("one") + boxed("three")
    }

    #[entry]
    fn shared_context(&self, cx: &Cx<Self>) -> usize {
        cx.worker_count()
    }

    #[cfg(loom)]
    #[entry]
    fn nowhere(&self) -> NoSuchType {}

    #[cfg(loom)]
    #[message]
    fn never(content: NoSuchType);

    #[cfg(not(loom))]
    #[message]
    fn r#match(number: u32);

    /// Has the name of a method of many types.
    #[entry]
    fn clone(&self) -> u32 {
        7
    }

    #[cfg(not(loom))]
    #[entry]
    async fn waits(&self, cx: &mut Cx<Self>) -> u32 {
        cx.next(Self::r#match).await
    }
}

#[test]
fn entries_accept_all_names_patterns_and_types() {
    let runtime = runtime(2);
    let odd = runtime.chare(|_| Odd);
    assert_eq!(odd.same_names(1, 2, 3, 4).wait(), 10);
    assert_eq!(odd.same_names_waiting(1, 2).wait(), 3);
    assert_eq!(odd.r#type(5).wait(), 5);
    let point = Point { x: 1, y: 2 };
    assert_eq!(odd.patterns(point, (3, 4), 5, 6).wait(), 60);
    assert_eq!(odd.own_words([0; 3], Some(Odd)).wait(), 4);
    assert_eq!(odd.calls(str::len, Box::new(str::len)).wait(), 8);
    assert_eq!(odd.shared_context().wait(), 2);
    assert_eq!(odd.clone().wait(), 7);
    odd.r#match(9);
    assert_eq!(odd.waits().wait(), 9);
}

/// A generic chare.
struct Store<T, const N: usize>
where
    T: Clone,
{
    items: [T; N],
}

#[chare]
impl<T: Send + 'static, const N: usize> Store<T, N>
where
    T: Clone,
{
    #[message]
    fn item(place: usize, item: T);

    #[entry]
    fn exchange(&mut self, items: [T; N]) -> [T; N] {
        std::mem::replace(&mut self.items, items)
    }

    #[entry]
    async fn take(&mut self, cx: &mut Cx<Self>) {
        let (place, item) = cx.next(Self::item).await;
        self.items[place] = item;
    }
}

#[test]
fn generic_chares_have_entries_and_messages() {
    let runtime = runtime(2);
    let words = runtime.array(2, |_| Store {
        items: ["a", "b"].map(str::to_owned),
    });
    words.all().item(1, "c".to_owned());
    words.all().take();
    let old = words.at(1).exchange(["d", "e"].map(str::to_owned)).wait();
    assert_eq!(old, ["a", "c"]);
    let numbers = runtime.chare(|_| Store { items: [1, 2, 3] });
    assert_eq!(numbers.exchange([4, 5, 6]).wait(), [1, 2, 3]);
}

mod elsewhere {
    use raddle_chare::{Cx, chare};

    /// A type with entries and messages of different visibility.
    pub(crate) struct Guarded(pub(crate) u32);

    #[chare]
    impl Guarded {
        #[entry]
        pub(super) fn add(&mut self, more: u32) {
            self.0 += more;
        }

        #[entry]
        pub(crate) fn value(&self) -> u32 {
            self.0
        }

        #[message]
        pub(crate) fn factor(by: u32);

        #[entry]
        pub(crate) async fn multiply(&mut self, cx: &mut Cx<Self>) {
            self.0 *= super::factor_of(cx).await;
        }
    }
}

/// Waits for a message that is declared in another module.
async fn factor_of(cx: &mut Cx<elsewhere::Guarded>) -> u32 {
    cx.next(elsewhere::Guarded::factor).await
}

#[test]
fn chares_in_other_modules_and_in_functions_are_usable() {
    let runtime = runtime(2);
    let guarded = runtime.chare(|_| elsewhere::Guarded(1));
    guarded.add(2);
    guarded.multiply();
    guarded.factor(5);
    assert_eq!(guarded.value().wait(), 15);

    struct Inner;

    #[chare]
    impl Inner {
        #[entry]
        fn name(&self) -> &'static str {
            "inner"
        }
    }

    assert_eq!(runtime.chare(|_| Inner).name().wait(), "inner");
}
