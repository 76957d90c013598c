//! A bucket of object storage. Azure calls it a container.

use std::io::Read;
use std::sync::Arc;

use tonnage_engine::{Error, Result};

use super::access::StorageAccess;
use super::file::{RemoteFile, StorageObject};
use super::listing::{Listing, encode_key};
use super::request::RemoteRequest;
use crate::stop_token::StopToken;

/// The most that one page of a listing may have: a thousand keys, with what Azure says of each.
const PAGE_BYTES_MAX: u64 = 32 << 20;

/// A bucket, and how it is reached.
pub(super) struct Bucket {
    /// What the names of its objects begin with, without a slash at its end.
    pub(super) address: String,
    /// The URL of the bucket, without a slash at its end.
    pub(super) url: String,
    /// The query of all URLs: a token that allows reading.
    pub(super) token: Option<String>,
    pub(super) listing: Listing,
    pub(super) access: Arc<StorageAccess>,
}

impl Bucket {
    pub(super) fn object(&self, key: &str) -> StorageObject {
        let name = format!("{}/{key}", self.address);
        StorageObject { name, file: self.file(format!("{}/{}", self.url, encode_key(key))) }
    }

    /// All keys with a prefix, in their order.
    pub(super) fn keys(&self, prefix: &str) -> Result<Vec<String>> {
        let (mut keys, mut next) = (Vec::new(), None);
        loop {
            let url = self.listing.url(&self.url, prefix, next.as_deref());
            let text = self.page(&self.file(url))?;
            let page =
                self.listing.read(&text).map_err(|error| error.at(self.not_listed_message()))?;
            keys.extend(page.keys);
            match page.next {
                None => return Ok(keys),
                same if same == next => {
                    return Err(Error::unavailable("the listing of the bucket does not end"));
                }
                further => next = further,
            }
        }
    }

    fn file(&self, url: String) -> RemoteFile {
        let url = match &self.token {
            Some(token) => format!("{url}{}{token}", if url.contains('?') { '&' } else { '?' }),
            None => url,
        };
        RemoteFile { url, access: Some(self.access.clone()) }
    }

    fn not_listed_message(&self) -> String {
        let (_, name) = self.address.split_once("://").unwrap_or(("", &self.address));
        format!("the bucket {name} cannot be listed")
    }

    fn page(&self, listing: &RemoteFile) -> Result<String> {
        let failed = |error: std::io::Error| {
            let what = format!("{}: {error}", self.not_listed_message());
            match error.kind() {
                std::io::ErrorKind::NotFound => Error::not_found(what),
                std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::Unsupported => {
                    Error::invalid(what)
                }
                _ => Error::unavailable(what),
            }
        };
        let request = RemoteRequest { file: listing, headers: Vec::new() };
        let answer = request.send_with_retries(&StopToken::default(), &mut 0).map_err(failed)?;
        let mut page = String::new();
        let reader = answer.into_body().into_with_config().limit(u64::MAX).reader();
        reader.take(PAGE_BYTES_MAX).read_to_string(&mut page).map_err(failed)?;
        Ok(page)
    }
}
