//! Addresses of object storage, with patterns in the key: `s3://BUCKET/KEY`, `gs://BUCKET/KEY`,
//! `az://CONTAINER/PATH` and what other tools write for the last.
//!
//! Credentials come from the environment; without them requests are not signed, which public
//! buckets allow.

use glob::{MatchOptions, Pattern};
use tonnage_engine::{Error, Result};

use super::bucket::Bucket;
use super::file::StorageObject;
use super::{azure, s3};

/// Whether a name is one of object storage.
pub(super) fn is_storage(name: &str) -> bool {
    name.split_once("://").is_some_and(|(scheme, _)| {
        let scheme = scheme.to_ascii_lowercase();
        s3::is_scheme(&scheme) || azure::is_scheme(&scheme)
    })
}

/// The objects that a name means.
pub(super) fn expand(name: &str) -> Result<Vec<StorageObject>> {
    let variable =
        |variable: &str| std::env::var(variable).ok().filter(|value| !value.trim().is_empty());
    let (bucket, key) = locate(name, &variable).map_err(|error| error.at(name))?;
    if key.is_empty() || key.ends_with('/') {
        return Err(Error::invalid(format!(
            "{name}: is a folder; name its files, for instance {}/*",
            name.trim_end_matches('/')
        )));
    }
    let Some(wild) = key.find(['*', '?', '[']) else { return Ok(vec![bucket.object(key)]) };
    let pattern = Pattern::new(key).map_err(|error| {
        Error::invalid(format!("{name}: not a pattern: {error}")).with_source(error)
    })?;
    let keys = bucket.keys(&key[..wild]).map_err(|error| error.at(name))?;
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
    let found = keys.iter().filter(|key| !key.ends_with('/') && pattern.matches_with(key, options));
    let found: Vec<_> = found.map(|key| bucket.object(key)).collect();
    match found.is_empty() {
        true => Err(Error::not_found(format!("{name}: no object matches it"))),
        false => Ok(found),
    }
}

/// The bucket that a name begins with, and the key after it.
fn locate<'a>(
    name: &'a str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(Bucket, &'a str)> {
    let (scheme, rest) = name.split_once("://").unwrap_or_default();
    let scheme = scheme.to_ascii_lowercase();
    match azure::is_scheme(&scheme) {
        true => azure::locate(&scheme, rest, variable),
        false => s3::locate(&scheme, rest, variable),
    }
}
