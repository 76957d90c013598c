//! Puts and deletions as requests give them: by themselves, or in a group.

use tonnage::{Clock, Condition, Row, StoredRow, Table};

use super::access::TableRight;
use super::call::{is_true, map_of};
use super::expiry::RowLife;
use super::failure::{Failure, Outcome};
use super::field;
use super::given_row::{put_row, whole_key};
use super::op_code::OpCode;
use super::row_version::{version_bytes, version_of};
use super::values::{write_row, write_value};
use super::write_time::modified_ms;
use crate::nson::{NsonFields, NsonWriter};

/// A row that is to be put.
#[derive(Debug)]
pub(super) struct GivenPut {
    pub(super) row: Row,
    pub(super) condition: Condition,
    pub(super) life: RowLife,
    pub(super) returns_row: bool,
}

/// A row that is to be deleted.
#[derive(Debug)]
pub(super) struct GivenDelete {
    pub(super) key: Row,
    pub(super) condition: Condition,
    pub(super) returns_row: bool,
}

impl GivenPut {
    pub(super) fn read(
        fields: NsonFields<'_>,
        condition: Condition,
        table: &Table,
        clock: &dyn Clock,
    ) -> Outcome<GivenPut> {
        let is_new = matches!(condition, Condition::Always | Condition::IfAbsent);
        let value = map_of(fields, field::VALUE)?;
        let is_exact = is_true(fields, field::EXACT_MATCH);
        Ok(GivenPut {
            row: put_row(value, table.schema(), is_exact, is_new)?,
            condition,
            life: RowLife::read(fields, table.schema(), clock)?,
            returns_row: is_true(fields, field::RETURN_ROW),
        })
    }
}

impl GivenDelete {
    pub(super) fn read(
        fields: NsonFields<'_>,
        condition: Condition,
        table: &Table,
    ) -> Outcome<GivenDelete> {
        Ok(GivenDelete {
            key: whole_key(map_of(fields, field::KEY)?, table.schema())?,
            condition,
            returns_row: is_true(fields, field::RETURN_ROW),
        })
    }
}

/// The condition under which an operation writes.
pub(super) fn condition_of(operation: OpCode, fields: NsonFields<'_>) -> Outcome<Condition> {
    Ok(match operation {
        OpCode::PutIfAbsent => Condition::IfAbsent,
        // A deletion says whether there was a row.
        OpCode::PutIfPresent | OpCode::Delete => Condition::IfPresent,
        OpCode::PutIfVersion | OpCode::DeleteIfVersion => {
            let given = fields.get(field::ROW_VERSION).or(fields.get(field::MATCHED_VERSION));
            let bytes = given.and_then(|given| given.bytes());
            let bytes = bytes.ok_or_else(|| Failure::protocol("the payload has no version"))?;
            Condition::IfVersion(version_of(bytes)?)
        }
        _ => Condition::Always,
    })
}

/// The rights of a write: a caller that gets a row must be allowed to read it.
pub(super) fn rights_of(
    operation: OpCode,
    condition: Condition,
    fields: NsonFields<'_>,
) -> Vec<TableRight> {
    let mut rights = match operation {
        OpCode::Delete | OpCode::DeleteIfVersion => vec![TableRight::Delete],
        _ => TableRight::of_put(condition).to_vec(),
    };
    if is_true(fields, field::RETURN_ROW) {
        rights.push(TableRight::Read);
    }
    rights
}

/// What became of a write.
pub(super) struct WriteAnswer<'a> {
    pub(super) table: &'a Table,
    /// The version of the row that was put.
    pub(super) version: Option<u64>,
    /// What the store generated for it.
    pub(super) generated: Option<&'a tonnage::Value>,
    /// The row that was found.
    pub(super) previous: Option<&'a StoredRow>,
}

impl WriteAnswer<'_> {
    /// Writes its fields. The answer has the row that prevented the write or was replaced, but not
    /// one whose version the caller named and which is gone.
    pub(super) fn write(
        &self,
        condition: Condition,
        is_done: bool,
        returns_row: bool,
        out: &mut NsonWriter,
    ) {
        if let Some(version) = self.version {
            out.field(field::ROW_VERSION).binary(&version_bytes(version));
        }
        if let Some(generated) = self.generated {
            write_value(generated, out.field(field::GENERATED));
        }
        let was_named = is_done && matches!(condition, Condition::IfVersion(_));
        if let Some(previous) = self.previous.filter(|_| returns_row && !was_named) {
            out.field(field::RETURN_INFO).begin_map();
            write_row(&previous.row, self.table.schema(), out.field(field::EXISTING_VALUE));
            out.field(field::CREATION_TIME).long(0);
            out.field(field::EXISTING_MODIFIED).long(modified_ms(self.table, previous));
            out.field(field::EXISTING_VERSION).binary(&version_bytes(previous.version));
            out.end();
        }
    }
}
