//! A scan of the engine with the state kept from batch to batch. Its first batches need no thread.

use std::collections::VecDeque;

use tonnage_engine::{Result, Rows, ScanOptions, Scanner};

use crate::read::plan::{BatchSize, ReadPlan, Shaper};
use crate::read::task::ReadTask;

/// The most batches that are read without a thread; starting one costs more than reading these.
const INLINE_BATCHES_MAX: usize = 3;
/// Batches that are not full are followed by others until so many pieces wait.
const INLINE_PIECES_MAX: usize = 2;

/// A scan under way.
pub(crate) struct OpenScan<S: Shaper> {
    scanner: Box<dyn Scanner>,
    /// Gone once the scan is over.
    memory: Option<S::Memory>,
}

impl<S: Shaper> OpenScan<S> {
    /// The scan that a task asks for; nothing for one that looks keys up.
    pub(crate) fn of(plan: &ReadPlan<S>, task: &ReadTask) -> Result<Option<Self>> {
        let scanner = match task.plain() {
            ReadTask::Traced { .. } | ReadTask::Keys(_) | ReadTask::Entries { .. } => {
                return Ok(None);
            }
            ReadTask::Ranges(ranges) => {
                plan.engine.scan(plan.space, ranges.clone(), plan.scan.clone())?
            }
            ReadTask::Part(part) => plan.engine.scan_part(plan.space, part, plan.scan.clone())?,
            ReadTask::Filtered { ranges, filter } => {
                let scan = ScanOptions { filter: Some(filter.clone()), ..plan.scan.clone() };
                plan.engine.scan(plan.space, ranges.clone(), scan)?
            }
        };
        Ok(Some(Self { scanner, memory: Some(plan.shaper.begin(task)) }))
    }

    /// Whether all was read.
    pub(crate) fn is_over(&self) -> bool {
        self.memory.is_none()
    }

    /// Reads the next batch into `rows`, and emits what the shaper makes of it. Answers whether the
    /// batch was full.
    pub(crate) fn read(
        &mut self,
        plan: &ReadPlan<S>,
        size: BatchSize,
        rows: &mut Rows,
        emit: &mut dyn FnMut(S::Output) -> bool,
    ) -> Result<bool> {
        let Some(memory) = self.memory.as_mut() else { return Ok(false) };
        let most = plan.batch_max(size);
        self.scanner.set_batch_max(most.rows, most.bytes);
        if self.scanner.next_batch(rows)? {
            plan.control.check()?;
            plan.control.progress.note_batch(rows.len(), rows.bytes());
            // The shaper may change the rows.
            let is_full = rows.len() >= most.rows || rows.bytes() >= most.bytes;
            plan.shaper.shape(&*plan.engine, rows, memory, emit)?;
            return Ok(is_full);
        }
        if let Some(memory) = self.memory.take() {
            plan.shaper.end(&*plan.engine, memory, emit)?;
        }
        Ok(false)
    }

    /// Lets go of what the scan holds of the engine.
    pub(crate) fn release(&mut self) -> Result<()> {
        self.scanner.release()
    }
}

/// A single scan whose first batches its reader reads itself, each when it asks for it.
pub(crate) struct InlineScan<S: Shaper> {
    /// Nothing once a thread has it.
    scan: Option<OpenScan<S>>,
    pieces: VecDeque<S::Output>,
    batches: usize,
}

/// What a scan gives that has begun.
pub(crate) enum ScanStep<S: Shaper> {
    Piece(S::Output),
    IsOver,
    /// The rest of it is worth a thread.
    IsLarge(OpenScan<S>),
}

impl<S: Shaper> InlineScan<S> {
    pub(crate) fn new(scan: OpenScan<S>) -> Self {
        Self { scan: Some(scan), pieces: VecDeque::new(), batches: 0 }
    }

    pub(crate) fn next(&mut self, plan: &ReadPlan<S>) -> Result<ScanStep<S>> {
        loop {
            if let Some(piece) = self.pieces.pop_front() {
                return Ok(ScanStep::Piece(piece));
            }
            let Some(mut scan) = self.scan.take().filter(|scan| !scan.is_over()) else {
                return Ok(ScanStep::IsOver);
            };
            if self.batches == INLINE_BATCHES_MAX {
                return Ok(ScanStep::IsLarge(scan));
            }
            self.batches += 1;
            self.read(plan, &mut scan)?;
            self.scan = Some(scan);
        }
    }

    /// Reads a batch; a batch that is not full is most likely the last.
    fn read(&mut self, plan: &ReadPlan<S>, scan: &mut OpenScan<S>) -> Result<()> {
        let (mut rows, mut is_full) = (Rows::new(), false);
        while !is_full && !scan.is_over() && self.pieces.len() < INLINE_PIECES_MAX {
            is_full = scan.read(plan, BatchSize::Growing, &mut rows, &mut |piece| {
                self.pieces.push_back(piece);
                true
            })?;
        }
        // The reader may never come back for more.
        if scan.is_over() { Ok(()) } else { scan.release() }
    }
}
