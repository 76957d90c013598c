//! The format of rows that `Accept` asks for.

use std::cmp::Reverse;

use axum::http::{HeaderMap, header};
use tonnage::{Error, Result};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowsFormat {
    /// One object: `{"columns": [...], "rows": [[...]], "more": false}`.
    Json,
    Lines,
    Csv,
    Arrow,
    Parquet,
}

/// All formats: an earlier one is taken where a client wants both alike.
const OFFERED: [RowsFormat; 5] =
    [RowsFormat::Json, RowsFormat::Lines, RowsFormat::Csv, RowsFormat::Arrow, RowsFormat::Parquet];

impl RowsFormat {
    /// The format that `Accept` wants most: by `q`, then by place. JSON where nothing is asked for.
    ///
    /// # Errors
    /// `Invalid` when none of those that are asked for is offered.
    pub(crate) fn of_accept(headers: &HeaderMap) -> Result<RowsFormat> {
        let lines: Vec<&str> = headers
            .get_all(header::ACCEPT)
            .iter()
            .map(|line| line.to_str().unwrap_or("?"))
            .collect();
        let accept = lines.join(", ");
        let ranges = accept.split(',').filter(|range| !range.trim().is_empty());
        let ranges: Vec<MediaRange> = ranges.map(MediaRange::parse).collect();
        if ranges.is_empty() {
            return Ok(RowsFormat::Json);
        }
        // A format is wanted as much as the range says that names it most exactly, not as much as
        // the first one: `text/*, text/csv;q=0` wants no CSV.
        let wanted = OFFERED.into_iter().enumerate().filter_map(|(offer, format)| {
            let ranges = ranges.iter().enumerate();
            let exact = ranges.filter_map(|(place, range)| {
                Some((range.exactness(format)?, Reverse(place), range.thousandths))
            });
            let (_, place, thousandths) = exact.max()?;
            (thousandths > 0).then_some((thousandths, place, Reverse(offer), format))
        });
        // Of formats that are wanted alike the client named one first; of one range, `OFFERED` did.
        let best =
            wanted.max_by_key(|(thousandths, place, offer, _)| (*thousandths, *place, *offer));
        best.map(|(.., format)| format).ok_or_else(|| {
            Error::invalid(format!(
                "Accept is `{accept}`: answers are application/json, application/x-ndjson, \
                 text/csv, application/vnd.apache.arrow.stream, application/vnd.apache.parquet"
            ))
        })
    }

    /// The names of a format, that of its answers first.
    fn media_types(self) -> &'static [&'static str] {
        match self {
            RowsFormat::Json => &["application/json"],
            RowsFormat::Lines => {
                &["application/x-ndjson", "application/jsonl", "application/x-jsonlines"]
            }
            RowsFormat::Csv => &["text/csv"],
            RowsFormat::Arrow => &["application/vnd.apache.arrow.stream"],
            RowsFormat::Parquet => &["application/vnd.apache.parquet"],
        }
    }

    pub(super) fn media_type(self) -> &'static str {
        match self {
            RowsFormat::Csv => "text/csv; charset=utf-8; header=present",
            other => other.media_types()[0],
        }
    }
}

/// Media types that a client takes, and how much it wants them.
struct MediaRange {
    /// In lower case: `text/csv`, `text/*` or `*/*`.
    kind: String,
    thousandths: u16,
}

impl MediaRange {
    fn parse(text: &str) -> MediaRange {
        let mut parts = text.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let weights = parts.filter_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim().eq_ignore_ascii_case("q").then_some(value.trim())
        });
        // What is not a number between 0 and 1 is taken for the 1 that holds without it.
        let weight = weights.filter_map(|value| value.parse::<f32>().ok()).next();
        let weight = weight.filter(|weight| (0.0..=1.0).contains(weight)).unwrap_or(1.0);
        MediaRange { kind, thousandths: (weight * 1000.0).round() as u16 }
    }

    /// How exactly it names a format; nothing where it does not.
    fn exactness(&self, format: RowsFormat) -> Option<u8> {
        if format.media_types().contains(&self.kind.as_str()) {
            return Some(2);
        }
        let family = self.kind.strip_suffix('*').filter(|family| family.ends_with('/'))?;
        match family {
            "*/" => Some(0),
            _ => format.media_types().iter().any(|kind| kind.starts_with(family)).then_some(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(accept: &str) -> Result<RowsFormat> {
        let mut headers = HeaderMap::new();
        for line in accept.split('|') {
            headers.append(header::ACCEPT, line.parse().unwrap());
        }
        RowsFormat::of_accept(&headers)
    }

    #[test]
    fn the_first_format_that_there_is_is_taken() {
        assert_eq!(RowsFormat::of_accept(&HeaderMap::new()).unwrap(), RowsFormat::Json);
        for (accept, format) in [
            ("text/html, text/csv;q=0.5", RowsFormat::Csv),
            ("application/x-ndjson", RowsFormat::Lines),
            ("Application/JSONL", RowsFormat::Lines),
            ("text/csv, application/json", RowsFormat::Csv),
            ("application/json, text/csv", RowsFormat::Json),
            ("*/*", RowsFormat::Json),
            ("text/*", RowsFormat::Csv),
            ("application/*", RowsFormat::Json),
            ("", RowsFormat::Json),
        ] {
            assert_eq!(wanted(accept).unwrap(), format, "{accept}");
        }
        assert!(wanted("image/png").unwrap_err().message().contains("image/png"));
    }

    /// The first one was taken, however little it was wanted.
    #[test]
    fn the_format_that_is_wanted_most_is_taken() {
        for (accept, format) in [
            ("application/json;q=0.1, text/csv", RowsFormat::Csv),
            ("application/json;q=0.1|text/csv;q=0.2", RowsFormat::Csv),
            (
                "application/json; Q = 0.5 , application/vnd.apache.arrow.stream; q=0.9",
                RowsFormat::Arrow,
            ),
            ("*/*;q=0.1, application/vnd.apache.parquet;q=0.2", RowsFormat::Parquet),
            ("*/*, application/json;q=0.5", RowsFormat::Lines),
            ("*/*, application/json;q=0", RowsFormat::Lines),
            ("text/*;q=0.9, text/csv;q=0.1, application/json;q=0.5", RowsFormat::Json),
            ("text/csv;header=present;q=0.3, application/x-ndjson;q=0.2", RowsFormat::Csv),
            ("text/csv;q=much, application/json;q=0.9", RowsFormat::Csv),
        ] {
            assert_eq!(wanted(accept).unwrap(), format, "{accept}");
        }
        for none in ["text/csv;q=0", "application/json;q=0.000", "text/*, text/csv;q=0"] {
            assert!(wanted(none).is_err(), "{none}");
        }
    }
}
