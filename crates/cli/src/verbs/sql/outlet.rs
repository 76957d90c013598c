//! Where the rows of statements go: to standard output one after another, or those of one statement
//! into a file, which appears when all statements are carried out.

use arrow::datatypes::SchemaRef;

use crate::exit::{CliResult, Failure};
use crate::output::{OutputArgs, RowOutput, WholeFile};

pub(super) struct RowOutlet<'a> {
    output: &'a OutputArgs,
    has_rows: bool,
    whole: Option<WholeFile>,
}

impl<'a> RowOutlet<'a> {
    pub(super) fn new(output: &'a OutputArgs) -> Self {
        Self { output, has_rows: false, whole: None }
    }

    /// Opens the output for the rows of one statement.
    pub(super) fn open(&mut self, schema: SchemaRef) -> CliResult<RowOutput> {
        let had_rows = std::mem::replace(&mut self.has_rows, true);
        // A pipe or a device takes one result after another.
        let is_special = |path: &std::path::PathBuf| path.metadata().is_ok_and(|it| !it.is_file());
        match self.output.file().filter(|path| !is_special(path)) {
            Some(path) if had_rows => Err(Failure::usage(format!(
                "--output {}: it holds the rows of one statement, and a second one gives rows: run it by itself, or write COPY (...) TO 'FILE'",
                path.display()
            ))),
            _ => self.output.open(schema),
        }
    }

    /// Ends the rows of one statement. Tells how many they are.
    pub(super) fn close(&mut self, output: RowOutput) -> CliResult<u64> {
        let rows = output.rows();
        if let Some(whole) = output.close()? {
            self.whole = Some(whole);
        }
        Ok(rows)
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> CliResult<()> {
        self.whole.map_or(Ok(()), WholeFile::appear)
    }
}
