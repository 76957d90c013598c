//! The document of a row of a JSON collection: the fields that are not columns.

use std::sync::Arc;

use tonnage::{TableSchema, Value};

use crate::query::item::{Item, Members, json_text_of};
use crate::query::syntax::Place;
use crate::wire::{Failure, Outcome, check_document};

/// A document that is put together.
pub(super) struct Document<'s> {
    schema: &'s TableSchema,
    column: usize,
    members: Members,
}

impl<'s> Document<'s> {
    /// An empty document; nothing where the table is not JSON collection.
    pub(super) fn of(schema: &'s TableSchema) -> Option<Self> {
        let column = schema.collection_column()?;
        Some(Self { schema, column, members: Vec::new() })
    }

    /// Gives a field another value.
    ///
    /// # Errors
    /// That a document cannot hold it.
    pub(super) fn set(&mut self, place: Place, name: &str, item: Item) -> Outcome<()> {
        if matches!(item, Item::Timestamp(_) | Item::Binary(_)) {
            return Err(Failure::argument(format!(
                "Error: {place} a document holds no value of type {}: give text",
                item.kind_name()
            )));
        }
        // The null of columns is that of documents here.
        let item = if item.is_null() { Item::JsonNull } else { item };
        match self.members.iter_mut().find(|(own, _)| **own == *name) {
            Some((_, own)) => *own = item,
            None => self.members.push((Arc::from(name), item)),
        }
        Ok(())
    }

    /// Gives all fields of a document their values.
    ///
    /// # Errors
    /// That it is not a document with fields.
    pub(super) fn set_all(&mut self, place: Place, item: &Item) -> Outcome<()> {
        let Some(members) = item.members() else {
            return Err(Failure::argument(format!(
                "Error: {place} after the columns of a JSON collection come documents with fields, \
                 not a value of type {}",
                item.kind_name()
            )));
        };
        members.iter().try_for_each(|(name, item)| self.set(place, name, item.clone()))
    }

    /// The column of the document, and its value.
    ///
    /// # Errors
    /// Fields that are columns.
    pub(super) fn into_value(self) -> Outcome<(usize, Value)> {
        let Self { schema, column, members } = self;
        Ok((column, document_value(schema, members)?))
    }
}

/// The value of the column of a document.
fn document_value(schema: &TableSchema, members: Members) -> Outcome<Value> {
    check_document(schema, members.iter().map(|(name, _)| &**name))?;
    Ok(Value::Json(json_text_of(&Item::Map(Arc::new(members)))))
}

/// The value of the column of a document that was changed.
///
/// # Errors
/// Fields that are columns, and what is not a document with fields.
pub(super) fn changed_document(schema: &TableSchema, place: Place, item: &Item) -> Outcome<Value> {
    match item {
        Item::Map(members) => document_value(schema, members.to_vec()),
        other => Err(Failure::argument(format!(
            "Error: {place} a row of a JSON collection is a document with fields, not a value of \
             type {}",
            other.kind_name()
        ))),
    }
}
