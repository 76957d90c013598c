//! Executes statements and prints their answers.

use std::time::Instant;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tonnage::Result;

use super::backend::StatementAnswer;
use super::caret::with_excerpt_from;
use super::statement_buffer::ShellInput;
use super::{Shell, ShellFlow, seconds};
use crate::exit::{CliResult, Failure, with_causes};
use crate::interrupt;
use crate::output::{Expanded, RowFormat, RowOutput, TableStyle, describe_count};
use crate::values::grouped;

impl Shell {
    /// Execute statements up to the first that fails. Ctrl-C stops the one that runs.
    pub(super) fn execute_statements(&mut self, unit: &ShellInput) -> ShellFlow {
        // Held until the last answer is shown: Ctrl-C stops a query whose rows are being printed,
        // too.
        let running = interrupt::begin_statement();
        let mut script = match self.backend.script(&unit.text, running.cancel()) {
            Ok(script) => script,
            Err(error) => {
                return self.report_error(with_excerpt_from(
                    &unit.text,
                    unit.lines_before,
                    error.message(),
                ));
            }
        };
        // Taken before the first statement, because the script shrinks as it runs.
        let count = script.len();
        for done in 1.. {
            let started = Instant::now();
            let shown = match script.next() {
                None => break,
                Some(Ok(answer)) => self.show_answer(answer),
                Some(Err(error)) => Err(error.into()),
            };
            match shown {
                Ok(said) if self.settings.timing => {
                    self.screen.info(format_args!("{said} {}", seconds(started.elapsed())))
                }
                Ok(said) => self.screen.info(said),
                Err(failure) => {
                    let stopped = running.cancel().is_cancelled();
                    return self.report_interruption(
                        unit,
                        &failure,
                        stopped,
                        started,
                        count - done,
                    );
                }
            }
        }
        ShellFlow::Continue
    }

    fn report_interruption(
        &self,
        unit: &ShellInput,
        failure: &Failure,
        stopped: bool,
        started: Instant,
        left: usize,
    ) -> ShellFlow {
        // A stopped statement counts as failed: the rest of a file may build on what it did not do.
        let flow = match stopped {
            true => {
                self.screen.info(format_args!("stopped {}", seconds(started.elapsed())));
                ShellFlow::Failed
            }
            false => self.report_error(with_excerpt_from(
                &unit.text,
                unit.lines_before,
                &with_causes(&failure.error),
            )),
        };
        match left {
            0 => {}
            1 => self.screen.info("1 statement after it was left out"),
            _ => self.screen.info(format_args!("{left} statements after it were left out")),
        }
        flow
    }

    /// Shows an answer. Gives what there is to say of it.
    fn show_answer(&mut self, told: StatementAnswer) -> CliResult<String> {
        match told {
            StatementAnswer::Words(words) => Ok(words),
            StatementAnswer::Rows(schema, rows) => match self.settings.take_output() {
                Some(file) => write(rows, file.open(schema)?, None),
                None => {
                    let limit = self.settings.limit(&self.screen);
                    let output = self.output(self.settings.format(&self.screen), schema)?;
                    write(rows, output, limit)
                }
            },
        }
    }

    fn output(&self, format: RowFormat, schema: SchemaRef) -> CliResult<RowOutput> {
        RowOutput::on_screen(format, self.screen.rows(), schema, self.settings.style(&self.screen))
    }

    /// Shows a list of the shell's own: as a table, if the terminal is wide enough.
    pub(super) fn show_list(&self, rows: &RecordBatch) -> CliResult<()> {
        let style = TableStyle { expanded: Expanded::Auto, width: self.screen.width };
        let mut output =
            RowOutput::on_screen(RowFormat::Table, self.screen.rows(), rows.schema(), style)?;
        output.write(rows)?;
        output.finish().map(drop)
    }
}

/// Writes rows as they come, up to a limit. What was written before an error stays to be seen.
fn write(
    rows: impl Iterator<Item = Result<RecordBatch>>,
    mut output: RowOutput,
    limit: Option<u64>,
) -> CliResult<String> {
    let mut left = limit.unwrap_or(u64::MAX);
    let (mut has_more, mut broken) = (false, None);
    for batch in rows {
        match batch {
            Ok(batch) => {
                let taken = left.min(batch.num_rows() as u64);
                if taken > 0 {
                    output.write(&batch.slice(0, taken as usize))?;
                }
                left -= taken;
                has_more = taken < batch.num_rows() as u64;
            }
            Err(error) => broken = Some(error),
        }
        // At the limit one more batch is read: only that shows whether there are more rows.
        if has_more || broken.is_some() {
            break;
        }
    }
    // The output is closed before the error is printed, so the rows are above it.
    if let Some(error) = broken {
        output.finish_partial()?;
        return Err(error.into());
    }
    let count = output.finish()?;
    match has_more {
        true => Ok(format!(
            "the first {} rows; there are more: \\limit {} shows more, \\limit off all",
            grouped(count),
            count * 10
        )),
        false => Ok(describe_count(count)),
    }
}
