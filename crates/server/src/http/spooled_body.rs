//! The body of a request, in a temporary file.
//!
//! It is written there piece by piece. Reading begins once the whole body is there.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use futures::StreamExt;
use tempfile::NamedTempFile;
use tonnage::{Error, ErrorKind, Result};
use tonnage_files::Format;

use super::handler::HandlerResult;
use crate::admission::Permit;
use crate::context::ServerContext;
use crate::spool::SpoolReservation;

/// Rows in a file, as a client sent them.
pub(super) struct SpooledBody {
    file: NamedTempFile,
    /// What the client says that they are.
    pub(super) format: Option<Format>,
    _taken: SpoolReservation,
    _place: Permit,
}

impl SpooledBody {
    /// The format that `Content-Type` names; where it names none the content tells.
    pub(super) fn format_of(headers: &HeaderMap) -> Result<Option<Format>> {
        let Some(kind) = headers.get(header::CONTENT_TYPE) else { return Ok(None) };
        let kind = kind.to_str().unwrap_or_default();
        let bare = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match bare.as_str() {
            "text/csv" => Ok(Some(Format::Csv)),
            "application/x-ndjson"
            | "application/jsonl"
            | "application/json"
            | "application/x-jsonlines" => Ok(Some(Format::JsonLines)),
            "application/vnd.apache.parquet" => Ok(Some(Format::Parquet)),
            "application/vnd.apache.arrow.stream" => Ok(Some(Format::ArrowStream)),
            "application/vnd.apache.arrow.file" => Ok(Some(Format::ArrowFile)),
            // What curl says of everything.
            "application/octet-stream" | "application/x-www-form-urlencoded" => Ok(None),
            _ => Err(Error::invalid(format!(
                "Content-Type is `{kind}`: rows come as text/csv, application/x-ndjson, \
                 application/vnd.apache.parquet or application/vnd.apache.arrow.stream"
            ))),
        }
    }

    /// Takes a body, once there is a place for a stream.
    pub(super) async fn take(
        context: &ServerContext,
        headers: &HeaderMap,
        body: Body,
        format: Option<Format>,
    ) -> HandlerResult<SpooledBody> {
        let announced = headers.get(header::CONTENT_LENGTH).and_then(|bytes| bytes.to_str().ok());
        context.spool.check(announced.and_then(|bytes| bytes.parse().ok()).unwrap_or_default())?;
        // The place comes before the body: bodies that wait for places would fill the spool.
        let place = context.streams.acquire().await?;
        let mut taken = context.spool.reservation();
        let file = spool_body(context, &mut taken, body).await?;
        Ok(SpooledBody { file, format, _taken: taken, _place: place })
    }

    /// The path of the file.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// What is said of the temporary file, as of the body that it holds. A damaged body is a
    /// mistake of its client: as corruption it would look like a damaged store.
    pub(super) fn error(&self, error: &Error) -> Error {
        let kind = match error.kind() {
            ErrorKind::Corruption => ErrorKind::Invalid,
            kind => kind,
        };
        Error::new(kind, error.message().replace(&self.path().display().to_string(), "the body"))
    }
}

/// Takes a body to a temporary file.
async fn spool_body(
    context: &ServerContext,
    taken: &mut SpoolReservation,
    body: Body,
) -> HandlerResult<NamedTempFile> {
    let failed = |error: io::Error| Error::unavailable(format!("a temporary file: {error}"));
    let file = NamedTempFile::new().map_err(failed)?;
    let mut target: File = file.reopen().map_err(failed)?;
    let mut pieces = body.into_data_stream();
    let limit = context.config.idle_timeout;
    loop {
        // The limit is one of silence: a large body that flows may take any time.
        let piece = tokio::time::timeout(limit, pieces.next()).await;
        let piece = piece.map_err(|_| {
            Error::timed_out(format!("the body brought nothing for {limit:?} (idle_timeout)"))
        })?;
        match piece {
            None => return Ok(file),
            Some(Ok(bytes)) => {
                taken.reserve_body(bytes.len() as u64)?;
                // The page cache takes it; what waits is the disk's own.
                let written =
                    tokio::task::spawn_blocking(move || target.write_all(&bytes).map(|()| target));
                let written = written.await;
                target = written
                    .map_err(|_| Error::internal("a thread panicked: see the log"))?
                    .map_err(failed)?;
            }
            Some(Err(error)) => {
                return Err(Error::cancelled(format!("the body was cut off: {error}")).into());
            }
        }
    }
}
