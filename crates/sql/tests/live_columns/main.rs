//! Scans of live columns give what a store without them gives, whatever is written beside them.

mod agreement;
mod beside_writers;

use tonnage::Value;
use tonnage_sql::{Answer, Sql};

/// The rows of a query as text, sorted; or how many rows were changed, or the kind of the error.
fn answer(sql: &Sql, text: &str) -> Result<Vec<String>, String> {
    let failed = |error: tonnage::Error| format!("{:?}", error.kind());
    let batch = match sql.execute(text).map_err(failed)? {
        Answer::Rows(rows) => rows.into_batch().map_err(failed)?,
        Answer::Changed(changes) => return Ok(vec![format!("{changes:?}")]),
        Answer::Done(_) => return Ok(Vec::new()),
    };
    let cell = |(name, value): (&str, &Value)| match value {
        // The order in which numbers are added up shows in the last digits.
        Value::Double(value) => format!("{name}={value:.9}"),
        value => format!("{name}={value}"),
    };
    let row = |row| {
        let row = tonnage::Row::from_batch(&batch, row).unwrap();
        row.iter().map(cell).collect::<Vec<_>>().join(" ")
    };
    let mut rows: Vec<String> = (0..batch.num_rows()).map(row).collect();
    rows.sort();
    Ok(rows)
}
