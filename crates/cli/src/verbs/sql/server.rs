//! Statements that a server carries out, one by one.

use std::time::Instant;

use tonnage::Store;
use tonnage_client::{Answer, Client, Rows};

use super::{SqlArgs, pointed, tell, while_it_ran};
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
        if tonnage::ddl::parse(text).is_ok() {
            return self
                .define_on_server(globals, &client, text)
                .map_err(|failure| pointed(text, failure));
        }
        for (number, statement) in statements.into_iter().enumerate() {
            let started = Instant::now();
            let described = self.answer(&client, statement);
            let described = described.map_err(|failure| pointed(statement, failure));
            // What came before it stays.
            let described = match number {
                0 => described,
                _ => described.map_err(while_it_ran),
            };
            let seconds = started.elapsed().as_secs_f64();
            globals.info(format_args!("{} ({seconds:.3} s)", described?));
        }
        Ok(Exit::Success)
    }

    pub(super) fn connect(&self, globals: &Globals) -> CliResult<Client> {
        if self.create || self.memory.is_some() {
            return Err(Failure::usage(
                "--create and --memory are for a store of this process: leave them out with a server",
            ));
        }
        globals.connect(self.timeout)
    }

    fn define_on_server(&self, globals: &Globals, client: &Client, text: &str) -> CliResult {
        let mut output = LineOutput::stdout();
        for done in client.define(text)? {
            // A list of columns is made from the definition, by a copy of the table.
            let copy = match (&done, self.output.format) {
                (tonnage::Outcome::Description(ddl), Some(_)) => copy_of(client, ddl)?,
                _ => Store::open("memory:")?,
            };
            match self.listed(&copy, &done)? {
                Some(rows) => {
                    std::mem::replace(&mut output, LineOutput::stdout()).finish()?;
                    self.print_list(&rows)?;
                }
                None => tell(globals, &mut output, &done)?,
            }
        }
        output.finish()?;
        Ok(Exit::Success)
    }

    /// Carries a statement out, prints its rows, and says what became of it.
    fn answer(&self, client: &Client, statement: &str) -> CliResult<String> {
        if let Ok(definitions) = tonnage::ddl::parse(statement)
            && !definitions.is_empty()
        {
            let done = client.define(statement)?;
            let told: Vec<String> = done.iter().map(ToString::to_string).collect();
            return Ok(told.join("; "));
        }
        Ok(match client.sql(statement)? {
            Answer::Rows(rows) => describe_count(self.print_served(rows)?),
            Answer::Changed(changes) => match changes.total() {
                0 => "no rows changed".to_owned(),
                count => format!("{} changed", describe_count(count)),
            },
            Answer::Done(done) => done.to_string(),
        })
    }

    fn print_served(&self, rows: Rows) -> CliResult<u64> {
        let cancel = interrupt::cancel();
        let mut output = self.output.open(rows.schema().clone())?;
        for batch in rows {
            interrupt::check(&cancel)?;
            output.write(&batch.map_err(Failure::stopped)?)?;
        }
        output.finish()
    }
}

/// A store in memory that has the table of a definition, and its parents.
fn copy_of(client: &Client, ddl: &str) -> CliResult<Store> {
    let copy = Store::open("memory:")?;
    if let Some(tonnage::ddl::Statement::CreateTable { definition, .. }) =
        tonnage::ddl::parse(ddl)?.first()
    {
        for (end, _) in definition.path.char_indices().filter(|(_, char)| *char == '.') {
            copy.execute(&client.describe(&definition.path[..end])?.schema.to_ddl())?;
        }
    }
    copy.execute(ddl)?;
    Ok(copy)
}
