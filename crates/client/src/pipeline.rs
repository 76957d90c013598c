//! Calls on single rows and pairs that do not wait for the answers of earlier ones.

use std::collections::VecDeque;
use std::fmt;

use tonnage::{
    Condition, Error, GetOptions, Key, Pair, Result, Row, StoredRow, WriteOptions, WriteResult,
};
use tonnage_wire::{CallAnswer, CallMessage};

use crate::call_stream::CallStream;
use crate::single_calls::{
    PairWrite, check, key_frame, pair_frame, pair_in, pair_key_frame, row_frame, row_in,
    write_result_of,
};
use crate::store::RemoteStore;

/// Calls of a pipeline that may be without an answer; a further one waits for the oldest.
const UNANSWERED_MAX: usize = 1_024;
/// Answers that may wait for [`Pipeline::next_answer`].
const ANSWERS_MAX: usize = 65_536;
/// Calls that are sent together, at the latest.
const CALLS_TOGETHER: usize = 64;
/// The bytes of calls that are sent together, at the latest.
const BYTES_TOGETHER: usize = 64 << 10;

/// The answer to one call of a [`Pipeline`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CallResult {
    /// What became of a write.
    Written(WriteResult),
    /// The row of a key, if there is one.
    Row(Option<StoredRow>),
    /// The pair of a key, if there is one.
    Pair(Option<Pair>),
}

/// Calls on single rows and pairs, sent without waiting for the answers of earlier ones. The server
/// carries them out in their order, and answers in the same order.
///
/// ```no_run
/// # fn main() -> tonnage::Result<()> {
/// use tonnage::{Condition, GetOptions, Row, WriteOptions};
/// use tonnage_client::{ClientOptions, RemoteStore};
///
/// let store = RemoteStore::connect("grpc://127.0.0.1:7411", ClientOptions::default())?;
/// let mut calls = store.pipeline()?;
/// for id in 0..1000 {
///     let ship = Row::new().with("id", id).with("name", "ARGO");
///     calls.put("ships", &ship, Condition::Always, &WriteOptions::default())?;
/// }
/// calls.get("ships", &Row::new().with("id", 7), &GetOptions::default())?;
/// while let Some(answer) = calls.next_answer()? {
///     println!("{:?}", answer?);
/// }
/// # Ok(())
/// # }
/// ```
///
/// Dropping it calls off what is not answered: whether that was carried out is not known.
pub struct Pipeline {
    store: RemoteStore,
    stream: CallStream,
    /// Calls that are not sent yet.
    gathered: Vec<CallMessage>,
    gathered_bytes: usize,
    /// What the calls ask for that have no answer yet, sent or not.
    asked: VecDeque<Asked>,
    arrived: VecDeque<Result<CallResult>>,
    is_broken: bool,
}

/// What a call asks for.
enum Asked {
    Write,
    Row,
    Pair(Key),
}

impl RemoteStore {
    /// Opens a stream for calls that do not wait for the answers of earlier ones.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn pipeline(&self) -> Result<Pipeline> {
        let stream = self.open_stream(&self.limits())?;
        Ok(Pipeline {
            store: self.clone(),
            stream,
            gathered: Vec::new(),
            gathered_bytes: 0,
            asked: VecDeque::new(),
            arrived: VecDeque::new(),
            is_broken: false,
        })
    }
}

impl Pipeline {
    /// Stores a row if a condition holds, as [`tonnage::Table::put_if`] does.
    ///
    /// # Errors
    /// `Unsupported` for options that do not go over the wire. `Unavailable` when the server cannot
    /// be reached, `Exhausted` when too many answers wait to be read. What the server says of the
    /// call itself is its answer.
    pub fn put(
        &mut self,
        table: &str,
        row: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<()> {
        self.write_row("put", table, row, condition, options)
    }

    /// Changes the columns that a row names, as [`tonnage::Table::update_if`] does.
    ///
    /// # Errors
    /// As [`Pipeline::put`].
    pub fn update(
        &mut self,
        table: &str,
        changes: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<()> {
        self.write_row("update", table, changes, condition, options)
    }

    /// Deletes the row of a key if a condition holds, as [`tonnage::Table::delete_if`] does.
    ///
    /// # Errors
    /// As [`Pipeline::put`].
    pub fn delete(
        &mut self,
        table: &str,
        key: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<()> {
        self.write_row("delete", table, key, condition, options)
    }

    /// Reads the row of a whole primary key.
    ///
    /// # Errors
    /// As [`Pipeline::put`].
    pub fn get(&mut self, table: &str, key: &Row, options: &GetOptions) -> Result<()> {
        self.call("tonnage.Get", key_frame(table, key, None, options)?, Asked::Row)
    }

    /// Stores a pair if a condition holds.
    ///
    /// # Errors
    /// As [`Pipeline::put`].
    pub fn put_pair(
        &mut self,
        key: &Key,
        value: &[u8],
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<()> {
        check(options)?;
        let frame = pair_frame(key, &PairWrite::Put(value), condition, options)?;
        self.call("tonnage.Write", frame, Asked::Write)
    }

    /// Deletes a pair if a condition holds.
    ///
    /// # Errors
    /// As [`Pipeline::put`].
    pub fn delete_pair(
        &mut self,
        key: &Key,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<()> {
        check(options)?;
        let frame = pair_frame(key, &PairWrite::Delete, condition, options)?;
        self.call("tonnage.Write", frame, Asked::Write)
    }

    /// Reads the pair of a whole key.
    ///
    /// # Errors
    /// As [`Pipeline::put`].
    pub fn get_pair(&mut self, key: &Key, options: &GetOptions) -> Result<()> {
        self.call("tonnage.GetPair", pair_key_frame(key, options)?, Asked::Pair(key.clone()))
    }

    /// How many calls have no answer that was read.
    pub fn unanswered(&self) -> usize {
        self.asked.len() + self.arrived.len()
    }

    /// The answer to the oldest call whose answer was not read; waits for it. None when all were
    /// read. The inner result is what the server says of the call.
    ///
    /// # Errors
    /// `Unavailable` when the stream has ended: whether the calls without an answer were carried
    /// out is not known. `TimedOut` and `Cancelled` by the limits of the store.
    pub fn next_answer(&mut self) -> Result<Option<Result<CallResult>>> {
        if self.arrived.is_empty() && !self.asked.is_empty() {
            self.flush()?;
            self.receive()?;
        }
        Ok(self.arrived.pop_front())
    }

    /// Sends the calls that were gathered. They are sent by themselves once there are 64 of them,
    /// or 64 KiB, and before an answer is waited for.
    ///
    /// # Errors
    /// As [`Pipeline::next_answer`].
    pub fn flush(&mut self) -> Result<()> {
        self.check_open()?;
        if self.gathered.is_empty() {
            return Ok(());
        }
        self.gathered_bytes = 0;
        let sending = self.stream.send(std::mem::take(&mut self.gathered));
        let sent = self.store.wait(&self.store.limits(), sending);
        let sent = sent.and_then(|sent| self.store.checked(sent));
        self.is_broken = sent.is_err();
        sent
    }

    fn write_row(
        &mut self,
        verb: &str,
        table: &str,
        row: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<()> {
        check(options)?;
        let frame = row_frame(verb, table, row, condition, options)?;
        self.call("tonnage.Write", frame, Asked::Write)
    }

    fn call(&mut self, action: &str, body: Vec<u8>, asked: Asked) -> Result<()> {
        self.check_open()?;
        if self.arrived.len() >= ANSWERS_MAX {
            return Err(Error::exhausted(format!(
                "{ANSWERS_MAX} answers of the pipeline wait: read them with next_answer"
            )));
        }
        if self.asked.len() >= UNANSWERED_MAX {
            self.flush()?;
            self.receive()?;
        }
        self.gathered_bytes += body.len();
        self.gathered.push(CallMessage { action: action.to_owned(), body: body.into() });
        self.asked.push_back(asked);
        match self.gathered.len() >= CALLS_TOGETHER || self.gathered_bytes >= BYTES_TOGETHER {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Waits for the answer to the oldest call.
    fn receive(&mut self) -> Result<()> {
        let limits = self.store.limits();
        let answer = self.store.wait(&limits, self.stream.answer());
        let answer = answer.and_then(|answer| self.store.checked(answer));
        let answer = answer.and_then(|answer| {
            answer.ok_or_else(|| {
                Error::unavailable(format!(
                    "{}: it has ended the stream of calls: open another pipeline; calls without an \
                     answer were not carried out",
                    self.store.server()
                ))
            })
        });
        self.is_broken = answer.is_err();
        let answer = answer?;
        if let Some(asked) = self.asked.pop_front() {
            self.arrived.push_back(self.result_of(&asked, answer));
        }
        Ok(())
    }

    fn result_of(&self, asked: &Asked, answer: CallAnswer) -> Result<CallResult> {
        let results = self.store.results_of(answer)?;
        let result = match asked {
            Asked::Write => write_result_of(&results).map(CallResult::Written),
            Asked::Row => row_in(&results).map(CallResult::Row),
            Asked::Pair(key) => pair_in(&results, key).map(CallResult::Pair),
        };
        result.ok_or_else(|| self.store.unreadable_answer())
    }

    /// After a failure answers would be taken for those of other calls.
    fn check_open(&self) -> Result<()> {
        match self.is_broken {
            false => Ok(()),
            true => Err(Error::unavailable("the pipeline has failed: open another one")),
        }
    }
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline")
            .field("server", &self.store.server())
            .field("unanswered", &self.unanswered())
            .finish()
    }
}
