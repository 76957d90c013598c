//! Values that the store generates for a row: identity numbers, and defaults computed for each row.

use std::borrow::Cow;

use tonnage_engine::{Condition, Error, Result};

use crate::catalog::{IdentityColumn, TableEntry};
use crate::inner::Inner;
use crate::row::Row;
use crate::schema::{DefaultFunction, Generated, NUMBER_GIVEN};
use crate::value::{Value, ValueRef};

impl Inner {
    /// So many numbers for rows of a table that has an identity column.
    pub(crate) fn draw_numbers(&self, table: &TableEntry, count: usize) -> Result<Vec<i64>> {
        let Some(place) = table.codec.identity() else { return Ok(Vec::new()) };
        let column = &table.schema.columns[place];
        let Some(identity) = &column.identity else { return Ok(Vec::new()) };
        let whose =
            IdentityColumn { space: table.space, table: table.schema.table_id, column: column.id };
        self.catalog.draw_numbers(whose, identity, count).map_err(|error| {
            error
                .at(format_args!("table {}, column '{}'", table.schema.path, column.name))
                .in_table(&table.schema.path)
                .in_column(&column.name)
        })
    }

    /// The row with its generated values: an identity number, where it needs one, and the defaults
    /// that are computed for each row. Returns the number, else the UUID.
    ///
    /// # Errors
    /// `Invalid` when the row has a number that only the store gives.
    pub(crate) fn with_generated_values<'r>(
        &self,
        table: &TableEntry,
        row: &'r Row,
        condition: Condition,
    ) -> Result<(Cow<'r, Row>, Option<Value>)> {
        let (mut row, mut told) = self.with_identity(table, row, condition)?;
        for column in table.codec.generated() {
            let column = &table.schema.columns[*column];
            let Some(function) = column.default_function else { continue };
            if row.get(&column.name).is_some() {
                continue;
            }
            let value = function.value(column.column_type)?;
            if function == DefaultFunction::Uuid {
                told.get_or_insert_with(|| value.clone());
            }
            row.to_mut().set(&column.name, value);
        }
        Ok((row, told))
    }

    /// The row with a number of its own, where it needs one, and that number.
    fn with_identity<'r>(
        &self,
        table: &TableEntry,
        row: &'r Row,
        condition: Condition,
    ) -> Result<(Cow<'r, Row>, Option<Value>)> {
        let Some(place) = table.codec.identity() else { return Ok((Cow::Borrowed(row), None)) };
        let name = &table.schema.columns[place].name;
        if !self.needs_number(table, place, row.get(name).map(ValueRef::from), condition)? {
            return Ok((Cow::Borrowed(row), None));
        }
        let number = self.draw_number(table, place)?;
        let mut row = row.clone();
        row.set(name, number.clone());
        Ok((Cow::Owned(row), Some(number)))
    }

    /// The same for the cells of all columns.
    pub(crate) fn numbered_cells<'r>(
        &self,
        table: &TableEntry,
        cells: &'r [ValueRef<'r>],
    ) -> Result<Cow<'r, [ValueRef<'r>]>> {
        let Some(place) = table.codec.identity() else { return Ok(Cow::Borrowed(cells)) };
        let given = cells.get(place).copied();
        if given.is_none() || !self.needs_number(table, place, given, Condition::Always)? {
            return Ok(Cow::Borrowed(cells));
        }
        let mut cells = cells.to_vec();
        cells[place] = match self.draw_number(table, place)? {
            Value::Integer(number) => ValueRef::Integer(number),
            Value::Long(number) => ValueRef::Long(number),
            Value::Number { unscaled, scale } => ValueRef::Number { unscaled, scale },
            other => return Err(Error::internal(format!("{other} numbers no row"))),
        };
        Ok(Cow::Owned(cells))
    }

    fn draw_number(&self, table: &TableEntry, place: usize) -> Result<Value> {
        let column = &table.schema.columns[place];
        let number = self.draw_numbers(table, 1)?.into_iter().next();
        let number = Value::Long(number.ok_or_else(|| Error::internal("no number was drawn"))?);
        number.convert_to(column.column_type).map_err(|error| {
            error.at(format_args!(
                "table {}, column '{}': the IDENTITY has no numbers left",
                table.schema.path, column.name
            ))
        })
    }

    fn needs_number(
        &self,
        table: &TableEntry,
        index: usize,
        given: Option<ValueRef<'_>>,
        condition: Condition,
    ) -> Result<bool> {
        let column = &table.schema.columns[index];
        let generated = column.identity.map(|identity| identity.generated);
        match (given, generated) {
            (None, _) => Ok(true),
            (Some(ValueRef::Null), Some(generated)) => Ok(generated != Generated::ByDefault),
            (Some(_), Some(Generated::Always)) if !is_update(condition) => Err(Error::invalid(
                format!("table {}: column '{}': {NUMBER_GIVEN}", table.schema.path, column.name),
            )),
            _ => Ok(false),
        }
    }
}

/// Whether a write succeeds only over an existing row.
fn is_update(condition: Condition) -> bool {
    matches!(condition, Condition::IfPresent | Condition::IfVersion(_))
}
