//! Key/value pairs.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder, ListBuilder, RecordBatch,
};
use arrow_flight::FlightDescriptor;
use arrow_flight::encode::FlightDataEncoderBuilder;
use futures::StreamExt;
use serde_json::{Value as Json, json};
use tonnage::{Error, Key, Result};

use crate::bulk_get::BulkGetRequest;
use crate::client::Client;

impl Client {
    /// Puts pairs, over those that exist. When it returns, all of them are durable (`write`).
    ///
    /// # Errors
    /// What the server says; `Invalid` when a pair was refused.
    pub fn put_pairs(&self, pairs: &[(Key, Vec<u8>)]) -> Result<()> {
        let batch = batch_of_pairs(pairs.iter().map(|(key, value)| (key, value.as_slice())))?;
        // Reports of single pairs are not read below, so the first one refused must fail the call.
        let options = json!({"pairs": true, "on_existing": "replace", "errors_max": "0"});
        let descriptor = FlightDescriptor::new_cmd(json!({"bulk_put": options}).to_string());
        let end = json!({"end": {"rows": pairs.len()}}).to_string();
        let end = arrow_flight::FlightData::new().with_app_metadata(end);
        let rows = FlightDataEncoderBuilder::new()
            .with_schema(batch.schema())
            .with_flight_descriptor(Some(descriptor))
            .build(futures::stream::iter([Ok(batch)]));
        let messages = rows.filter_map(|message| std::future::ready(message.ok()));
        let messages = messages.chain(futures::stream::iter([end]));
        let (mut flight, request) = (self.flight(), self.request(messages));
        // The marker tells how many pairs there are: if one were lost, nothing would complete.
        let is_completed = self.call(async move {
            let mut answers = flight.do_put(request).await?.into_inner();
            let mut is_completed = false;
            while let Some(answer) = answers.message().await? {
                let said: Json = serde_json::from_slice(&answer.app_metadata).unwrap_or_default();
                is_completed |= said.get("completed").is_some();
            }
            Ok(is_completed)
        })?;
        match is_completed {
            true => Ok(()),
            false => {
                let server = self.server();
                Err(Error::unavailable(format!("{server}: the pairs were never called completed")))
            }
        }
    }

    /// The pairs of whole or partial keys, in the order of the keys.
    ///
    /// # Errors
    /// As [`Client::bulk_get`].
    pub fn get_pairs(&self, keys: &[Key]) -> Result<Vec<(Key, Vec<u8>)>> {
        let batch = batch_of_keys(keys)?;
        let request =
            BulkGetRequest { direction: tonnage::Direction::Forward, ..BulkGetRequest::default() };
        let mut pairs = Vec::new();
        for batch in self.bulk_get([Ok(batch)], &request)? {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let key = key_of_row(&batch, row)?;
                let value =
                    column(&batch, "value")?.as_binary_opt::<i32>().ok_or_else(unreadable_pairs)?;
                pairs.push((key, value.value(row).to_vec()));
            }
        }
        Ok(pairs)
    }
}

/// Pairs as a batch with the columns `major`, `minor` and `value`.
pub(crate) fn batch_of_pairs<'a>(
    pairs: impl Iterator<Item = (&'a Key, &'a [u8])> + Clone,
) -> Result<RecordBatch> {
    let [major, minor] = keys_of(pairs.clone().map(|(key, _)| key));
    let values: BinaryArray = pairs.map(|(_, value)| Some(value)).collect();
    batch_of([("major", major), ("minor", minor), ("value", Arc::new(values) as ArrayRef)])
}

/// Keys of pairs as a batch with the columns `major` and `minor`, for [`Client::bulk_get`].
///
/// # Errors
/// `Internal` for what Arrow cannot hold.
pub fn batch_of_keys(keys: &[Key]) -> Result<RecordBatch> {
    let [major, minor] = keys_of(keys.iter());
    batch_of([("major", major), ("minor", minor)])
}

/// The key of a pair in a row of what [`Client::bulk_get`] gives for pairs.
///
/// # Errors
/// `Internal` for columns of another version.
pub fn key_of_row(batch: &RecordBatch, row: usize) -> Result<Key> {
    Ok(Key::new(components(batch, "major", row)?, components(batch, "minor", row)?))
}

fn keys_of<'a>(keys: impl Iterator<Item = &'a Key>) -> [ArrayRef; 2] {
    let (mut major, mut minor) =
        (ListBuilder::new(BinaryBuilder::new()), ListBuilder::new(BinaryBuilder::new()));
    for key in keys {
        for (list, components) in [(&mut major, key.major()), (&mut minor, key.minor())] {
            components.iter().for_each(|component| list.values().append_value(component));
            list.append(true);
        }
    }
    [Arc::new(major.finish()), Arc::new(minor.finish())]
}

fn batch_of<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<RecordBatch> {
    RecordBatch::try_from_iter(columns)
        .map_err(|error| Error::internal(format!("pairs as a batch: {error}")))
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    batch.column_by_name(name).ok_or_else(unreadable_pairs)
}

fn components(batch: &RecordBatch, name: &str, row: usize) -> Result<Vec<Vec<u8>>> {
    let lists = column(batch, name)?.as_list_opt::<i32>().ok_or_else(unreadable_pairs)?;
    let list = lists.value(row);
    let parts = list.as_binary_opt::<i32>().ok_or_else(unreadable_pairs)?;
    Ok((0..parts.len()).map(|part| parts.value(part).to_vec()).collect())
}

fn unreadable_pairs() -> Error {
    Error::internal("pairs came in columns of another version")
}
