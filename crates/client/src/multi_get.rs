//! Rows of many tables by their keys, in one call.

use std::sync::Arc;

use arrow::array::RecordBatch;
use tonnage::internal::{KeyPiece, KeyPieces};
use tonnage::{BulkGetOptions, Error, KeySource, MultiGetRequest, Result, TableBatch, TableEntry};

use crate::bulk_get::{RemoteBulkGet, Stamps};
use crate::keys::KeyBatches;
use crate::multi_call::check_body;
use crate::store::RemoteStore;
use crate::{command, frame};

/// Single keys that one batch has.
const KEYS_MAX: usize = 4_096;

/// The answers of a multi-get, as [`tonnage::MultiGet`]: the number of a request, in the order given
/// and from 0, with rows of its table or with the error that ended it. All of them are in memory.
#[derive(Debug)]
pub struct RemoteMultiGet {
    requests: usize,
    answers: std::vec::IntoIter<(usize, Result<TableBatch>)>,
}

impl RemoteMultiGet {
    /// The answer to each request, in the order given: all of its rows, or its error.
    pub fn into_answers(self) -> Vec<Result<Vec<TableBatch>>> {
        let mut answers: Vec<_> = (0..self.requests).map(|_| Ok(Vec::new())).collect();
        for (number, batch) in self.answers {
            match (batch, &mut answers[number]) {
                (Ok(batch), Ok(batches)) => batches.push(batch),
                (Err(error), answer) => *answer = Err(error),
                (Ok(_), Err(_)) => {}
            }
        }
        answers
    }
}

impl Iterator for RemoteMultiGet {
    type Item = (usize, Result<TableBatch>);

    fn next(&mut self) -> Option<Self::Item> {
        self.answers.next()
    }
}

impl RemoteStore {
    /// Gets rows of many tables by whole or partial keys in one call, as
    /// [`tonnage::Store::multi_get`] does. Each request has an answer of its own. All answers are in
    /// memory together, 256 MiB at most.
    ///
    /// # Errors
    /// What the server says of all of them, and `Unavailable` when it cannot be reached. `Invalid`
    /// for keys of more than 64 MiB in all. Everything else is the answer to the request that it
    /// concerns.
    pub fn multi_get<T, K>(
        &self,
        keys: impl IntoIterator<Item = (T, K)>,
        options: &BulkGetOptions,
    ) -> Result<RemoteMultiGet>
    where
        T: AsRef<str>,
        K: Into<KeySource>,
    {
        let requests = keys.into_iter();
        let requests = requests.map(|(table, keys)| MultiGetRequest::new(table.as_ref(), keys));
        self.multi_get_requests(requests, options)
    }

    /// The same, where each request may have options of its own: a range, columns, a limit.
    ///
    /// # Errors
    /// As [`RemoteStore::multi_get`].
    pub fn multi_get_requests(
        &self,
        requests: impl IntoIterator<Item = MultiGetRequest>,
        options: &BulkGetOptions,
    ) -> Result<RemoteMultiGet> {
        let limits = self.limits_of(&options.cancel, options.timeout);
        let requests: Vec<_> =
            requests.into_iter().map(|request| OpenRequest::new(request, options)).collect();
        // Single keys go out in the columns of their tables: those are asked for by one call.
        let unknown = requests.iter().filter(|request| request.keys.are_single());
        let paths: Vec<_> = unknown.map(|request| request.path.as_str()).collect();
        let mut entries = self.describe_each(&paths).into_iter();
        let mut answers = Vec::new();
        let (mut sent, mut body) = (Vec::new(), Vec::new());
        let count = requests.len();
        for (number, request) in requests.into_iter().enumerate() {
            let entry = if request.keys.are_single() { entries.next() } else { None };
            let (path, options) = (request.path.clone(), request.options.clone());
            match request.frame(entry.transpose()) {
                Ok(frame) => {
                    body.extend(frame);
                    sent.push((number, path, options));
                }
                // What is wrong with a request is its own answer: the others go out.
                Err(error) => answers.push((number, Err(error))),
            }
        }
        let told = match sent.is_empty() {
            true => Vec::new(),
            false => self.act_within(&limits, "tonnage.MultiGet", check_body(body)?)?,
        };
        if told.len() != sent.len() {
            return Err(self.unreadable_answer());
        }
        for ((number, path, options), answer) in sent.into_iter().zip(told) {
            match self.rows_of_answer(&path, &options, &answer) {
                Ok(rows) => answers.extend(rows.map(|batch| (number, batch))),
                Err(error) => answers.push((number, Err(error))),
            }
        }
        Ok(RemoteMultiGet { requests: count, answers: answers.into_iter() })
    }

    fn rows_of_answer(
        &self,
        path: &str,
        options: &BulkGetOptions,
        answer: &[u8],
    ) -> Result<RemoteBulkGet> {
        let answer = frame::read(answer).ok_or_else(|| self.unreadable_answer())?;
        if let Some(error) = answer.error() {
            return Err(error);
        }
        let (schema, rows) = answer.rows.ok_or_else(|| self.unreadable_answer())?;
        let rows: Vec<_> = rows.into_iter().filter(|batch| batch.num_rows() > 0).collect();
        let stamps =
            Stamps { has_versions: true, has_origins: options.origins, ..Stamps::default() };
        let is_related = !options.relatives.is_empty();
        RemoteBulkGet::open(path, &schema, rows.into_iter().map(Ok), is_related, stamps)
    }
}

/// A request whose keys are not read yet.
struct OpenRequest {
    path: String,
    keys: KeyPieces,
    options: BulkGetOptions,
}

impl OpenRequest {
    fn new(request: MultiGetRequest, options: &BulkGetOptions) -> Self {
        let MultiGetRequest { table, keys, options: own } = request;
        let options = own.unwrap_or_else(|| options.clone());
        Self { path: table, keys: KeyPieces::new(keys, KEYS_MAX), options }
    }

    /// The request with all of its keys, as one frame.
    fn frame(self, entry: Result<Option<Arc<TableEntry>>>) -> Result<Vec<u8>> {
        let command = command::of_bulk_get(&self.path, &self.options, true)?;
        let batches = match entry? {
            Some(entry) => KeyBatches::of_pieces(entry, self.keys).collect::<Result<Vec<_>>>()?,
            None => self.keys.map(batch_of_piece).collect::<Result<Vec<_>>>()?,
        };
        frame::write(&command, &batches)
    }
}

fn batch_of_piece(piece: Result<KeyPiece>) -> Result<RecordBatch> {
    match piece? {
        KeyPiece::Batch(batch) => Ok(batch),
        KeyPiece::Keys(_) => Err(Error::internal("single keys of an unknown table")),
    }
}
