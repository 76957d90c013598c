//! The columns that a reader delivers, and their positions in the file.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use tonnage_engine::{Error, Result};

use crate::options::{ExtraColumns, ReadOptions};
use crate::type_guess::json_field;

/// The columns to deliver, and for each the column of the file that it comes from.
#[derive(Clone, Debug)]
pub(crate) struct ColumnLayout {
    pub(crate) schema: SchemaRef,
    pub(crate) places: Vec<usize>,
}

impl ColumnLayout {
    /// Matches the columns of a file, in their order, with those that are wanted.
    pub(crate) fn of_file(fields: &[FieldRef], options: &ReadOptions) -> Result<ColumnLayout> {
        refuse_duplicates(fields.iter().map(|field| field.name().as_str()))?;
        let mut columns = Vec::new();
        let mut places = Vec::new();
        for (place, field) in fields.iter().enumerate() {
            let column =
                match (wanted_field(options, field.name()), options.unmentioned, &options.schema) {
                    (Some(wanted), _, _) if wanted.data_type().is_nested() => {
                        match field.data_type().is_nested() {
                            true => nullable(wanted),
                            // Text says nested values as JSON.
                            false => Arc::new(json_field(wanted.name())),
                        }
                    }
                    (Some(wanted), _, _) => nullable(wanted),
                    (None, ExtraColumns::Skip, Some(_)) => continue,
                    (None, _, _) => nullable(field),
                };
            columns.push(column);
            places.push(place);
        }
        Ok(ColumnLayout { schema: Arc::new(Schema::new(columns)), places })
    }

    /// The columns of a file that has none because it is empty: those that are wanted, so that
    /// nothing seems to be missing.
    pub(crate) fn of_nothing(options: &ReadOptions) -> ColumnLayout {
        let columns: Vec<FieldRef> =
            options.schema.iter().flat_map(|schema| schema.fields()).map(nullable).collect();
        ColumnLayout {
            places: (0..columns.len()).collect(),
            schema: Arc::new(Schema::new(columns)),
        }
    }
}

/// Fields of text, for a file that tells only names.
pub(crate) fn text_fields(names: &[String]) -> Vec<FieldRef> {
    names.iter().map(|name| Arc::new(Field::new(name, DataType::Utf8, true))).collect()
}

/// The wanted column of a name: the one that is spelled so, else the one that differs in case only.
pub(crate) fn wanted_field<'a>(options: &'a ReadOptions, name: &str) -> Option<&'a FieldRef> {
    let fields = options.schema.as_ref()?.fields();
    let lower = name.to_lowercase();
    fields
        .iter()
        .find(|field| field.name() == name)
        .or_else(|| fields.iter().find(|field| field.name().to_lowercase() == lower))
}

/// What is read may be NULL; whether the table allows it is for the table to say.
pub(crate) fn nullable(field: &FieldRef) -> FieldRef {
    match field.is_nullable() {
        true => Arc::clone(field),
        false => Arc::new(field.as_ref().clone().with_nullable(true)),
    }
}

fn refuse_duplicates<'a>(names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name.to_lowercase()) {
            return Err(Error::invalid(format!(
                "the column {name} appears twice; rename one of them"
            )));
        }
    }
    Ok(())
}
