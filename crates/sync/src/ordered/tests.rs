//! Tests of data behind FIFOs: grants, pieces and wholes, loans, panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::task::{Wake, Waker};

use super::{Handle, Ordered, Read, Then, Write, split};
use crate::fifo::Standing;

fn requesting<D: ?Sized, R: super::Right>(place: &Ordered<D>) -> Handle<D, R> {
    let mut handle = Handle::new(place);
    handle.put_in();
    handle
}

#[test]
fn values_move_in_and_out_of_guards() {
    let place = Ordered::new(vec![1, 2, 3]);
    let mut writer = requesting::<_, Write>(&place);
    let moved = std::mem::take(&mut *writer.enter(Then::Renew).expect("granted"));
    assert_eq!(moved, [1, 2, 3]);
    writer.enter(Then::GiveBack).expect("granted again").push(4);
    assert!(writer.enter(Then::GiveBack).is_none(), "given back");
    assert_eq!(
        *requesting::<_, Read>(&place)
            .enter(Then::GiveBack)
            .expect("free"),
        [4]
    );
}

#[test]
fn pieces_are_granted_separately_and_the_whole_after_all_of_them() {
    let (whole, pieces) = split(vec![0_u32; 10].into_boxed_slice(), &[3, 0, 7]);
    let mut first = requesting::<_, Write>(&pieces[0]);
    let mut last = requesting::<_, Write>(&pieces[2]);
    let mut all = requesting::<_, Write>(&whole);
    let mut again = requesting::<_, Read>(&pieces[2]);
    {
        let mut left = first.enter(Then::GiveBack).expect("granted");
        let mut right = last
            .enter(Then::GiveBack)
            .expect("granted at the same time");
        left.fill(1);
        right.fill(2);
        assert_eq!(all.standing(), Standing::Waiting);
    }
    {
        let mut all = all.enter(Then::Renew).expect("both pieces are free");
        assert_eq!(*all, [1, 1, 1, 2, 2, 2, 2, 2, 2, 2]);
        all[9] = 5;
    }
    assert_eq!(
        all.standing(),
        Standing::Waiting,
        "the reader of a piece comes first"
    );
    assert_eq!(again.enter(Then::GiveBack).expect("granted")[6], 5);
    assert_eq!(all.standing(), Standing::Granted);
    assert_eq!((whole.piece_count(), pieces[1].piece_count()), (3, 1));
}

#[test]
fn a_loan_takes_the_turn_of_its_handle() {
    let place = Ordered::new(String::from("a"));
    let writer = requesting::<_, Write>(&place);
    let mut reader = requesting::<_, Read>(&place);
    let mut loan = writer.lend(Then::GiveBack).expect("granted");
    let reader_waits = reader.enter(Then::GiveBack).is_none();
    std::thread::spawn(move || loan.push('b'))
        .join()
        .expect("no panic");
    assert!(reader_waits);
    assert_eq!(*reader.enter(Then::GiveBack).expect("granted"), "ab");
    let second = requesting::<_, Write>(&place);
    let third = requesting::<_, Write>(&place);
    assert!(
        third.lend(Then::GiveBack).is_err(),
        "another request is in front"
    );
    drop(second);
}

#[test]
fn a_panic_in_a_guard_stops_the_data() {
    let place = Ordered::new(0);
    let mut writer = requesting::<_, Write>(&place);
    let reader = requesting::<_, Read>(&place);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let mut number = writer.enter(Then::Renew).expect("granted");
        *number = 1;
        panic!("on purpose");
    }));
    assert!(panic.is_err());
    drop(writer);
    assert_eq!(reader.standing(), Standing::Stopped);
    assert!(place.is_stopped());
}

/// Reproduces a bug: a handle that waited for a whole left a waker only in the FIFO where it waited
/// first, and slept on when another piece was the last to be free.
#[test]
fn a_waiter_for_a_whole_is_woken_by_the_last_piece() {
    struct Bell(mpsc::Sender<()>);
    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.send(()).expect("the test still receives");
        }
    }
    let (rings, woken) = mpsc::channel();
    let (whole, pieces) = split(vec![0_u8; 3].into_boxed_slice(), &[1, 1, 1]);
    let mut writers: Vec<_> = pieces.iter().map(requesting::<_, Write>).collect();
    let all = requesting::<_, Read>(&whole);
    assert!(all.register_waker(&Waker::from(Arc::new(Bell(rings)))));
    for piece in [1, 0, 2] {
        drop(writers[piece].enter(Then::GiveBack).expect("granted"));
        assert_eq!(woken.try_iter().count(), 1);
    }
    assert_eq!(all.standing(), Standing::Granted);
}
