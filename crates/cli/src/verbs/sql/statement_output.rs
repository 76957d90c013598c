//! The output of several statements: their rows go to standard output one after another. A file
//! takes the rows of one statement, and gets its name when all statements have succeeded.

use arrow::datatypes::SchemaRef;

use crate::exit::{CliResult, Failure};
use crate::output::{CompletedFile, OutputArgs, RowOutput};

pub(super) struct StatementOutput<'a> {
    output: &'a OutputArgs,
    has_rows: bool,
    whole: Option<CompletedFile>,
}

impl<'a> StatementOutput<'a> {
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

    /// Ends the rows of one statement. Returns how many they are.
    pub(super) fn close(&mut self, output: RowOutput) -> CliResult<u64> {
        let rows = output.rows();
        if let Some(whole) = output.close()? {
            self.whole = Some(whole);
        }
        Ok(rows)
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> CliResult<()> {
        self.whole.map_or(Ok(()), CompletedFile::publish)
    }
}
