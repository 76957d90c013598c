//! A read that several readers share.
//!
//! The first reader opens the read in more parts than there are readers. Each reader then takes one
//! part after another until none is left. So readers end at about the same time, and a reader that
//! never runs leaves no rows unread.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tonnage::Result;
use tonnage::internal::sync::lock;

use crate::access::TableReader;

/// Parts that are not taken yet.
type PartQueue = Arc<Mutex<VecDeque<TableReader>>>;

/// The runs of one node of a plan.
#[derive(Debug)]
pub(super) struct SharedRead {
    runs: Mutex<ReadRuns>,
}

#[derive(Default)]
struct ReadRuns {
    /// How often each reader has begun. A node that is run again reads everything again.
    begun: Vec<usize>,
    queues: Vec<PartQueue>,
}

impl std::fmt::Debug for ReadRuns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} runs", self.queues.len())
    }
}

impl SharedRead {
    pub(super) fn new(readers: usize) -> Self {
        Self { runs: Mutex::new(ReadRuns { begun: vec![0; readers], queues: Vec::new() }) }
    }

    /// What one reader has to do in the run that it begins now.
    pub(super) fn begin(
        &self,
        reader: usize,
        open: impl FnOnce() -> Result<Vec<TableReader>>,
    ) -> Result<ReadParts> {
        let mut runs = lock(&self.runs);
        let run = runs.begun[reader];
        if run == runs.queues.len() {
            let parts = open()?;
            runs.queues.push(Arc::new(Mutex::new(parts.into())));
        }
        runs.begun[reader] += 1;
        Ok(ReadParts { queue: runs.queues[run].clone() })
    }
}

/// The parts of a run, taken one by one.
pub(super) struct ReadParts {
    queue: PartQueue,
}

impl Iterator for ReadParts {
    type Item = TableReader;

    fn next(&mut self) -> Option<TableReader> {
        lock(&self.queue).pop_front()
    }
}
