//! The layout of tables for people: plain or expanded, and the width.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use arrow::util::pretty::pretty_format_batches_with_options;
use unicode_width::UnicodeWidthStr;

/// Whether rows stand side by side or each by itself, and the room there is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TableStyle {
    pub(crate) expanded: Expanded,
    /// The columns of the terminal.
    pub(crate) width: Option<usize>,
}

/// When each row is written by itself, a line for each column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Expanded {
    #[default]
    Off,
    On,
    /// Where a table would be wider than the terminal.
    Auto,
}

/// The text that means NULL.
const NULL: &str = "NULL";

impl TableStyle {
    /// Some rows as text; `rows_before` came earlier.
    pub(super) fn write(
        &self,
        page: &[RecordBatch],
        rows_before: usize,
        target: &mut impl Write,
    ) -> Result<(), PageError> {
        let options = FormatOptions::new().with_null(NULL);
        if self.expanded == Expanded::On {
            return write_records(page, rows_before, &options, target);
        }
        let table = pretty_format_batches_with_options(page, &options)?.to_string();
        let is_too_wide = || {
            self.width
                .is_some_and(|width| table.lines().next().is_some_and(|line| line.width() > width))
        };
        if self.expanded == Expanded::Auto && is_too_wide() {
            return write_records(page, rows_before, &options, target);
        }
        Ok(writeln!(target, "{table}")?)
    }
}

fn write_records(
    page: &[RecordBatch],
    rows_before: usize,
    options: &FormatOptions,
    target: &mut impl Write,
) -> Result<(), PageError> {
    let mut number = rows_before;
    for batch in page {
        let schema = batch.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, options));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let room = names.iter().map(|name| name.width()).max().unwrap_or_default();
        for row in 0..batch.num_rows() {
            number += 1;
            writeln!(target, "{:-<1$}", format!("-- row {number} "), room + 20)?;
            for (name, column) in names.iter().zip(&columns) {
                let value = column.value(row).try_to_string()?;
                // Further lines of a value stand under its first.
                let value = value.replace('\n', &format!("\n{} | ", " ".repeat(room)));
                writeln!(target, "{name}{} | {value}", " ".repeat(room - name.width()))?;
            }
        }
    }
    Ok(())
}

/// Why a page was not written.
pub(super) enum PageError {
    Values(ArrowError),
    Output(io::Error),
}

impl From<ArrowError> for PageError {
    fn from(error: ArrowError) -> Self {
        PageError::Values(error)
    }
}

impl From<io::Error> for PageError {
    fn from(error: io::Error) -> Self {
        PageError::Output(error)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int32Array, StringArray};

    use super::*;

    fn text(style: TableStyle) -> String {
        let price: ArrayRef = Arc::new(Int32Array::from(vec![Some(100), None]));
        let name: ArrayRef = Arc::new(StringArray::from(vec!["a\nb", "ü"]));
        let page = RecordBatch::try_from_iter([("price", price), ("größe", name)]).unwrap();
        let mut text = Vec::new();
        assert!(style.write(&[page], 5, &mut text).is_ok());
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn null_is_visible() {
        assert!(text(TableStyle::default()).contains("| NULL  | ü"));
    }

    #[test]
    fn expanded_rows_have_a_line_for_each_column() {
        let told = "-- row 6 ----------------\nprice | 100\ngröße | a\n      | b\n-- row 7 ----------------\nprice | NULL\ngröße | ü\n";
        assert_eq!(text(TableStyle { expanded: Expanded::On, width: None }), told);
    }

    #[test]
    fn what_is_too_wide_for_the_terminal_is_expanded_on_its_own() {
        let auto = |width| text(TableStyle { expanded: Expanded::Auto, width });
        assert!(auto(Some(10)).starts_with("-- row 6"));
        assert!(auto(Some(80)).starts_with("+--"));
        assert!(auto(None).starts_with("+--"));
    }
}
