//! The read pipeline: tasks of keys and ranges in, batches out, on bounded queues.
//!
//! Bulk gets, scans of pairs and index lookups share it.
//!
//! 1. A dispatcher ([`dispatch`]) takes tasks from their source one after another.
//! 2. Workers ([`worker`]) each read one task from the engine, batch by batch, and shape the rows.
//! 3. The pipeline ([`pipeline`]) hands the batches to whoever reads, in order where that is asked.
//! 4. What ends a read early, a cancel or a time-out, is looked at between batches and by whoever
//!    waits ([`control`]).
//! 5. What is read ahead is bounded: batches begin small and grow, and all that wait for readers
//!    are counted ([`ahead`]). Before the second batch is asked for a scan reads nothing ahead.
//! 6. A scan whose reader rests costs no thread and no file ([`rest`]).
//! 7. Whole keys are gathered, sorted and rid of duplicates before they are read
//!    ([`key_batches`]); a read of everything takes one range for each part of the engine
//!    ([`parts`]).

pub(crate) mod ahead;
pub(crate) mod control;
pub(crate) mod dispatch;
pub(crate) mod job;
pub(crate) mod key_batches;
pub(crate) mod line;
pub(crate) mod open_scan;
pub(crate) mod origin;
pub(crate) mod outlet;
pub(crate) mod parts;
pub(crate) mod pipeline;
pub(crate) mod plan;
pub(crate) mod rest;
pub(crate) mod running;
pub(crate) mod single;
pub(crate) mod task;
pub(crate) mod worker;

pub(crate) use ahead::ReadAhead;
pub(crate) use control::ReadControl;
pub(crate) use key_batches::{KeyBatcher, sorted_order};
pub(crate) use pipeline::ReadPipeline;
pub(crate) use plan::{ReadPlan, Shaper};
pub(crate) use single::read_by;
pub(crate) use task::{ReadTask, TaskSource};
