//! Write single rows and pairs under conditions.

use prost::Message;
use serde_json::{Map, Value as Json, json};
use tonnage::{
    Condition, Depth, Durability, Key, KeyRange, Result, RowOperation, WriteOptions, WriteResult,
};
use tonnage_wire::{PairMessage, RowMessage};

use crate::bulk_get::{components_of, depth_of};
use crate::client::Client;
use crate::frame;
use crate::pairs::batch_of_pairs;

/// What is to be done with a pair.
#[derive(Clone, Debug)]
pub enum PairWrite<'a> {
    /// Stores a value.
    Put(&'a [u8]),
    /// Deletes the pair.
    Delete,
}

impl Client {
    /// Carries out operations on rows of one shard key, all or none.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached. Whether the operations
    /// were carried out is not known then.
    pub fn write(
        &self,
        operations: &[RowOperation],
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        let mut body = Vec::new();
        for operation in operations {
            let (verb, table, row, condition) = match operation {
                RowOperation::Put { table, row, condition } => ("put", table, row, condition),
                RowOperation::Delete { table, key, condition } => ("delete", table, key, condition),
            };
            let mut header = header_of(condition, options);
            header.insert(verb.to_owned(), json!(&**table));
            header.insert("encoding".to_owned(), json!("protobuf"));
            let row = RowMessage::of(row).encode_to_vec();
            body.extend(frame::write_data(&Json::Object(header), &row)?);
        }
        self.written(body)
    }

    /// Puts or deletes a pair under a condition.
    ///
    /// # Errors
    /// As [`Client::write`].
    pub fn write_pair(
        &self,
        key: &Key,
        write: &PairWrite<'_>,
        condition: &Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        let mut header = header_of(condition, options);
        let (verb, value): (_, &[u8]) = match write {
            PairWrite::Put(value) => ("put_pair", value),
            PairWrite::Delete => ("delete_pair", b""),
        };
        header.insert(verb.to_owned(), json!(true));
        header.insert("encoding".to_owned(), json!("protobuf"));
        let pair = PairMessage::of(key, value).encode_to_vec();
        self.written(frame::write_data(&Json::Object(header), &pair)?)
    }

    /// Deletes the pairs at and below a key, as deep as asked for. Tells how many went. Pairs go in
    /// batches: what went before an error stays deleted.
    ///
    /// # Errors
    /// As [`Client::write`].
    pub fn delete_pairs(
        &self,
        parent: &Key,
        depth: Depth,
        range: Option<&KeyRange>,
        options: &WriteOptions,
    ) -> Result<u64> {
        let mut header = header_of(&Condition::Always, options);
        header.insert("depth".to_owned(), json!(depth_of(depth)));
        if let Some(range) = range {
            header.insert("components".to_owned(), components_of(range)?);
        }
        let batch = batch_of_pairs([(parent, b"".as_slice())].into_iter())?;
        let body = frame::write(&Json::Object(header), &batch)?;
        let answers = self.act("tonnage.DeletePairs", body)?;
        let told = answers.first().and_then(|told| serde_json::from_slice::<Json>(told).ok());
        told.and_then(|told| told.get("deleted")?.as_u64()).ok_or_else(|| self.unreadable_answer())
    }

    fn written(&self, body: Vec<u8>) -> Result<WriteResult> {
        let answers = self.act("tonnage.Write", body)?;
        let told = answers.first().and_then(|told| serde_json::from_slice::<Json>(told).ok());
        let result = told.and_then(|told| {
            Some(match told.get("stored")?.as_bool()? {
                true => WriteResult::Stored { version: told.get("version")?.as_u64()? },
                false => WriteResult::ConditionFailed {
                    operation: usize::try_from(told.get("operation")?.as_u64()?).ok()?,
                    current: told.get("version")?.as_u64(),
                },
            })
        });
        result.ok_or_else(|| self.unreadable_answer())
    }
}

/// A condition as the server reads it; nothing where there is none.
pub(crate) fn condition_of(condition: &Condition) -> Option<Json> {
    match condition {
        Condition::Always => None,
        Condition::IfAbsent => Some(json!("absent")),
        Condition::IfPresent => Some(json!("present")),
        Condition::IfVersion(version) => Some(json!({"version": version})),
    }
}

/// When a write is acknowledged, as the server reads it.
pub(crate) fn durability_of(durability: Durability) -> &'static str {
    match durability {
        Durability::None => "none",
        Durability::Write => "write",
        Durability::Fsync => "fsync",
    }
}

fn header_of(condition: &Condition, options: &WriteOptions) -> Map<String, Json> {
    let mut header = Map::new();
    if let Some(condition) = condition_of(condition) {
        header.insert("if".to_owned(), condition);
    }
    header.insert("durability".to_owned(), json!(durability_of(options.durability)));
    if let Some(ttl) = options.ttl {
        header.insert("ttl_ms".to_owned(), json!(ttl.as_millis() as u64));
    }
    if let Some(timeout) = options.timeout {
        header.insert("timeout_ms".to_owned(), json!(timeout.as_millis() as u64));
    }
    header
}
