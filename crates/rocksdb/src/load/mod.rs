//! Load sessions: how rows come in by the million.
//!
//! Small writes go through the write-ahead log, one batch at a time. A load does not:
//!
//! 1. **Push** ([`session`]): entries are copied into *runs*, buffers of tens of megabytes, by as
//!    many threads as push. A fixed number of runs bounds the memory ([`pool`]). Those of one push
//!    are copied in about the order of their keys, so that neighbours in order are neighbours in
//!    memory.
//! 2. **Sort** ([`sort`]): a full run is sorted by a worker, on integers of key bytes.
//! 3. **Spill** ([`spill`]): when the memory is full of sorted runs, they go to disk.
//! 4. **Merge** ([`merge`]): a flush cuts the keys into ranges ([`range`]), and the threads of the
//!    load take one range after another. Of each they merge all runs, decide what becomes of every
//!    entry ([`conflict`]), write the winners to a file and have RocksDB ingest it ([`output`],
//!    [`gated_ingest`]). The files of a load never overlap, so there is nothing to compact. Entries
//!    of shard-prefixed spaces (indexes) lie in runs of their own ([`lane`]). They are stored
//!    first, without a look at what is there ([`index_output`]): no reader ever sees a row without
//!    them.
//! 5. **Report** ([`tally`]): the observer is called when entries are durable.
//!
//! A load of a few megabytes skips all that and uses the write-ahead log after all ([`small`]).
//!
//! Of large loads of the same keys one waits for the other at each file ([`crate::range_locks`]);
//! small ones wait for none. The observer is called when nothing is held.
//!
//! Entries carry the version that they took when they were pushed. A stored row with a greater
//! version was written later, and such an entry loses to it: it is overtaken. What is written while
//! a file is being built is caught by a load window, see [`crate::window`]; a window over the whole
//! session ([`concurrent_writes`]) shows a load that overwrites without looking the later rows, and
//! which of them were stored on a condition: over those an entry is stored all the same, with a new
//! version.

mod concurrent_writes;
mod conflict;
mod context;
mod cursor;
#[cfg(test)]
mod deadline_tests;
#[cfg(test)]
mod durability;
mod file;
mod flush;
mod gated_ingest;
mod index_output;
mod lane;
mod merge;
mod output;
mod pool;
mod range;
mod record;
mod run;
mod session;
mod small;
#[cfg(test)]
mod small_tests;
mod sort;
mod sources;
mod spill;
mod tally;
#[cfg(test)]
mod tests;
mod workers;

use std::sync::Arc;

use self_cell::self_cell;
use tonnage_engine::{Deadline, Entries, LoadOptions, LoadSession, Result, SpaceId};

use crate::open_store::OpenStore;
use session::RocksSession;

self_cell! {
    /// A session together with the store that it loads into: its holder need not borrow the engine.
    struct OwnedSession {
        owner: Arc<OpenStore>,
        #[not_covariant]
        dependent: RocksSession,
    }
}

/// Opens a session.
pub(crate) fn open_session(
    store: &Arc<OpenStore>,
    options: LoadOptions,
) -> Result<Box<dyn LoadSession>> {
    let store = Arc::clone(store);
    Ok(Box::new(OwnedSession::try_new(store, |store| RocksSession::open(store, options))?))
}

impl LoadSession for OwnedSession {
    fn push_by(
        &self,
        space: SpaceId,
        stream: u32,
        entries: &Entries,
        deadline: Deadline,
    ) -> Result<()> {
        self.with_dependent(|_, session| session.push(space, stream, entries, deadline))
    }

    fn pending_bytes(&self) -> u64 {
        self.with_dependent(|_, session| session.pending_bytes())
    }

    fn flush_by(&self, deadline: Deadline) -> Result<()> {
        self.with_dependent(|_, session| session.flush(deadline))
    }

    fn finish_by(self: Box<Self>, deadline: Deadline) -> Result<()> {
        self.flush_by(deadline)
    }
}
