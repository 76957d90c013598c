//! The read pipeline: tasks of keys and ranges in, batches out, on bounded queues.
//!
//! Bulk gets, scans of pairs and index lookups share it.
//!
//! 1. A dispatcher ([`dispatch`]) takes tasks from their source one after another.
//! 2. Workers ([`worker`]) each read one task from the engine, batch by batch, and shape the rows.
//! 3. The pipeline ([`pipeline`]) hands the batches to the reader, in order if that is asked for.
//! 4. Workers between batches, and waiting threads, check whether a cancel or a timeout ends the
//!    read ([`control`]).
//! 5. What is read ahead is bounded ([`ahead`]): batches begin small and grow, and all that wait
//!    for readers are counted. A scan reads nothing ahead before the reader asks for the second
//!    batch.
//! 6. A scan without a reader is paused, and holds no thread and no file ([`paused_scans`]).
//! 7. Whole keys are gathered, sorted and rid of duplicates before they are read
//!    ([`key_batches`]). A read of everything takes one range for each part of the engine
//!    ([`parts`]).

pub(crate) mod ahead;
pub(crate) mod control;
pub(crate) mod dispatch;
pub(crate) mod job;
pub(crate) mod key_batches;
pub(crate) mod open_scan;
pub(crate) mod origin;
pub(crate) mod parts;
pub(crate) mod paused_scans;
pub(crate) mod piece_sender;
pub(crate) mod pipeline;
pub(crate) mod plan;
pub(crate) mod running_read;
pub(crate) mod single;
pub(crate) mod task;
pub(crate) mod task_sink;
pub(crate) mod worker;

pub(crate) use ahead::ReadAhead;
pub(crate) use control::ReadControl;
pub(crate) use key_batches::{KeyBatcher, sorted_order};
pub(crate) use pipeline::ReadPipeline;
pub(crate) use plan::{ReadPlan, Shaper};
pub(crate) use single::read_by;
pub(crate) use task::{ReadTask, TaskSource};
