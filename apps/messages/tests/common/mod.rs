//! Set-up that the tests of this crate share.

use raddle::{MailboxKind, Runtime};

/// Starts a runtime with `worker_count` workers and a kind of mailbox.
pub(crate) fn runtime(worker_count: usize, mailbox: MailboxKind) -> Runtime {
    Runtime::builder()
        .workers(worker_count)
        .mailbox(mailbox)
        .build()
        .expect("the workers start")
}
