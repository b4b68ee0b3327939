//! The kinds of transport: their names, and which of them this process can use.
//!
//! To add a transport, add a line in `transports!`. The compiler then asks for two arms in
//! `transport/share.rs`, which create and receive the memory and sockets of a node.

pub(crate) mod ranks;

use std::fmt;

/// Declares the kinds of transport, in three groups by what a node is. Each has a line with its
/// name.
macro_rules! transports {
    (
        threads: { $($(#[$threads_about:meta])+ $threads:ident = $threads_name:literal,)+ }
        threads_or_processes: {
            $($(#[$either_about:meta])+ $either:ident = $either_name:literal,)+
        }
        processes_of_mpi: { $($(#[$ranks_about:meta])+ $ranks:ident = $ranks_name:literal,)+ }
    ) => {
        /// The way in which messages travel from one node to another.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum TransportKind {
            $($(#[$threads_about])+ $threads,)+
            $($(#[$either_about])+ $either,)+
            $($(#[$ranks_about])+ $ranks,)+
        }

        impl TransportKind {
            /// All kinds of transport.
            pub const ALL: &'static [Self] =
                &[$(Self::$threads,)+ $(Self::$either,)+ $(Self::$ranks,)+];
            /// The kinds with which each node can be a process.
            pub const OF_PROCESSES: &'static [Self] = &[$(Self::$either,)+ $(Self::$ranks,)+];
            /// The kinds with which all nodes can be [in one process](crate::Node::in_process).
            pub const WITHIN: &'static [Self] = &[$(Self::$threads,)+ $(Self::$either,)+];

            /// Returns the name that `--transport` and `RADDLE_TRANSPORT` take.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$threads => $threads_name,)+
                    $(Self::$either => $either_name,)+
                    $(Self::$ranks => $ranks_name,)+
                }
            }

            /// Returns true if the nodes are processes that MPI has started.
            pub const fn is_by_mpi(self) -> bool {
                match self {
                    $(Self::$threads)|+ | $(Self::$either)|+ => false,
                    $(Self::$ranks)|+ => true,
                }
            }
        }
    };
}

transports! {
    threads: {
        /// The nodes are in one process and have pointers to each other's memory.
        Threads = "threads",
    }
    threads_or_processes: {
        /// The sender writes to memory that it shares with the receiver.
        #[default]
        Memory = "shm",
        /// The sender passes messages to the kernel, and the receiver fetches them from there. This
        /// is how runtimes without shared memory communicate on one machine.
        Sockets = "socket",
    }
    processes_of_mpi: {
        /// The nodes are processes that `mpirun` or `srun` has started, on one machine or on
        /// several. Nodes on one machine share memory, like with [`Memory`](Self::Memory). Between
        /// machines, MPI transports the messages. Needs the feature `mpi`.
        Mpi = "mpi",
        /// Like [`Mpi`](Self::Mpi), except that MPI transports all messages, also within one
        /// machine. This serves to measure the cost of MPI, and programs that must not share
        /// memory.
        MpiMessages = "mpi-messages",
    }
}

impl TransportKind {
    /// Returns the kind with a name, ignoring case.
    pub fn by_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// Returns true if this process can have nodes with this transport.
    ///
    /// The MPI transports need a program that was built with MPI, in a process that MPI has
    /// started. The others need a process that MPI has not started next to others, because each of
    /// those processes would have nodes of its own.
    pub fn is_here(self) -> bool {
        if self.is_by_mpi() {
            cfg!(feature = "mpi") && ranks::count().is_some()
        } else {
            !Self::here().is_by_mpi()
        }
    }

    /// Returns the default kind of this process: `mpi` if MPI has started it next to others,
    /// otherwise shared memory.
    ///
    /// A process in a shell that `srun` has started counts as started by MPI, but is alone.
    pub fn here() -> Self {
        match ranks::count() {
            None | Some(..2) => Self::Memory,
            Some(_) => Self::Mpi,
        }
    }

    /// Returns the names of the kinds with which nodes can be processes, for error messages.
    pub fn names_of_processes() -> String {
        let names: Vec<&str> = Self::OF_PROCESSES.iter().map(|kind| kind.name()).collect();
        names.join(", ")
    }
}

impl fmt::Display for TransportKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
