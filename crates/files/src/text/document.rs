//! Finds the columns of a row in a JSON document.

use arrow::datatypes::FieldRef;
use tonnage_engine::{Error, Result};

use super::block::{Cell, CellKind};
use super::json_scan::{JsonMember, RecordRefusal, decoded_name, scan_object};
use crate::options::DocumentOptions;
use crate::type_name::is_json_field;

/// Where the columns of a row stand in its document.
#[derive(Clone, Debug)]
pub(crate) struct DocumentLayout {
    /// The column of the document itself.
    document: usize,
    path_columns: Vec<PathColumn>,
}

/// A column and the names that lead to it.
#[derive(Clone, Debug)]
struct PathColumn {
    column: usize,
    path: Vec<String>,
    /// A column that is found by its own name is found in any case.
    any_case: bool,
}

impl DocumentLayout {
    /// The layout of rows with these columns.
    pub(crate) fn new(options: &DocumentOptions, fields: &[FieldRef]) -> Result<Self> {
        let named =
            |name: &str| fields.iter().position(|field| field.name().eq_ignore_ascii_case(name));
        let missing = |name: &str| {
            let names: Vec<_> = fields.iter().map(|field| field.name().as_str()).collect();
            Error::invalid(format!(
                "there is no column {name} for what is in the documents: there are {}",
                names.join(", ")
            ))
        };
        let document = named(&options.column).ok_or_else(|| missing(&options.column))?;
        if !is_json_field(&fields[document]) {
            return Err(Error::invalid(format!(
                "column {} takes documents, but is not of type JSON",
                options.column
            )));
        }
        let mut path_columns = Vec::with_capacity(fields.len());
        for (name, path) in &options.paths {
            let column = named(name).ok_or_else(|| missing(name))?;
            if column == document || path.is_empty() {
                return Err(Error::invalid(format!(
                    "column {name} needs a JSON path within the documents"
                )));
            }
            path_columns.push(PathColumn { column, path: path.clone(), any_case: false });
        }
        // Paths that were given come first: their columns are not looked for by name as well.
        for (column, field) in fields.iter().enumerate() {
            // A generated key is not looked for in documents, even where a member has its name.
            let is_generated = options
                .generated_key
                .as_ref()
                .is_some_and(|key| field.name().eq_ignore_ascii_case(key));
            if column != document
                && !is_generated
                && !path_columns.iter().any(|known| known.column == column)
            {
                path_columns.push(PathColumn {
                    column,
                    path: vec![field.name().clone()],
                    any_case: true,
                });
            }
        }
        Ok(Self { document, path_columns })
    }

    /// Fills the cells of a row from the document that `text[start..end]` must be.
    pub(super) fn take(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        cells: &mut [Cell],
    ) -> std::result::Result<(), RecordRefusal> {
        let start = start + (text[start..end].len() - text[start..end].trim_ascii_start().len());
        cells[self.document] = Cell::new(start, end, CellKind::Nested);
        let paths: Vec<(&PathColumn, &[String])> =
            self.path_columns.iter().map(|column| (column, column.path.as_slice())).collect();
        find(text, start, end, &paths, cells)
    }
}

/// Fills the cells of the paths below an object. Of a repeated name the last counts.
fn find(
    text: &[u8],
    start: usize,
    end: usize,
    paths: &[(&PathColumn, &[String])],
    cells: &mut [Cell],
) -> std::result::Result<(), RecordRefusal> {
    scan_object(text, start, end, |member| {
        let (mut below, name) = (Vec::new(), decoded_name(&member));
        for (column, path) in paths {
            let [first, rest @ ..] = *path else { continue };
            let is_named = if column.any_case {
                name.to_lowercase() == first.to_lowercase()
            } else {
                name == first.as_str()
            };
            match rest {
                _ if !is_named => {}
                [] => cells[column.column] = member.value,
                rest => {
                    // The last member of a name counts: what an earlier one held must not stay.
                    cells[column.column] = Cell::MISSING;
                    below.push((*column, rest));
                }
            }
        }
        // Where there is no object nothing leads further: the cells below stay missing.
        if below.is_empty() || !is_object(&member, text) {
            return Ok(());
        }
        let (start, end) = member.value.span();
        find(text, start, end, &below, cells)
    })
}

fn is_object(member: &JsonMember<'_>, text: &[u8]) -> bool {
    member.value.kind() == CellKind::Nested && member.value.bytes(text).starts_with(b"{")
}

/// The paths at which documents are looked at to find the types of columns.
pub(crate) struct DocumentPaths(Vec<PathColumn>);

impl DocumentPaths {
    pub(crate) fn of(options: &DocumentOptions) -> Self {
        let column = |(column, (_, path)): (usize, &(String, Vec<String>))| PathColumn {
            column,
            path: path.clone(),
            any_case: false,
        };
        Self(options.paths.iter().enumerate().map(column).collect())
    }

    /// Fills a cell for each path from the document that `text[start..end]` is. A broken one says
    /// what it can.
    pub(crate) fn find(&self, text: &[u8], start: usize, end: usize, cells: &mut [Cell]) {
        let paths: Vec<(&PathColumn, &[String])> =
            self.0.iter().map(|column| (column, column.path.as_slice())).collect();
        let _ = find(text, start, end, &paths, cells);
    }
}
