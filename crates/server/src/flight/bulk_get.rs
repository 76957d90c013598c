//! Bulk get: keys in, rows out, over one call.
//!
//! 1. A task takes keys from the client as they come, and puts them into a spool.
//! 2. A thread of the blocking pool runs the bulk get. Its key source reads from the spool.
//! 3. Rows go out through a [`RowSender`].

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use arrow_flight::FlightData;
use tonnage::internal::sync::lock;
use tonnage::{Error, KeySource, Pairs, Result};

use super::client_stream::ClientStream;
use super::command::BulkGetCommand;
use super::decode::FlightDecoder;
use super::key_spool::KeySpool;
use super::pairs::{self, KeyForm};
use super::row_sender::RowSender;
use super::stream_event::StreamEvent;
use super::table_read::TableRead;
use crate::context::ServerContext;

/// Takes the keys of a client into a spool, until they end.
pub(crate) async fn take_keys(
    spool: Arc<KeySpool>,
    first: Box<FlightData>,
    mut wire: ClientStream,
) {
    let mut message = first;
    loop {
        match spool.push(*message) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return spool.end(Err(error)),
        }
        message = match wire.next().await {
            Ok(StreamEvent::Message(message)) => message,
            Ok(StreamEvent::Ended) => return spool.end(Ok(())),
            Ok(StreamEvent::Torn(why)) => return spool.end(Err(Error::cancelled(why))),
            Err(error) => return spool.end(Err(error)),
        };
    }
}

/// Batches of keys out of a spool.
struct SpooledKeys {
    spool: Arc<KeySpool>,
    decoder: FlightDecoder,
    is_over: bool,
}

impl Iterator for SpooledKeys {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_over {
            let decoded = match self.spool.pop() {
                Ok(Some(message)) => self.decoder.decode(&message),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            match decoded {
                Ok(Some(batch)) => return Some(Ok(batch)),
                Ok(None) => {}
                Err(error) => {
                    self.is_over = true;
                    return Some(Err(error));
                }
            }
        }
        self.is_over = true;
        None
    }
}

impl Drop for SpooledKeys {
    fn drop(&mut self) {
        self.spool.abandon();
    }
}

/// A bulk get whose target and schema are known.
pub(crate) enum BulkGetCall {
    Rows(TableRead),
    Pairs { command: BulkGetCommand, form: KeyForm, schema: SchemaRef },
}

impl BulkGetCall {
    /// Finds the table, and checks what is asked of it. The keys come with this schema.
    ///
    /// # Errors
    /// `NotFound` for a table that there is not, `Invalid` for columns or options.
    pub(crate) fn new(
        context: &ServerContext,
        command: BulkGetCommand,
        keys: &Schema,
    ) -> Result<BulkGetCall> {
        match (&command.table, command.pairs) {
            (Some(path), false) => {
                TableRead::new(&context.store, path, &command).map(BulkGetCall::Rows)
            }
            (None, true) => {
                let form = KeyForm::of(keys)?;
                command.pair_options()?;
                let schema = pairs::schema(form, command.versions);
                Ok(BulkGetCall::Pairs { command, form, schema })
            }
            _ => Err(Error::invalid("give either `table` or `\"pairs\": true`")),
        }
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        match self {
            BulkGetCall::Rows(read) => read.schema(),
            BulkGetCall::Pairs { schema, .. } => schema,
        }
    }

    /// Reads and sends all rows. Blocks.
    pub(crate) fn run(self, spool: Arc<KeySpool>, mut sender: RowSender) {
        let sent = self.send_all(spool, &mut sender);
        sender.end(sent);
    }

    fn send_all(self, spool: Arc<KeySpool>, sender: &mut RowSender) -> Result<()> {
        let keys = SpooledKeys { spool, decoder: FlightDecoder::default(), is_over: false };
        match self {
            BulkGetCall::Rows(read) => {
                for batch in read.rows(KeySource::batches(keys))? {
                    if !sender.send(&batch?)? {
                        break;
                    }
                }
            }
            BulkGetCall::Pairs { command, form, schema } => {
                let options = command.pair_options()?;
                let failure = Arc::new(std::sync::Mutex::new(None));
                let keys = PairKeys { keys, failure: failure.clone() };
                let kv = sender.context().store.kv();
                for batch in kv.bulk_get_batches(keys, &options)? {
                    if !sender.send(&pairs::batch(&batch?, form, &schema)?)? {
                        break;
                    }
                }
                // The source of pairs ends where it fails: that must not pass for all keys.
                let failed = lock(&failure).take();
                failed.map_or(Ok(()), Err)?;
            }
        }
        Ok(())
    }
}

/// Batches of keys of pairs. What ends them is kept, for the source cannot fail.
struct PairKeys {
    keys: SpooledKeys,
    failure: Arc<std::sync::Mutex<Option<Error>>>,
}

impl Iterator for PairKeys {
    type Item = Pairs;

    fn next(&mut self) -> Option<Pairs> {
        match self.keys.next()?.and_then(|batch| pairs::keys(&batch)) {
            Ok(pairs) => Some(pairs),
            Err(error) => {
                self.keys.is_over = true;
                let mut failure = lock(&self.failure);
                failure.get_or_insert(error);
                None
            }
        }
    }
}
