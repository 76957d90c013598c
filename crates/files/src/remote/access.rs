//! Authenticates requests to object storage, and says what to do when they are refused.

use std::fmt;

use tonnage_engine::{Clock, SystemClock};

use super::shared_key::{HttpHeader, SharedKey};
use super::signature::Signer;

/// How the objects of a bucket are requested.
pub(crate) struct StorageAccess {
    pub(super) signature: Signature,
    /// What to do if the storage refuses.
    pub(super) remedy: String,
}

/// Who signs requests.
pub(super) enum Signature {
    /// None: the bucket is public.
    None,
    S3(Signer),
    Azure(SharedKey),
}

impl StorageAccess {
    /// The headers that go along with a request for a URL beside those that are given.
    pub(super) fn headers(&self, url: &str, given: &[HttpHeader]) -> Vec<HttpHeader> {
        let now_seconds = SystemClock.now_ms() as i64 / 1_000;
        match &self.signature {
            Signature::None => Vec::new(),
            Signature::S3(signer) => signer.headers(url, now_seconds),
            Signature::Azure(key) => key.headers(url, given, now_seconds),
        }
    }
}

impl fmt::Debug for StorageAccess {
    /// Secrets are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.signature {
            Signature::None => "StorageAccess(unsigned)",
            Signature::S3(_) => "StorageAccess(S3)",
            Signature::Azure(_) => "StorageAccess(Azure)",
        })
    }
}
