//! A thread of the run phase.

use rand::SeedableRng;
use rand::rngs::SmallRng;
use tonnage::{Error, Result};

use super::YcsbOperation;
use super::chooser::RecordChooser;
use super::fields::{Fields, Length};
use super::names::RecordNames;
use crate::generate::{AcknowledgedCounter, Claim, Discrete, Sequential, Uniform, mix};
use crate::system::{Client, Record};
use crate::workload::ycsb::CoreOptions;

/// What the threads of a run share.
pub(in crate::workload::ycsb) struct CoreWorkload<'a> {
    options: &'a CoreOptions,
    inserts: AcknowledgedCounter,
    turns: Sequential,
}

impl<'a> CoreWorkload<'a> {
    /// Records are there from `insertstart` up to `records_end`, exclusive.
    pub(in crate::workload::ycsb) fn new(options: &'a CoreOptions, records_end: u64) -> Self {
        let turns = Sequential::new(options.loaded_count());
        CoreWorkload { options, inserts: AcknowledgedCounter::new(records_end), turns }
    }

    /// A session for each client, that is for each thread; `seed` sets runs apart.
    pub(in crate::workload::ycsb) fn sessions<'s>(
        &'s self,
        clients: Vec<Box<dyn Client + 's>>,
        seed: u64,
    ) -> Vec<OperationSession<'s>> {
        let options = self.options;
        let chooser =
            RecordChooser::new(options, self.records_end() - options.insert_start, &self.turns);
        let session = |(thread, client): (usize, Box<dyn Client + 's>)| OperationSession {
            options,
            inserts: &self.inserts,
            random: SmallRng::seed_from_u64(mix(mix(seed).wrapping_add(thread as u64))),
            operations: options.mix.chooser(),
            records: chooser.clone(),
            scan_lengths: Length::new(
                options.scan_length,
                options.scan_length_min,
                options.scan_length_max,
            ),
            field_numbers: Uniform::new(options.field_count as u64),
            all_fields: (0..options.field_count).collect(),
            names: RecordNames::new(options),
            fields: Fields::new(options),
            next: PreparedOperation::default(),
            claim: None,
            found: Record::default(),
            client,
        };
        clients.into_iter().enumerate().map(session).collect()
    }

    /// All records below this number are there.
    pub(in crate::workload::ycsb) fn records_end(&self) -> u64 {
        self.inserts.end()
    }
}

/// One thread: draws what comes next, then does it, so that only the system's own time is measured.
pub(in crate::workload::ycsb) struct OperationSession<'a> {
    options: &'a CoreOptions,
    inserts: &'a AcknowledgedCounter,
    random: SmallRng,
    operations: Discrete,
    records: RecordChooser<'a>,
    scan_lengths: Length,
    field_numbers: Uniform,
    all_fields: Vec<usize>,
    names: RecordNames,
    fields: Fields,
    next: PreparedOperation,
    /// The number of the record that is being inserted.
    claim: Option<Claim<'a>>,
    /// What was read.
    found: Record,
    client: Box<dyn Client + 'a>,
}

/// The operation that comes next; what it has no use for is left from those before.
#[derive(Default)]
struct PreparedOperation {
    key: String,
    /// The field that is read, unless all are.
    field_read: usize,
    /// The field that is written, unless all are.
    field_written: usize,
    values: Record,
    scan_length: usize,
}

impl OperationSession<'_> {
    /// Draws the next operation, with its record and its values.
    pub(in crate::workload::ycsb) fn prepare(&mut self) -> YcsbOperation {
        let operation = YcsbOperation::of_number(self.operations.next(&mut self.random));
        match operation {
            YcsbOperation::Insert => self.prepare_insert(),
            _ => self.choose_record(),
        }
        match operation {
            YcsbOperation::Update | YcsbOperation::ReadModifyWrite => self.prepare_values(),
            YcsbOperation::Scan => self.next.scan_length = self.scan_lengths.next(&mut self.random),
            YcsbOperation::Read | YcsbOperation::Insert => {}
        }
        operation
    }

    fn choose_record(&mut self) {
        let number = self.records.next(&mut self.random, self.inserts.end());
        self.names.write(number, &mut self.next.key);
        if !self.options.read_all_fields {
            self.next.field_read = self.field_numbers.next(&mut self.random) as usize;
        }
    }

    fn prepare_insert(&mut self) {
        let claim = self.inserts.claim();
        self.names.write(claim.number(), &mut self.next.key);
        self.claim = Some(claim);
        self.fields.fill(&self.next.key, &mut self.next.values, &mut self.random);
    }

    fn prepare_values(&mut self) {
        let PreparedOperation { key, values, field_written, .. } = &mut self.next;
        if self.options.write_all_fields {
            self.fields.fill(key, values, &mut self.random);
        } else {
            *field_written = self.field_numbers.next(&mut self.random) as usize;
            self.fields.fill_one(key, *field_written, values, &mut self.random);
        }
    }

    /// Does what was drawn.
    ///
    /// # Errors
    /// Those of the system; `NotFound` for a record that should be there, as YCSB has it;
    /// `Corruption` for one that is not as it was written, if that is checked.
    pub(in crate::workload::ycsb) fn perform(&mut self, operation: YcsbOperation) -> Result<()> {
        match operation {
            YcsbOperation::Read => self.read(),
            YcsbOperation::Update => self.update(),
            YcsbOperation::Insert => self.insert(),
            YcsbOperation::Scan => self.scan(),
            YcsbOperation::ReadModifyWrite => self.read().and_then(|()| self.update()),
        }
    }

    fn read(&mut self) -> Result<()> {
        let field = [self.next.field_read];
        let fields = (!self.options.read_all_fields).then_some(&field[..]);
        let is_there = self.client.read(&self.next.key, fields, &mut self.found)?;
        self.demand(is_there)?;
        self.fields.verify(&self.next.key, fields, &self.found)
    }

    fn update(&mut self) -> Result<()> {
        let field = [self.next.field_written];
        let fields = if self.options.write_all_fields { &self.all_fields[..] } else { &field[..] };
        let was_there = self.client.update(&self.next.key, fields, &self.next.values)?;
        self.demand(was_there)
    }

    fn insert(&mut self) -> Result<()> {
        let outcome = self.client.insert(&self.next.key, &self.next.values);
        // Failed or not, the number counts as inserted: the numbers after it would wait for it
        // else.
        self.claim = None;
        outcome
    }

    fn scan(&mut self) -> Result<()> {
        let field = [self.next.field_read];
        let fields = (!self.options.read_all_fields).then_some(&field[..]);
        let count =
            self.client.scan(&self.next.key, self.next.scan_length, fields, &mut self.found)?;
        // The record that the scan begins at is there, so at least it must come.
        self.demand(count > 0)
    }

    fn demand(&self, is_there: bool) -> Result<()> {
        if is_there {
            Ok(())
        } else {
            Err(Error::not_found(format!("{} was inserted but is not found", self.next.key)))
        }
    }
}
