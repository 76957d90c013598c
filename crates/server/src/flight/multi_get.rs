//! Gets of many tables in one call, for Flight and HTTP.
//!
//! The store reads the requests together, on the same workers and within the same memory
//! ([`tonnage::Store::multi_get_requests`]). Three kinds of requests are read by themselves after
//! that: rows of relatives, which keep their order among those of their parents; a limit of rows;
//! and a time-out of the request's own.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tonnage::{BulkGetOptions, Error, KeySource, Result};

use super::table_read::TableRead;
use crate::budget::bytes_of;
use crate::context::ServerContext;

/// The rows of one request, under their columns.
pub(crate) struct TableAnswer {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
}

/// What all answers of a call may hold in memory.
struct AnswerMemory {
    bytes: usize,
    bytes_max: usize,
}

impl AnswerMemory {
    fn check(&mut self, rows: &RecordBatch) -> Result<()> {
        self.bytes += bytes_of(rows);
        match self.bytes > self.bytes_max {
            true => Err(self.exhausted()),
            false => Ok(()),
        }
    }

    fn exhausted(&self) -> Error {
        Error::exhausted(format!(
            "the answers have more than {} bytes: ask for fewer rows at once, or use a bulk get",
            self.bytes_max
        ))
    }
}

/// Reads the rows of all requests. Each has an answer or an error of its own, in the order given.
/// Where the answers take more than `bytes_max`, none of those that were read together is given:
/// which of them are whole is not known then.
pub(crate) fn read_tables(
    context: &ServerContext,
    requests: Vec<Result<(TableRead, KeySource)>>,
    bytes_max: usize,
) -> Vec<Result<TableAnswer>> {
    let mut memory = AnswerMemory { bytes: 0, bytes_max };
    let (mut together, mut alone) = (Vec::new(), Vec::new());
    let mut answers = Vec::with_capacity(requests.len());
    for (number, request) in requests.into_iter().enumerate() {
        answers.push(request.map(|(read, keys)| {
            let schema = read.schema().clone();
            let kind = if read.goes_with_others() { &mut together } else { &mut alone };
            kind.push((number, read, keys));
            TableAnswer { schema, batches: Vec::new() }
        }));
    }
    read_together(context, together, &mut memory, &mut answers);
    for (number, read, keys) in alone {
        if let Err(error) = read_alone(&read, keys, &mut memory, &mut answers[number]) {
            answers[number] = Err(error);
        }
    }
    answers
}

/// Reads requests by one call of the store.
fn read_together(
    context: &ServerContext,
    requests: Vec<(usize, TableRead, KeySource)>,
    memory: &mut AnswerMemory,
    answers: &mut [Result<TableAnswer>],
) {
    let asked = requests.into_iter().map(|(number, read, keys)| {
        let request = read.request(keys);
        ((number, read), request)
    });
    let (reads, asked): (Vec<_>, Vec<_>) = asked.unzip();
    let found = match context.store.multi_get_requests(asked, &BulkGetOptions::default()) {
        Ok(found) => found,
        Err(error) => {
            reads.iter().for_each(|(number, _)| answers[*number] = Err(error.restated()));
            return;
        }
    };
    for (place, batch) in found {
        let (number, read) = &reads[place];
        let rows = batch.and_then(|batch| read.stamped(&batch));
        // The end of the loop drops the read, so the store reads no more for nothing.
        if rows.as_ref().is_ok_and(|rows| memory.check(rows).is_err()) {
            reads.iter().for_each(|(number, _)| answers[*number] = Err(memory.exhausted()));
            return;
        }
        // A request that has failed has its answer, whatever came of it before.
        match (rows, &mut answers[*number]) {
            (Ok(rows), Ok(answer)) => answer.batches.push(rows),
            (Err(error), answer) => *answer = Err(error),
            (Ok(_), Err(_)) => {}
        }
    }
}

/// Reads a request by itself.
fn read_alone(
    read: &TableRead,
    keys: KeySource,
    memory: &mut AnswerMemory,
    answer: &mut Result<TableAnswer>,
) -> Result<()> {
    let Ok(answer) = answer else { return Ok(()) };
    for rows in read.rows(keys)? {
        let rows = rows?;
        memory.check(&rows)?;
        answer.batches.push(rows);
    }
    Ok(())
}
