//! What was sent to a section belonged to somebody after all its members had done with it: the message that had brought it, on its way to
//! the next member or back from the last. A kd-tree's node task that took the lists of its cell back, as nobody else could have them any more, found
//! them shared now and then.

use std::sync::Arc;

use raddle_chare::{Chares, Cx, Section, SectionForm, chare};

use crate::common::{runtime, soon};

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
fn what_all_members_have_dropped_belongs_to_who_sent_it() {
    let runtime = runtime(3);
    let readers = runtime.array(9, |_| Reader);
    for form in SectionForm::ALL {
        let section = readers.section_with(form, 0..9);
        let library = runtime.chare(|_| Library);
        let kept_by_others = soon(move || library.lend(section, 2_000).wait());
        assert_eq!(kept_by_others, 0, "{form}");
    }
}
