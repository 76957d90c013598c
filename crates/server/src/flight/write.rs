//! Conditional writes of rows of one shard key, or of a pair.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tonnage::{Condition, Error, Result, RowOperation, WriteOptions, WriteResult};

use super::choice::DurabilityChoice;
use super::command::parse;
use super::expected_condition::ExpectedCondition;
use super::frame::{self, RawFrame};
use super::row_encoding::RowEncoding;
use crate::auth::{Caller, Right};
use crate::context::ServerContext;

/// What a frame does. Those of the first frame hold for all of them: `durability`, `ttl_ms` and
/// `timeout_ms`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WriteHeader {
    /// The table that a row is put into.
    put: Option<String>,
    /// The table that a row is deleted from.
    delete: Option<String>,
    /// The table of which a row is changed: in the columns that the frame has.
    update: Option<String>,
    put_pair: bool,
    delete_pair: bool,
    #[serde(rename = "if")]
    condition: Option<ExpectedCondition>,
    durability: Option<DurabilityChoice>,
    ttl_ms: Option<u64>,
    timeout_ms: Option<u64>,
    encoding: RowEncoding,
}

/// What a frame asks for.
#[derive(Clone, Copy)]
enum WriteVerb<'a> {
    Put(&'a str),
    Delete(&'a str),
    Update(&'a str),
    PutPair,
    DeletePair,
}

impl WriteVerb<'_> {
    fn label(self) -> &'static str {
        match self {
            WriteVerb::Put(_) => "put",
            WriteVerb::Delete(_) => "delete",
            WriteVerb::Update(_) => "update",
            WriteVerb::PutPair => "put_pair",
            WriteVerb::DeletePair => "delete_pair",
        }
    }

    /// What it does to what is there.
    fn rights(self, condition: Condition) -> &'static [Right] {
        match self {
            WriteVerb::Put(_) | WriteVerb::PutPair => Right::of_put(condition),
            WriteVerb::Delete(_) | WriteVerb::DeletePair => &[Right::Delete],
            WriteVerb::Update(_) => &[Right::Update],
        }
    }
}

impl WriteHeader {
    /// The one verb of the header.
    fn verb(&self) -> Result<WriteVerb<'_>> {
        let verbs = [
            self.put.as_deref().map(WriteVerb::Put),
            self.delete.as_deref().map(WriteVerb::Delete),
            self.update.as_deref().map(WriteVerb::Update),
            self.put_pair.then_some(WriteVerb::PutPair),
            self.delete_pair.then_some(WriteVerb::DeletePair),
        ];
        let mut verbs = verbs.into_iter().flatten();
        match (verbs.next(), verbs.next()) {
            (Some(verb), None) => Ok(verb),
            (None, _) => Err(Error::invalid(
                "its header says nothing to do: give `put`, `delete` or `update` with the path of a \
                 table, `put_pair` or `delete_pair`",
            )),
            (Some(first), Some(second)) => Err(Error::invalid(format!(
                "its header has both `{}` and `{}`: give one, and a frame for each operation",
                first.label(),
                second.label()
            ))),
        }
    }

    fn condition(&self) -> Condition {
        ExpectedCondition::condition(self.condition)
    }

    fn options(&self, defaults: WriteOptions) -> WriteOptions {
        WriteOptions {
            durability: self.durability.map_or(defaults.durability, Into::into),
            ttl: self.ttl_ms.map(Duration::from_millis),
            timeout: self.timeout_ms.map(Duration::from_millis).or(defaults.timeout),
            ..defaults
        }
    }
}

/// Carries out the operations of the frames, all or none.
pub(super) fn write(context: &ServerContext, caller: &Caller, body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let frames = frame::split(body)?;
    let at = |number: usize| move |error: Error| error.at(format!("frame {number}"));
    let headers = frames
        .iter()
        .enumerate()
        .map(|(number, frame)| parse("its header", frame.header).map_err(at(number)));
    let headers = headers.collect::<Result<Vec<WriteHeader>>>()?;
    // All operations are one write, so the options of the first frame hold for all.
    let first = headers.first().ok_or_else(|| Error::invalid("there is no operation"))?;
    let options = first.options(context.write_options());
    let result = match (headers.as_slice(), frames.as_slice()) {
        // A pair has a shard key of its own, and writes are atomic within one: it is a group by
        // itself.
        ([header], [frame])
            if matches!(header.verb(), Ok(WriteVerb::PutPair | WriteVerb::DeletePair)) =>
        {
            write_pair(context, caller, header, *frame, &options)?
        }
        ([header], [frame]) if header.update.is_some() => {
            update(context, caller, header, *frame, &options)?
        }
        _ => {
            let operations = headers.iter().zip(&frames).enumerate();
            let operations = operations.map(|(number, (header, frame))| {
                operation(context, caller, header, *frame).map_err(at(number))
            });
            context.store.atomic_write(&operations.collect::<Result<Vec<_>>>()?, &options)?
        }
    };
    let answer = match result {
        WriteResult::Stored { version } => json!({"stored": true, "version": version}),
        WriteResult::ConditionFailed { operation, current } => {
            json!({"stored": false, "operation": operation, "version": current})
        }
    };
    Ok(vec![answer.to_string().into_bytes()])
}

fn operation(
    context: &ServerContext,
    caller: &Caller,
    header: &WriteHeader,
    frame: RawFrame<'_>,
) -> Result<RowOperation> {
    let verb = header.verb()?;
    let (WriteVerb::Put(path) | WriteVerb::Delete(path)) = verb else {
        return Err(Error::invalid(format!(
            "`{}` is written alone: send it in one frame, with no others",
            verb.label()
        )));
    };
    // Rights come before the look: whether a table exists is not everybody's to know.
    for right in verb.rights(header.condition()) {
        caller.check_table(*right, path)?;
    }
    let table = context.store.table(path)?;
    let row = header.encoding.row(frame)?;
    let operation = match verb {
        WriteVerb::Delete(_) => RowOperation::delete(table.path(), row),
        _ => RowOperation::put(table.path(), row),
    };
    Ok(operation.when(header.condition()))
}

fn update(
    context: &ServerContext,
    caller: &Caller,
    header: &WriteHeader,
    frame: RawFrame<'_>,
    options: &WriteOptions,
) -> Result<WriteResult> {
    let verb = header.verb()?;
    let WriteVerb::Update(path) = verb else {
        return Err(Error::internal("an update without its table"));
    };
    for right in verb.rights(header.condition()) {
        caller.check_table(*right, path)?;
    }
    let condition = match header.condition() {
        Condition::Always => Condition::IfPresent,
        condition => condition,
    };
    context.store.table(path)?.update_if(&header.encoding.row(frame)?, condition, options)
}

fn write_pair(
    context: &ServerContext,
    caller: &Caller,
    header: &WriteHeader,
    frame: RawFrame<'_>,
    options: &WriteOptions,
) -> Result<WriteResult> {
    let (verb, condition) = (header.verb()?, header.condition());
    let is_delete = matches!(verb, WriteVerb::DeletePair);
    // A deletion needs no value, so its frame may hold a key alone.
    let (key, value) = match is_delete {
        true => (header.encoding.key(frame)?, Vec::new()),
        false => header.encoding.pair(frame)?,
    };
    for right in verb.rights(condition) {
        caller.check_pair(*right, key.major().first().map_or(&[], Vec::as_slice))?;
    }
    let kv = context.store.kv();
    if is_delete {
        let condition = match condition {
            Condition::IfAbsent => return Err(Error::invalid("`absent` is for puts")),
            // It answers whether there was one.
            Condition::Always => Condition::IfPresent,
            condition => condition,
        };
        return kv.delete_if(&key, condition, options);
    }
    kv.put_if(&key, &value, condition, options)
}
