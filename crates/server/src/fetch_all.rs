//! Carries out many statements in one call, each with an answer or an error of its own.

use tonnage::{Cancel, Result};
use tonnage_sql::{Answer, Request};

use crate::auth::Caller;
use crate::context::ServerContext;
use crate::query::SqlQuery;

/// Carries out those of the statements that the caller may carry out, and refuses the others.
///
/// # Errors
/// `Invalid` for a request that is not as it should be: none of them is carried out then.
pub(crate) fn fetch_allowed(
    context: &ServerContext,
    caller: &Caller,
    queries: &[SqlQuery],
    cancel: &Cancel,
) -> Result<Vec<Result<Answer>>> {
    // All rights are checked before the first statement runs: what one of them makes must not change
    // what another one is held against.
    let checks = queries.iter().map(|query| caller.check_statement(&context.sql, &query.sql));
    let checks: Vec<Result<()>> = checks.collect();
    let requests = queries.iter().zip(&checks).enumerate().map(|(index, (query, check))| {
        let request = query.request().map_err(|error| error.at(format!("statement {index}")))?;
        // What is refused leaves an empty text in its place: errors of the others tell theirs.
        Ok(match check {
            Ok(()) => request.cancel(cancel),
            Err(_) => Request::new(""),
        })
    });
    let answers = context.sql.fetch_all(requests.collect::<Result<Vec<_>>>()?);
    Ok(checks.into_iter().zip(answers).map(|(check, answer)| check.and(answer)).collect())
}
