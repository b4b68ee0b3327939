//! Atomics behind one door, wait cells and queues of the Raddle runtime.
