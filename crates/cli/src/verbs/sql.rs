//! `tonnage sql`: statements that define tables.

use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use tonnage::{Error, Outcome as Done};

use crate::args::Globals;
use crate::exit::{Exit, Failure, Outcome};
use crate::output::LineOutput;

/// Carries out DDL: CREATE TABLE, DROP TABLE, ALTER TABLE, CREATE INDEX, DROP INDEX, SHOW TABLES, DESCRIBE (queries come with a later release)
#[derive(Args)]
pub(crate) struct SqlArgs {
    /// Statements, separated by semicolons [default: standard input]
    statements: Option<String>,
    /// Reads the statements from a file
    #[arg(long, short, value_name = "FILE", conflicts_with = "statements")]
    file: Option<PathBuf>,
}

impl SqlArgs {
    pub(crate) fn run(&self, globals: &Globals) -> Outcome {
        let sql = self.text()?;
        // What cannot be read must not make a store.
        if tonnage::ddl::parse(&sql)?.is_empty() {
            return Err(Failure::usage("there is no statement: write for instance 'SHOW TABLES'"));
        }
        let mut output = LineOutput::stdout();
        for done in globals.open_or_create(true)?.execute(&sql)? {
            output.line(told(done))?;
        }
        output.finish()?;
        Ok(Exit::Well)
    }

    fn text(&self) -> Outcome<String> {
        let read = match (&self.statements, &self.file) {
            (Some(text), _) => return Ok(text.clone()),
            (None, Some(path)) if path.as_os_str() != "-" => {
                std::fs::read_to_string(path).map_err(|error| (path.display().to_string(), error))
            }
            _ => {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text).map(|_| text).map_err(|error| ("standard input".to_owned(), error))
            }
        };
        Ok(read.map_err(|(place, error)| Error::invalid(format!("{place}: cannot be read: {error}")).with_source(error))?)
    }
}

fn told(done: Done) -> String {
    match done {
        Done::Created { table, new: true } => format!("created table {table}"),
        Done::Created { table, new: false } => format!("table {table} was there already"),
        Done::Dropped { table, existed: true } => format!("dropped table {table}"),
        Done::Dropped { table, existed: false } => format!("there was no table {table}"),
        Done::Altered { table } => format!("altered table {table}"),
        Done::CreatedIndex { index, table, new: true } => format!("created index {index} on {table}"),
        Done::CreatedIndex { index, table, new: false } => format!("index {index} on {table} was there already"),
        Done::DroppedIndex { index, table, existed: true } => format!("dropped index {index} on {table}"),
        Done::DroppedIndex { index, table, existed: false } => format!("there was no index {index} on {table}"),
        Done::Tables(tables) => tables.join("\n"),
        Done::Description(ddl) => format!("{ddl};"),
    }
}
