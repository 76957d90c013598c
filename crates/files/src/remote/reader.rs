//! Reads a file over HTTP from front to back.
//!
//! 1. One request asks for the whole file, which is read as it comes.
//! 2. When the connection breaks, or ends before the declared length, the rest is requested as a
//!    range, on condition that the file is still the same (`If-Range`).
//! 3. A server without ranges sends the whole file again. The part that was read is skipped if the
//!    validator (`ETag`, `Last-Modified`) is the same. A different or missing validator is an
//!    error.
//! 4. Without a length and without chunks, a broken connection looks like the end of the file. Such
//!    a response is refused.

use std::io::{self, Read};

use ureq::http::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, LAST_MODIFIED, TRANSFER_ENCODING};
use ureq::http::{HeaderName, Response, StatusCode, Version};
use ureq::{Body, BodyReader};

use super::file::RemoteFile;
use super::request::{RemoteRequest, TRIES_MAX, pause, refused_status};
use crate::stop_token::StopToken;

const WITHOUT_END: &str = "the server tells neither its length nor its last chunk, so nobody could tell if it was cut short: get it first, for instance with curl -O, and load that";

/// The bytes of a file over HTTP.
pub(super) struct RemoteReader {
    file: RemoteFile,
    stop: StopToken,
    body: BodyReader<'static>,
    position: u64,
    bytes: Option<u64>,
    /// The validator that tells this file from a later one of the same name.
    mark: Option<String>,
    /// Failures in a row.
    tries: u32,
    ended: bool,
}

impl RemoteReader {
    pub(super) fn open(file: &RemoteFile, stop: &StopToken) -> io::Result<Self> {
        let mut tries = 0;
        let response =
            RemoteRequest { file, headers: Vec::new() }.send_with_retries(stop, &mut tries)?;
        if !has_known_end(&response) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, WITHOUT_END));
        }
        let bytes = length(&response);
        let mark = mark(&response);
        let body = reader(response);
        let (file, stop) = (file.clone(), stop.clone());
        Ok(Self { file, stop, body, position: 0, bytes, mark, tries: 0, ended: false })
    }

    /// The size of the file, if the server tells it.
    pub(super) fn bytes_total(&self) -> Option<u64> {
        self.bytes
    }

    /// Asks for what is left.
    fn resume(&mut self) -> io::Result<()> {
        if self.position == 0 {
            // Nothing was read of it yet, so whatever is there by now will do.
            let tries = self.tries;
            *self = Self { tries, ..Self::open(&self.file, &self.stop)? };
            return Ok(());
        }
        let mut headers = vec![("Range", format!("bytes={}-", self.position))];
        headers.extend(self.mark.clone().map(|mark| ("If-Range", mark)));
        let request = RemoteRequest { file: &self.file, headers };
        let response = match request.send_with_retries(&self.stop, &mut self.tries) {
            Err(error) if refused_status(&error) == Some(StatusCode::RANGE_NOT_SATISFIABLE) => {
                return Err(self.file_changed_error());
            }
            answer => answer?,
        };
        if self.bytes.is_none() && !has_known_end(&response) {
            return Err(self.file_changed_error());
        }
        // Without a mark it is unknown whether it is still the same file.
        let is_same = self.mark.is_some() && mark(&response) == self.mark;
        if response.status() == StatusCode::PARTIAL_CONTENT {
            let range = text(&response, CONTENT_RANGE).unwrap_or_default();
            if !is_same || !self.is_rest(&range) {
                return Err(self.file_changed_error());
            }
            self.body = reader(response);
            return Ok(());
        }
        if !is_same {
            return Err(self.file_changed_error());
        }
        self.body = reader(response);
        let passed = io::copy(&mut self.body.by_ref().take(self.position), &mut io::sink())?;
        if passed == self.position { Ok(()) } else { Err(self.file_changed_error()) }
    }

    /// Whether `bytes 5-99/100` is what is left of the file.
    fn is_rest(&self, range: &str) -> bool {
        let Some((first, rest)) = range.trim_start_matches("bytes ").split_once('-') else {
            return false;
        };
        let total = rest.split_once('/').and_then(|(_, total)| total.parse::<u64>().ok());
        first.parse() == Ok(self.position)
            && total.is_none_or(|total| self.bytes.is_none_or(|bytes| bytes == total))
    }

    fn file_changed_error(&self) -> io::Error {
        io::Error::other(format!(
            "the connection broke after {} bytes, and the rest cannot be had: the file has changed since, or the server does not resume",
            self.position
        ))
    }

    /// Whether the end came before the length that the server declared.
    fn is_short(&self) -> bool {
        self.bytes.is_some_and(|bytes| self.position < bytes)
    }
}

impl Read for RemoteReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let failure = match self.body.read(buffer) {
                // An end before the announced length is a connection that broke, not the end of the
                // file.
                Ok(0) if !self.is_short() => {
                    self.ended = true;
                    return Ok(0);
                }
                Ok(0) => io::Error::other("the connection ended too early"),
                Ok(bytes) => {
                    self.position += bytes as u64;
                    // Failures count in a row: a long download may break often if it continues each
                    // time.
                    self.tries = 0;
                    return Ok(bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            self.tries += 1;
            if self.tries >= TRIES_MAX {
                self.ended = true;
                return Err(io::Error::other(format!(
                    "the connection broke {TRIES_MAX} times in a row after {} bytes: {failure}",
                    self.position
                )));
            }
            let resumed = pause(self.tries, &self.stop).and_then(|()| self.resume());
            resumed.inspect_err(|_| self.ended = true)?;
        }
    }
}

fn reader(response: Response<Body>) -> BodyReader<'static> {
    response.into_body().into_with_config().limit(u64::MAX).reader()
}

fn text(response: &Response<Body>, name: HeaderName) -> Option<String> {
    response.headers().get(name)?.to_str().ok().map(str::to_owned)
}

/// The length of the body, if that ends it.
fn length(response: &Response<Body>) -> Option<u64> {
    let told = text(response, CONTENT_LENGTH).and_then(|bytes| bytes.parse().ok());
    told.filter(|_| !is_chunked(response))
}

/// Whether the end of the body differs from a connection that breaks.
fn has_known_end(response: &Response<Body>) -> bool {
    is_chunked(response) || length(response).is_some()
}

/// Whether the body comes in chunks, of which the last is empty. HTTP/1.0 knows none.
fn is_chunked(response: &Response<Body>) -> bool {
    let codings = response.headers().get_all(TRANSFER_ENCODING).iter();
    let mut codings = codings.filter_map(|coding| coding.to_str().ok());
    response.version() != Version::HTTP_10
        && codings.any(|coding| coding.to_ascii_lowercase().contains("chunked"))
}

/// A mark of these very bytes: a weak one only means similar bytes.
fn mark(response: &Response<Body>) -> Option<String> {
    let strong = text(response, ETAG).filter(|mark| !mark.starts_with("W/"));
    strong.or_else(|| text(response, LAST_MODIFIED))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::sync::Arc;

    use super::*;
    use crate::remote::access::{Signature, StorageAccess};

    /// A file of which half comes before the connection breaks.
    const HALF: &str = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\
                        ETag: \"one\"\r\n\r\nfirst";

    /// The error for a file whose server answers so after a broken connection.
    fn error_behind_a_break(status: &str) -> io::Error {
        let refusal =
            format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/a.csv", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for answer in [HALF.to_owned(), refusal] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        let remedy = "give the key of the account fleet416".to_owned();
        let access = Arc::new(StorageAccess { signature: Signature::None, remedy });
        let file = RemoteFile { url, access: Some(access) };
        let mut reader = RemoteReader::open(&file, &StopToken::default()).unwrap();
        io::copy(&mut reader, &mut io::sink()).unwrap_err()
    }

    /// The story of a bug: whatever error had 416 in its text, such as the name of an account, was
    /// reported as a file that had changed.
    #[test]
    fn only_a_range_that_is_refused_tells_that_the_file_has_changed() {
        let changed = error_behind_a_break("416 Range Not Satisfiable");
        assert!(changed.to_string().contains("has changed since"), "{changed}");
        let denied = error_behind_a_break("403 Forbidden");
        assert_eq!(denied.kind(), io::ErrorKind::PermissionDenied, "{denied}");
        assert!(denied.to_string().contains("fleet416"), "{denied}");
    }
}
