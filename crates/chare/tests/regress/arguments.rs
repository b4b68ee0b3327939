//! Regression: an argument of a broadcast to a section was still referenced after all members had
//! dropped it. The message that carried the argument to the next member, or back from the last one,
//! held the reference. A node task of a kd-tree that expected to be the only owner of the lists of
//! its cell therefore sometimes found them shared.

use std::sync::Arc;

use raddle_chare::{Chares, Cx, Section, SectionForm, chare};

use crate::common::runtime;
use crate::soon::soon;

struct Reader;

#[chare]
impl Reader {
    #[entry]
    fn read(&mut self, cx: &mut Cx<Self>, section: Section<Self>, book: Arc<u32>) {
        drop(book);
        cx.contribute_to(section, ());
    }
}

struct Library;

#[chare]
impl Library {
    #[entry]
    async fn lend(&mut self, section: Section<Reader>, times: u32) -> u32 {
        let mut kept_by_others = 0;
        for _ in 0..times {
            let book = Arc::new(7);
            section.all().read(section, Arc::clone(&book));
            section.reduction::<()>().await;
            kept_by_others += u32::from(Arc::into_inner(book).is_none());
        }
        kept_by_others
    }
}

#[test]
fn the_sender_is_the_only_owner_after_all_members_dropped_an_argument() {
    let runtime = runtime(3);
    let readers = runtime.array(9, |_| Reader);
    for form in SectionForm::ALL {
        let section = readers.section_with(form, 0..9);
        let library = runtime.chare(|_| Library);
        let kept_by_others = soon(move || library.lend(section, 2_000).wait());
        assert_eq!(kept_by_others, 0, "{form}");
    }
}
