//! Executes statements on a server, one by one.

use std::time::Instant;

use tonnage::Store;
use tonnage_client::{Answer, RemoteStore, Rows};

use super::statement_output::StatementOutput;
use super::{SqlArgs, failure_after, failure_with_excerpt, print_list, report_outcome};
use crate::args::Globals;
use crate::exit::{CliResult, Exit, Failure};
use crate::interrupt;
use crate::output::{LineOutput, describe_count};
use crate::statements::statements;

impl SqlArgs {
    /// Carries the statements out at a server. A text of definitions alone is answered as a store
    /// answers it.
    pub(super) fn run_on_server(&self, globals: &Globals, text: &str) -> CliResult {
        let statements = statements(text);
        if statements.is_empty() {
            return Err(Failure::usage("there is no statement: write for instance 'SHOW TABLES'"));
        }
        let client = self.connect(globals)?;
        if tonnage::parse_ddl(text).is_ok() {
            return self
                .define_on_server(globals, &client, text)
                .map_err(|failure| failure_with_excerpt(text, failure));
        }
        let mut outlet = StatementOutput::new(&self.output);
        for (number, statement) in statements.into_iter().enumerate() {
            let started = Instant::now();
            let described = answer(&client, statement, &mut outlet);
            let described = described
                .map_err(|failure| failure_after(number, failure_with_excerpt(statement, failure)));
            let seconds = started.elapsed().as_secs_f64();
            globals.info(format_args!("{} ({seconds:.3} s)", described?));
        }
        outlet.finish()?;
        Ok(Exit::Success)
    }

    pub(super) fn connect(&self, globals: &Globals) -> CliResult<RemoteStore> {
        if self.create || self.memory.is_some() {
            return Err(Failure::usage(
                "--create and --memory are for a store of this process: leave them out with a server",
            ));
        }
        globals.connect(self.timeout)
    }

    fn define_on_server(&self, globals: &Globals, client: &RemoteStore, text: &str) -> CliResult {
        let (mut output, mut outlet) = (LineOutput::stdout(), StatementOutput::new(&self.output));
        for (number, statement) in statements(text).into_iter().enumerate() {
            let done = client.execute(statement).map_err(Failure::from);
            for done in done.map_err(|failure| failure_after(number, failure))? {
                // A list of columns is built from the definition, by a copy of the table.
                let copy = match &done {
                    tonnage::DdlOutcome::Description(ddl) if self.wants_rows() => {
                        copy_of(client, ddl)?
                    }
                    _ => Store::open("memory:")?,
                };
                match self.definition_rows(&copy, &done)? {
                    Some(rows) => {
                        std::mem::replace(&mut output, LineOutput::stdout()).finish()?;
                        print_list(&mut outlet, &rows)
                            .map_err(|failure| failure_after(number, failure))?;
                    }
                    None => report_outcome(globals, &mut output, &done)?,
                }
            }
        }
        output.finish()?;
        outlet.finish()?;
        Ok(Exit::Success)
    }
}

/// Carries a statement out, prints its rows, and says what became of it.
fn answer(
    client: &RemoteStore,
    statement: &str,
    outlet: &mut StatementOutput,
) -> CliResult<String> {
    if let Ok(definitions) = tonnage::parse_ddl(statement)
        && !definitions.is_empty()
    {
        let done = client.execute(statement)?;
        let told: Vec<String> = done.iter().map(ToString::to_string).collect();
        return Ok(told.join("; "));
    }
    Ok(match client.sql(statement)? {
        Answer::Rows(rows) => describe_count(print_served(outlet, rows)?),
        Answer::Changed(changes) => rows_changed(changes.total()),
        Answer::Done(done) => done.to_string(),
    })
}

pub(super) fn rows_changed(count: u64) -> String {
    match count {
        0 => "no rows changed".to_owned(),
        count => format!("{} changed", describe_count(count)),
    }
}

fn print_served(outlet: &mut StatementOutput, rows: Rows) -> CliResult<u64> {
    let cancel = interrupt::cancel();
    let mut output = outlet.open(rows.schema().clone())?;
    for batch in rows {
        interrupt::check(&cancel)?;
        output.write(&batch.map_err(Failure::stopped)?)?;
    }
    outlet.close(output)
}

/// A store in memory that has the table of a definition, and its parents.
fn copy_of(client: &RemoteStore, ddl: &str) -> CliResult<Store> {
    let copy = Store::open("memory:")?;
    if let Some(tonnage::Statement::CreateTable { definition, .. }) =
        tonnage::parse_ddl(ddl)?.first()
    {
        for (end, _) in definition.path.char_indices().filter(|(_, char)| *char == '.') {
            copy.execute(&client.table(&definition.path[..end])?.schema().to_ddl())?;
        }
    }
    copy.execute(ddl)?;
    Ok(copy)
}
