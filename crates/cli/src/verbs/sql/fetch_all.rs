//! `--fetch-all`: many statements in one call, side by side, each with an answer of its own.

use std::time::Instant;

use tonnage::{Error, Result};
use tonnage_client::Fetched;
use tonnage_sql::{Answer, Request};

use super::outlet::RowOutlet;
use super::{AndThenInterrupted, SqlArgs, pointed, print};
use crate::args::Globals;
use crate::exit::{CliResult, Exit, Failure, with_causes};
use crate::output::{describe_changes, describe_count};
use crate::statements::statements;
use crate::{interrupt, stderr};

impl SqlArgs {
    /// Carries out all statements of a text in one call. Their answers come in the order of the
    /// text; one that fails keeps no other from its answer.
    pub(super) fn fetch_all(&self, globals: &Globals, text: &str) -> CliResult {
        let statements = statements(text);
        if statements.is_empty() {
            return Err(Failure::usage("there is no statement: write for instance 'SHOW TABLES'"));
        }
        let started = Instant::now();
        let described = match globals.is_server() {
            true => self.fetched_from_server(globals, &statements)?,
            false => self.fetched_from_store(globals, &statements)?,
        };
        let mut failed = 0;
        for (place, (described, statement)) in described.into_iter().zip(&statements).enumerate() {
            let number = place + 1;
            match described {
                Ok(described) => globals.info(format_args!("{number}: {described}")),
                Err(failure) => {
                    failed += 1;
                    let failure = pointed(statement, failure);
                    stderr::line(format_args!("{number}: {}", with_causes(&failure.error)));
                }
            }
        }
        let (count, seconds) = (statements.len(), started.elapsed().as_secs_f64());
        globals.info(format_args!("{count} statements in one call ({seconds:.3} s)"));
        match failed {
            0 => Ok(Exit::Success),
            failed => Err(Failure::stopped(Error::invalid(format!(
                "{failed} of {count} statements failed; the others were carried out"
            )))),
        }
    }

    fn fetched_from_store(
        &self,
        globals: &Globals,
        statements: &[&str],
    ) -> CliResult<Vec<CliResult<String>>> {
        let cancel = interrupt::cancel();
        let sql = self.sql(self.open(globals, self.create)?)?;
        let requests = statements.iter().map(|text| Request::new(*text).cancel(&cancel));
        let mut outlet = RowOutlet::new(&self.output);
        let answers = sql.fetch_all(requests).into_iter().map(|answer| {
            Ok(match answer.and_then_interrupted()? {
                Answer::Rows(rows) => describe_count(print(&mut outlet, rows)?),
                Answer::Changed(changes) => describe_changes(&changes),
                Answer::Done(done) => done.to_string(),
            })
        });
        let described = answers.collect();
        outlet.finish()?;
        Ok(described)
    }

    fn fetched_from_server(
        &self,
        globals: &Globals,
        statements: &[&str],
    ) -> CliResult<Vec<CliResult<String>>> {
        let client = self.connect(globals)?;
        let asked: Vec<_> = statements.iter().map(|text| ((*text).to_owned(), vec![])).collect();
        let mut outlet = RowOutlet::new(&self.output);
        let answers = client.fetch_all(&asked)?.into_iter();
        let described = answers.map(|answer| served(answer, &mut outlet)).collect();
        outlet.finish()?;
        Ok(described)
    }
}

fn served(answer: Result<Fetched>, outlet: &mut RowOutlet) -> CliResult<String> {
    Ok(match answer? {
        Fetched::Rows(schema, batches) => {
            let mut output = outlet.open(schema)?;
            for batch in &batches {
                output.write(batch)?;
            }
            describe_count(outlet.close(output)?)
        }
        Fetched::Changed(changes) => match changes.total() {
            0 => "no rows changed".to_owned(),
            count => format!("{} changed", describe_count(count)),
        },
        Fetched::Done(done) => done.to_string(),
    })
}
