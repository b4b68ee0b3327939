//! The functions of bricks that profiles measure.

use raddle_trace::profile::{Activity, Function};

// A thread that needs bricks.

/// Gives a brick. The exclusive time is that for bricks in memory.
pub(super) static GET: Function = Function::new("get brick", Activity::Compute);
/// Loads a brick that is not in memory. The exclusive time is that of the cache.
pub(super) static LOAD: Function = Function::new("load brick", Activity::Compute);
/// Requests several bricks at once. The exclusive time is that of the cache.
pub(super) static PREFETCH: Function = Function::new("prefetch bricks", Activity::Compute);
/// Reads bricks from the memory of their homes.
pub(super) static READ: Function = Function::new("read from home", Activity::Communicate);
/// Sends requests.
pub(super) static REQUEST: Function = Function::new("send request", Activity::Communicate);
/// Waits for answers.
pub(super) static WAIT: Function = Function::new("wait for brick", Activity::Communicate);
/// Produces a brick on demand.
pub(super) static PRODUCE: Function = Function::new("produce brick", Activity::Compute);

// The thread that serves bricks.

/// Receives a request.
pub(super) static HANDLE_REQUEST: Function = Function::new("handle request", Activity::Compute);
/// Receives an answer, and copies it into a line.
pub(super) static HANDLE_ANSWER: Function = Function::new("handle answer", Activity::Compute);
/// Publishes a line, and wakes the threads that wait for it.
pub(super) static WAKE: Function = Function::new("wake threads", Activity::Synchronise);
/// Sends an answer.
pub(super) static ANSWER: Function = Function::new("send answer", Activity::Communicate);
