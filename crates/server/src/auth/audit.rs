//! The audit log: one JSON line for each password that is verified, each wrong password or token,
//! and each decision about a right. A remembered password adds none, nor do a token and a
//! certificate that are right.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use tonnage::internal::sync::lock;
use tonnage::{Error, Result};

use crate::request_id::RequestId;

/// Texts are cut here.
const TEXT_BYTES_MAX: usize = 1 << 10;

/// An open audit log.
#[derive(Debug)]
pub(crate) struct Audit {
    state: Mutex<AuditState>,
}

#[derive(Debug)]
struct AuditState {
    file: File,
    failure: Option<String>,
}

impl Audit {
    /// Opens the file to append to it.
    ///
    /// # Errors
    /// `Invalid` for a file that cannot be written.
    pub(crate) fn open(path: &Path) -> Result<Audit> {
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
            Error::invalid(format!("audit: {}: cannot be written: {error}", path.display()))
        })?;
        Ok(Audit { state: Mutex::new(AuditState { file, failure: None }) })
    }

    /// Notes what a user did or tried.
    ///
    /// # Errors
    /// `Unavailable` when the log cannot be written: then nothing is done that must stand there.
    pub(crate) fn record(
        &self,
        user: Option<&str>,
        action: &str,
        object: &str,
        allowed: bool,
        request: Option<&RequestId>,
    ) -> Result<()> {
        let line = line(now_ms(), user, action, object, allowed, request);
        let mut state = lock(&self.state);
        if let Err(error) = state.file.write_all(line.as_bytes()) {
            state.failure = Some(error.to_string());
        }
        match &state.failure {
            None => Ok(()),
            Some(failure) => Err(Error::unavailable(format!(
                "the audit log cannot be written: {failure}: nothing is done without it"
            ))),
        }
    }
}

fn line(
    time_ms: u64,
    user: Option<&str>,
    action: &str,
    object: &str,
    allowed: bool,
    request: Option<&RequestId>,
) -> String {
    let mut end = object.len().min(TEXT_BYTES_MAX);
    while !object.is_char_boundary(end) {
        end -= 1;
    }
    let line = json!({
        "time_ms": time_ms,
        "user": user,
        "action": action,
        "object": &object[..end],
        "allowed": allowed,
        "request_id": request.map(RequestId::as_str),
    });
    format!("{line}\n")
}

/// The log tells when things happened outside of the store, whose clock is another matter.
#[allow(clippy::disallowed_methods)]
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_json_and_is_cut_between_characters() {
        let line = line(7, Some("ann"), "statement", &"ä".repeat(TEXT_BYTES_MAX), true, None);
        let told: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(told["object"].as_str().unwrap().len(), TEXT_BYTES_MAX);
        assert!(line.ends_with('\n') && line.matches('\n').count() == 1);
    }
}
