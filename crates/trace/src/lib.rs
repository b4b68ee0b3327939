//! Counters of the Raddle runtime, and the tables drawn from them.
