//! `--fetch-all`: runs many statements in one call, each with its own answer.

use std::time::Instant;

use tonnage::{Error, Result};
use tonnage_client::Fetched;
use tonnage_sql::{Answer, Request};

use super::server::rows_changed;
use super::statement_output::StatementOutput;
use super::{SqlArgs, as_stopped, failure_with_excerpt, print};
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
                Err(error) => {
                    failed += 1;
                    // Errors count lines from where their own statement begins.
                    let failure = failure_with_excerpt(statement, error.into());
                    stderr::line(format_args!("{number}: {}", with_causes(&failure.error)));
                }
            }
        }
        let (count, seconds) = (statements.len(), started.elapsed().as_secs_f64());
        globals.info(format_args!("{count} statements in one call ({seconds:.3} s)"));
        match failed {
            0 => Ok(Exit::Success),
            // Stopped, not wrong usage: the other statements were carried out.
            failed => Err(Failure::stopped(Error::invalid(format!(
                "{failed} of {count} statements failed; the others were carried out"
            )))),
        }
    }

    /// What became of each statement. What is wrong with the output, or an interruption, is no
    /// failure of one statement, and ends the run.
    fn fetched_from_store(
        &self,
        globals: &Globals,
        statements: &[&str],
    ) -> CliResult<Vec<Result<String>>> {
        let cancel = interrupt::cancel();
        let sql = self.sql(self.open(globals, self.create)?)?;
        let requests = statements.iter().map(|text| Request::new(*text).cancel(&cancel));
        let mut outlet = StatementOutput::new(&self.output);
        let answers = sql.fetch_all(requests);
        interrupt::check(&cancel)?;
        let mut described = Vec::with_capacity(answers.len());
        for answer in answers {
            described.push(match answer {
                Ok(Answer::Rows(rows)) => {
                    Ok(describe_count(print(&mut outlet, rows).map_err(as_stopped)?))
                }
                Ok(Answer::Changed(changes)) => Ok(describe_changes(&changes)),
                Ok(Answer::Done(done)) => Ok(done.to_string()),
                Err(error) => Err(error),
            });
        }
        outlet.finish()?;
        Ok(described)
    }

    fn fetched_from_server(
        &self,
        globals: &Globals,
        statements: &[&str],
    ) -> CliResult<Vec<Result<String>>> {
        let client = self.connect(globals)?;
        let asked: Vec<_> = statements.iter().map(|text| ((*text).to_owned(), vec![])).collect();
        let mut outlet = StatementOutput::new(&self.output);
        let mut described = Vec::with_capacity(asked.len());
        for answer in client.fetch_all(&asked)? {
            described.push(match answer {
                Ok(Fetched::Rows(schema, batches)) => {
                    let mut output = outlet.open(schema).map_err(as_stopped)?;
                    batches.iter().try_for_each(|batch| output.write(batch))?;
                    Ok(describe_count(outlet.close(output)?))
                }
                Ok(Fetched::Changed(changes)) => Ok(rows_changed(changes.total())),
                Ok(Fetched::Done(done)) => Ok(done.to_string()),
                Err(error) => Err(error),
            });
        }
        outlet.finish()?;
        Ok(described)
    }
}
