//! The rows of a table in pages, in the order of the key. Each page gives the positions of both of
//! its ends, so that a client can continue in either direction, however many rows there are.

use std::time::Duration;

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value as Json, json};
use tonnage::{Cancel, Direction, Error, Result, ResumeToken, Table, TableScanOptions};

use super::handler::{CallerExtension, ContextState, HandlerResult, json as json_body};
use crate::auth::Right;
use crate::metrics::ListenerKind;

const ROWS_DEFAULT: usize = 100;
const ROWS_MAX: usize = 10_000;
/// A page ends after the row that reaches it: a page is held in memory.
const PAGE_BYTES_MAX: usize = 8 << 20;

/// Which page is asked for.
#[derive(Debug)]
struct PageRequest {
    direction: Direction,
    place: Option<ResumeToken>,
    limit: usize,
    columns: Option<Vec<String>>,
}

impl PageRequest {
    fn of(query: &[(String, String)]) -> Result<PageRequest> {
        let mut page = PageRequest {
            direction: Direction::Forward,
            place: None,
            limit: ROWS_DEFAULT,
            columns: None,
        };
        let ends = query.iter().filter(|(name, _)| matches!(name.as_str(), "after" | "before"));
        if ends.count() > 1 {
            return Err(Error::invalid("give one of after and before, once"));
        }
        query.iter().try_for_each(|(name, text)| page.take(name, text))?;
        Ok(page)
    }

    /// Takes an item of the query.
    fn take(&mut self, name: &str, text: &str) -> Result<()> {
        match name {
            "after" | "before" => {
                let is_back = name == "before";
                self.direction = if is_back { Direction::Reverse } else { Direction::Forward };
                self.place = place(name, text, self.direction)?;
            }
            "limit" => self.limit = limit(text)?,
            "columns" => self.columns.get_or_insert_default().push(text.to_owned()),
            other => {
                return Err(Error::invalid(format!(
                    "`{other}`: the query has after, before, limit and columns"
                )));
            }
        }
        Ok(())
    }

    fn options(&self, cancel: Cancel, timeout: Option<Duration>) -> TableScanOptions {
        TableScanOptions {
            direction: self.direction,
            columns: self.columns.clone(),
            // The row after a full page shows that there is more.
            limit: Some(self.limit as u64 + 1),
            batch_rows_max: self.limit + 1,
            max_concurrent_requests: Some(1),
            start_after: self.place.clone(),
            timeout,
            cancel,
            ..TableScanOptions::default()
        }
    }

    /// Reads the page. Blocks.
    fn read(&self, table: &Table, options: &TableScanOptions) -> Result<ScannedPage> {
        let (names, columns) = self.columns_of(table)?;
        let mut page = ScannedPage { columns, ..ScannedPage::default() };
        let mut rows = table.scan(options)?.into_rows();
        let mut bytes = 0;
        while let Some(row) = rows.next() {
            let row = row?.row;
            if page.rows.len() == self.limit || bytes > PAGE_BYTES_MAX {
                page.more = true;
                break;
            }
            let cells = names.iter().map(|name| {
                row.get(name).map_or_else(|| "null".to_owned(), |value| value.to_json_text())
            });
            let text = format!("[{}]", cells.collect::<Vec<_>>().join(","));
            bytes += text.len();
            page.rows.push(text);
            // The position of the row that was taken last.
            page.last = rows.position();
            if page.first.is_none() {
                page.first.clone_from(&page.last);
            }
        }
        // Rows read from the end are sent in the order of the key, too.
        if self.direction == Direction::Reverse {
            page.rows.reverse();
            std::mem::swap(&mut page.first, &mut page.last);
        }
        Ok(page)
    }

    /// The names and the descriptions of the columns wanted.
    fn columns_of(&self, table: &Table) -> Result<(Vec<String>, Vec<Json>)> {
        let schema = table.schema();
        let wanted = match &self.columns {
            None => (0..schema.columns.len()).collect(),
            Some(names) => {
                let found = names.iter().map(|name| schema.require_column(name));
                found.collect::<Result<Vec<_>>>()?
            }
        };
        let told = wanted.into_iter().map(|index| {
            let column = &schema.columns[index];
            let told = json!({"name": column.name, "type": column.column_type.to_string()});
            (column.name.to_string(), told)
        });
        Ok(told.unzip())
    }
}

/// Rows in the order of the key.
#[derive(Debug, Default)]
struct ScannedPage {
    columns: Vec<Json>,
    rows: Vec<String>,
    first: Option<ResumeToken>,
    last: Option<ResumeToken>,
    more: bool,
}

impl ScannedPage {
    fn to_json(&self) -> String {
        let place = |token: &Option<ResumeToken>| {
            Json::from(token.as_ref().map(|token| BASE64_URL_SAFE_NO_PAD.encode(token.as_bytes())))
        };
        format!(
            "{{\"columns\":{},\"rows\":[{}],\"first\":{},\"last\":{},\"more\":{}}}",
            Json::from(self.columns.as_slice()),
            self.rows.join(","),
            place(&self.first),
            place(&self.last),
            self.more
        )
    }
}

fn limit(text: &str) -> Result<usize> {
    match text.parse() {
        Ok(limit @ 1..=ROWS_MAX) => Ok(limit),
        _ => Err(Error::invalid(format!("limit is `{text}`: give 1 to {ROWS_MAX}"))),
    }
}

/// The position that a page gave, for a read in this direction. An empty one is the end of the
/// table that such a read begins at.
fn place(name: &str, text: &str, direction: Direction) -> Result<Option<ResumeToken>> {
    if text.is_empty() {
        return Ok(None);
    }
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| {
        Error::invalid(format!("{name} is `{text}`: give `first` or `last` of another page"))
    })?;
    Ok(Some(ResumeToken::from_bytes(bytes).facing(direction)))
}

/// A page of rows.
pub(super) async fn scan(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(path): Path<String>,
    Query(query): Query<Vec<(String, String)>>,
) -> HandlerResult<Response> {
    let request = PageRequest::of(&query)?;
    let page = context.cancellable(move |context, cancel| {
        caller.check_table(Right::Read, &path)?;
        let table = context.store.table(&path)?;
        let options = request.options(cancel.clone(), context.config.statement_timeout);
        request.read(&table, &options)
    });
    let page = page.await?;
    context.metrics.rows_out(ListenerKind::http, page.rows.len() as u64);
    Ok(json_body(&page.to_json()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_cannot_be_is_refused() {
        for (name, text) in
            [("limit", "0"), ("limit", "10001"), ("limit", "x"), ("after", "*"), ("rows", "1")]
        {
            let query = [(name.to_owned(), text.to_owned())];
            let error = PageRequest::of(&query).unwrap_err();
            assert!(error.message().contains(name), "{error}");
        }
        let both = ["after", "before"].map(|name| (name.to_owned(), String::new()));
        assert!(PageRequest::of(&both).is_err());
    }
}
