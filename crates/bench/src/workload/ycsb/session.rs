//! A thread of the run phase.

use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;
use tonnage::{Error, Result};

use super::chooser::{Length, RecordChooser};
use super::maker::RecordMaker;
use super::{CoreOptions, Mix};
use crate::choice::choice;
use crate::generate::{AcknowledgedCounter, InsertClaim, below, mix};
use crate::system::{Client, Record, RecordScan};

choice! {
    /// One kind of operation, by YCSB's name.
    pub(crate) enum YcsbOperation {
        Read = "READ",
        Update = "UPDATE",
        Insert = "INSERT",
        Scan = "SCAN",
        /// Recorded as one operation from the read to the end of the update, unlike YCSB, which
        /// counts its two parts as well: in the sum of all operations nothing is to count twice.
        ReadModifyWrite = "READ-MODIFY-WRITE",
    }
}

/// What the threads of a run share.
pub(crate) struct CoreWorkload<'a> {
    options: &'a CoreOptions,
    /// The places of [`YcsbOperation::ALL`], drawn as often as the mix says.
    operations: WeightedIndex<f64>,
    inserts: AcknowledgedCounter,
}

impl<'a> CoreWorkload<'a> {
    /// Records are there from `insertstart` up to `records_end`, exclusive.
    pub(crate) fn new(options: &'a CoreOptions, records_end: u64) -> Result<Self> {
        let Mix { read, update, insert, scan, read_modify_write } = options.mix;
        let operations = WeightedIndex::new([read, update, insert, scan, read_modify_write])
            .map_err(|error| Error::invalid(format!("the proportions make no mix: {error}")))?;
        Ok(CoreWorkload { options, operations, inserts: AcknowledgedCounter::new(records_end) })
    }

    /// A session for each client, that is for each thread; `seed` sets runs apart.
    pub(crate) fn sessions<'s>(
        &'s self,
        clients: Vec<Box<dyn Client + 's>>,
        seed: u64,
    ) -> Vec<OperationSession<'s>> {
        let options = self.options;
        // Each of these is built once and cloned: sums over all records take seconds.
        let chooser = RecordChooser::new(options, self.records_end() - options.insert_start);
        let maker = RecordMaker::new(options, 0);
        let (least, most) = (options.scan_length_min, options.scan_length_max);
        let scan_lengths = Length::new(options.scan_length, least, most);
        let session = |(thread, client): (usize, Box<dyn Client + 's>)| OperationSession {
            options,
            shared: self,
            records: chooser.clone(),
            maker: maker.seeded(mix(seed).wrapping_add(thread as u64)),
            scan_lengths: scan_lengths.clone(),
            all_fields: (0..options.field_count).collect(),
            field_read: 0,
            field_written: 0,
            scan_length: 0,
            claim: None,
            found: Record::default(),
            client,
        };
        clients.into_iter().enumerate().map(session).collect()
    }

    /// All records below this number are there.
    pub(crate) fn records_end(&self) -> u64 {
        self.inserts.end()
    }
}

/// One thread: draws what comes next, then does it, so that only the system's own time is measured.
/// What an operation has no use for is left from those before.
pub(crate) struct OperationSession<'a> {
    options: &'a CoreOptions,
    shared: &'a CoreWorkload<'a>,
    records: RecordChooser,
    maker: RecordMaker,
    scan_lengths: Length,
    all_fields: Vec<usize>,
    /// The field that is read, unless all are.
    field_read: usize,
    /// The field that is written, unless all are.
    field_written: usize,
    scan_length: usize,
    /// The number of the record that is being inserted.
    claim: Option<InsertClaim<'a>>,
    /// What was read.
    found: Record,
    client: Box<dyn Client + 'a>,
}

impl OperationSession<'_> {
    /// Draws the next operation, with its record and its values.
    pub(crate) fn prepare(&mut self) -> YcsbOperation {
        let operation = YcsbOperation::ALL[self.shared.operations.sample(&mut self.maker.random)];
        if operation == YcsbOperation::Insert {
            let claim = self.shared.inserts.claim();
            self.maker.make(claim.number);
            self.claim = Some(claim);
            return operation;
        }
        // Only records that are acknowledged: one that is being inserted may not be there yet.
        let number = self.records.next(&mut self.maker.random, self.shared.records_end());
        self.maker.name(number);
        if !self.options.read_all_fields {
            self.field_read = self.draw_field();
        }
        match operation {
            YcsbOperation::Update | YcsbOperation::ReadModifyWrite => {
                let field = (!self.options.write_all_fields).then(|| self.draw_field());
                self.field_written = field.unwrap_or(0);
                self.maker.fill(field);
            }
            YcsbOperation::Scan => {
                self.scan_length = self.scan_lengths.next(&mut self.maker.random);
            }
            YcsbOperation::Read | YcsbOperation::Insert => {}
        }
        operation
    }

    fn draw_field(&mut self) -> usize {
        below(&mut self.maker.random, self.options.field_count as u64) as usize
    }

    /// Does what was drawn.
    ///
    /// # Errors
    /// Those of the system; `NotFound` for a record that should be there, as YCSB has it;
    /// `Corruption` for one that is not as it was written, if that is checked.
    pub(crate) fn perform(&mut self, operation: YcsbOperation) -> Result<()> {
        match operation {
            YcsbOperation::Read => self.read(),
            YcsbOperation::Update => self.update(),
            YcsbOperation::Insert => self.insert(),
            YcsbOperation::Scan => self.scan(),
            YcsbOperation::ReadModifyWrite => self.read().and_then(|()| self.update()),
        }
    }

    fn read(&mut self) -> Result<()> {
        let field = [self.field_read];
        let fields = (!self.options.read_all_fields).then_some(&field[..]);
        let is_there = self.client.read(&self.maker.key, fields, &mut self.found)?;
        self.demand(is_there)?;
        self.maker.verify(fields, &self.found)
    }

    fn update(&mut self) -> Result<()> {
        let field = [self.field_written];
        let fields = if self.options.write_all_fields { &self.all_fields[..] } else { &field[..] };
        let RecordMaker { key, values, .. } = &self.maker;
        let was_there = self.client.update(key, fields, values, &mut self.found)?;
        self.demand(was_there)
    }

    fn insert(&mut self) -> Result<()> {
        let outcome = self.maker.insert(&mut *self.client);
        // Failed or not, the number counts as inserted: the numbers after it would wait for it
        // else.
        self.claim = None;
        outcome
    }

    fn scan(&mut self) -> Result<()> {
        let field = [self.field_read];
        let fields = (!self.options.read_all_fields).then_some(&field[..]);
        let scan = RecordScan { start: &self.maker.key, count: self.scan_length, fields };
        let count = self.client.scan(&scan, &mut self.found)?;
        // The record that the scan begins at is there, so at least it must come.
        self.demand(count > 0)
    }

    fn demand(&self, is_there: bool) -> Result<()> {
        let missing = || format!("{} was inserted but is not found", self.maker.key);
        if is_there { Ok(()) } else { Err(Error::not_found(missing())) }
    }
}
