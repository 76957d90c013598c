//! Statements.

use tonnage::Result;
use tonnage::arrow::array::RecordBatch;
use tonnage_sql::Sql;

/// Runs one statement; its answer is drawn batch by batch.
pub(super) fn query(
    sql: &Sql,
    statement: &str,
    sink: &mut dyn FnMut(&RecordBatch) -> Result<()>,
) -> Result<()> {
    sql.execute(statement)?.into_rows()?.try_for_each(|batch| sink(&batch?))
}

/// Runs many in one call.
pub(super) fn multi_query(
    sql: &Sql,
    statements: &[&str],
    sink: &mut dyn FnMut(usize, &RecordBatch) -> Result<()>,
) -> Result<()> {
    let answers = sql.fetch_all(statements.iter().copied());
    answers.into_iter().enumerate().try_for_each(|(number, answer)| {
        let at = |error: tonnage::Error| error.at(format!("statement {number}"));
        answer
            .and_then(tonnage_sql::Answer::into_rows)
            .map_err(at)?
            .try_for_each(|batch| sink(number, &batch.map_err(at)?))
    })
}
