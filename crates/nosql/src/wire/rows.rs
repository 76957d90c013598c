//! Single rows: get, put, delete.

use tonnage::{Condition, ExchangeResult, Table, Value, WriteOptions};

use super::access::TableRight;
use super::call::{Call, map_of};
use super::expiry::{RowLife, default_expiry_ms};
use super::failure::{Failure, FailureCode, Outcome};
use super::field;
use super::given_row::whole_key;
use super::row_version::version_bytes;
use super::values::write_row;
use super::write_request::{GivenDelete, GivenPut, WriteAnswer, condition_of, rights_of};
use super::write_time::modified_ms;
use crate::nson::NsonWriter;

/// How often a put is tried again whose row appears and vanishes all the time.
const TRIES_MAX: usize = 100;

/// Reads a row.
pub(super) fn get(call: &Call<'_>, out: &mut NsonWriter) -> Outcome<()> {
    let table = call.table(call.table_name()?, &[TableRight::Read])?;
    let key = whole_key(map_of(call.payload, field::KEY)?, table.schema())?;
    let Some(found) = table.get_with(&key, &call.get_options())? else { return Ok(()) };
    out.field(field::ROW).begin_map();
    // When it was first put is not kept.
    out.field(field::CREATION_TIME).long(0);
    out.field(field::MODIFIED).long(modified_ms(&table, &found));
    let expiry = i64::try_from(found.expires_at_ms).unwrap_or(i64::MAX);
    out.field(field::EXPIRY).long(expiry);
    out.field(field::ROW_VERSION).binary(&version_bytes(found.version));
    write_row(&found.row, table.schema(), out.field(field::VALUE));
    out.end();
    Ok(())
}

/// Puts a row.
pub(super) fn put(call: &Call<'_>, out: &mut NsonWriter) -> Outcome<()> {
    let condition = condition_of(call.operation, call.payload)?;
    let rights = rights_of(call.operation, condition, call.payload);
    let table = call.table(call.table_name()?, &rights)?;
    let put = GivenPut::read(call.payload, condition, &table, call.clock)?;
    let done = store_row(call, &table, &put)?;
    let version = done.result.version();
    let answer = WriteAnswer {
        table: &table,
        version,
        generated: done.generated.as_ref(),
        previous: done.previous.as_ref(),
    };
    answer.write(condition, version.is_some(), put.returns_row, out);
    Ok(())
}

/// Deletes a row.
pub(super) fn delete(call: &Call<'_>, out: &mut NsonWriter) -> Outcome<()> {
    let condition = condition_of(call.operation, call.payload)?;
    let rights = rights_of(call.operation, condition, call.payload);
    let table = call.table(call.table_name()?, &rights)?;
    let delete = GivenDelete::read(call.payload, condition, &table)?;
    let options = call.write_options();
    let (is_done, previous) = match delete.returns_row {
        true => {
            let done = table.delete_returning(&delete.key, condition, &options)?;
            (done.result.is_stored(), done.previous)
        }
        false => (table.delete_if(&delete.key, condition, &options)?.is_stored(), None),
    };
    out.field(field::SUCCESS).boolean(is_done);
    let answer =
        WriteAnswer { table: &table, version: None, generated: None, previous: previous.as_ref() };
    answer.write(condition, is_done, delete.returns_row, out);
    Ok(())
}

/// Whether the store generates a value for rows that bring none: clients get it.
pub(super) fn is_generating(table: &Table) -> bool {
    let columns = &table.schema().columns;
    columns.iter().any(|column| column.identity.is_some() || column.default_function.is_some())
}

fn store_row(call: &Call<'_>, table: &Table, put: &GivenPut) -> Outcome<ExchangeResult> {
    let options = call.write_options();
    let until = |expiry| WriteOptions { expires_at_ms: Some(expiry), ..options };
    let kept = WriteOptions { keep_ttl: true, ..options };
    let new = until(default_expiry_ms(table.schema(), call.clock));
    let write = |condition, options: &WriteOptions| {
        table.put_returning(&put.row, condition, options).map_err(Failure::from)
    };
    match (put.life, put.condition) {
        (RowLife::Until(expiry), condition) => write(condition, &until(expiry)),
        (RowLife::Kept, Condition::IfAbsent) => write(Condition::IfAbsent, &new),
        // Without a time to live of the table, new rows live for ever in any case.
        (RowLife::Kept, Condition::Always) if table.schema().ttl_ms.is_some() => {
            // The expiry of a new row is a whole hour or day, which only this crate knows. So the
            // two cases are written each under its condition, until one of them holds.
            for _ in 0..TRIES_MAX {
                for (condition, options) in
                    [(Condition::IfAbsent, &new), (Condition::IfPresent, &kept)]
                {
                    let done = write(condition, options)?;
                    if done.result.is_stored() {
                        return Ok(done);
                    }
                }
            }
            Err(written_by_others())
        }
        (RowLife::Kept, condition) => write(condition, &kept),
    }
}

#[cold]
pub(super) fn written_by_others() -> Failure {
    let message = "the row is written by others all the time: try again";
    Failure::new(FailureCode::ServiceUnavailable, message)
}

/// The values of some columns as one text, for messages.
pub(super) fn shown_key<'a>(parts: impl Iterator<Item = (&'a str, &'a Value)>) -> String {
    let parts: Vec<String> =
        parts.map(|(name, value)| format!("\"{name}\":{}", value.to_json_text())).collect();
    format!("{{{}}}", parts.join(","))
}
