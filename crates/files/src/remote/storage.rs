//! Addresses of object storage: `s3://BUCKET/KEY` and `gs://BUCKET/KEY`, with patterns in the key.
//!
//! Both are spoken to as S3 is. Credentials come from the environment; without them requests are not
//! signed, which public buckets allow.

use std::io::Read;
use std::sync::Arc;

use glob::{MatchOptions, Pattern};
use tonnage_engine::{Error, Result};

use super::file::{Object, RemoteFile};
use super::request::Request;
use super::signature::Signer;
use crate::stop::Stop;

/// The most that one page of a listing may have: a thousand keys.
const PAGE_BYTES_MAX: u64 = 16 << 20;

/// Who has buckets.
struct Provider {
    scheme: &'static str,
    /// What the variables of the environment begin with.
    variables: &'static str,
    region: &'static str,
    /// Where its buckets are, if not at names of their own.
    endpoint: Option<&'static str>,
}

const PROVIDERS: [Provider; 2] = [
    Provider { scheme: "s3", variables: "AWS", region: "us-east-1", endpoint: None },
    Provider {
        scheme: "gs",
        variables: "GS",
        region: "auto",
        endpoint: Some("https://storage.googleapis.com"),
    },
];

/// Whether a name is one of object storage.
pub(super) fn is_storage(name: &str) -> bool {
    name.split_once("://").is_some_and(|(scheme, _)| {
        ["s3", "s3a", "gs", "az", "abfs", "abfss"].contains(&scheme.to_ascii_lowercase().as_str())
    })
}

/// The objects that a name stands for.
pub(super) fn expand(name: &str) -> Result<Vec<Object>> {
    let (scheme, rest) = name.split_once("://").unwrap_or_default();
    let scheme = scheme.to_ascii_lowercase();
    let scheme = if scheme == "s3a" { "s3" } else { scheme.as_str() };
    let Some(provider) = PROVIDERS.iter().find(|provider| provider.scheme == scheme) else {
        return Err(Error::unsupported(format!(
            "{name}: this storage is read over https: give the https address of the file, with its SAS token if it needs one"
        )));
    };
    let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.is_empty() {
        return Err(Error::invalid(format!(
            "{name}: it names no bucket: write {scheme}://BUCKET/KEY"
        )));
    }
    let bucket = Bucket::of(provider, bucket, |variable| std::env::var(variable).ok());
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

/// A bucket, and how it is reached.
struct Bucket {
    scheme: &'static str,
    name: String,
    /// The URL of the bucket, without a slash at its end.
    url: String,
    signer: Option<Arc<Signer>>,
}

impl Bucket {
    fn of(provider: &Provider, name: &str, variable: impl Fn(&str) -> Option<String>) -> Self {
        let variables = provider.variables;
        let set = |name: &str| {
            variable(&format!("{variables}_{name}")).filter(|value| !value.trim().is_empty())
        };
        let region = set("REGION").or_else(|| set("DEFAULT_REGION"));
        let region = region.unwrap_or_else(|| provider.region.to_owned());
        let endpoint = set("ENDPOINT_URL_S3").or_else(|| set("ENDPOINT_URL"));
        let endpoint = endpoint.or_else(|| provider.endpoint.map(str::to_owned));
        let url = match endpoint {
            Some(endpoint) => format!("{}/{}", endpoint.trim_end_matches('/'), encoded(name)),
            // A certificate is for one level of names.
            None if name.contains('.') => format!("https://s3.{region}.amazonaws.com/{name}"),
            None => format!("https://{name}.s3.{region}.amazonaws.com"),
        };
        let signer = set("ACCESS_KEY_ID").zip(set("SECRET_ACCESS_KEY")).map(|(key_id, secret)| {
            Arc::new(Signer { key_id, secret, session_token: set("SESSION_TOKEN"), region })
        });
        Self { scheme: provider.scheme, name: name.to_owned(), url, signer }
    }

    fn object(&self, key: &str) -> Object {
        let url = format!("{}/{}", self.url, encoded(key));
        Object {
            name: format!("{}://{}/{key}", self.scheme, self.name),
            file: RemoteFile { url, signer: self.signer.clone() },
        }
    }

    /// All keys with a prefix, in their order.
    fn keys(&self, prefix: &str) -> Result<Vec<String>> {
        let (mut keys, mut continued) = (Vec::new(), String::new());
        loop {
            let query = format!(
                "{continued}encoding-type=url&list-type=2&prefix={}",
                encoded(prefix).replace('/', "%2F")
            );
            let url = format!("{}/?{query}", self.url);
            let page = self.page(&RemoteFile { url, signer: self.signer.clone() })?;
            let is_encoded = first(&page, "EncodingType").is_some_and(|kind| kind == "url");
            let read = |key: &str| if is_encoded { decoded(key) } else { unescaped(key) };
            let found = all(&page, "Contents").filter_map(|entry| first(entry, "Key")).map(read);
            keys.extend(found);
            let token = first(&page, "NextContinuationToken").map(unescaped);
            match token.filter(|_| first(&page, "IsTruncated") == Some("true")) {
                Some(token) => {
                    let token = encoded(&token).replace('/', "%2F");
                    let next = format!("continuation-token={token}&");
                    if next == continued {
                        return Err(Error::unavailable("the listing of the bucket does not end"));
                    }
                    continued = next;
                }
                None => return Ok(keys),
            }
        }
    }

    fn page(&self, listing: &RemoteFile) -> Result<String> {
        let failed = |error: std::io::Error| {
            let what = format!("the bucket {} cannot be listed: {error}", self.name);
            match error.kind() {
                std::io::ErrorKind::NotFound => Error::not_found(what),
                std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::Unsupported => {
                    Error::invalid(what)
                }
                _ => Error::unavailable(what),
            }
        };
        let request = Request { file: listing, headers: Vec::new() };
        let answer = request.answer(&Stop::default(), &mut 0).map_err(failed)?;
        let mut page = String::new();
        let reader = answer.into_body().into_with_config().limit(u64::MAX).reader();
        reader.take(PAGE_BYTES_MAX).read_to_string(&mut page).map_err(failed)?;
        Ok(page)
    }
}

/// A key as it stands in a URL.
fn encoded(key: &str) -> String {
    let mut text = String::with_capacity(key.len());
    for byte in key.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(byte));
            }
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// The same back, where a plus stands for a blank.
fn decoded(text: &str) -> String {
    crate::percent::decoded(&text.replace('+', " "))
}

/// The content of the first element of a name.
fn first<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    all(text, name).next()
}

/// The contents of the elements of a name. Listings nest no element in one of the same name.
fn all<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, behind) = rest.split_once(&begin)?;
        let (content, behind) = behind.split_once(&end)?;
        rest = behind;
        Some(content)
    })
}

fn unescaped(text: &str) -> String {
    let mut plain = text.to_owned();
    for (code, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&apos;", "'"),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ] {
        plain = plain.replace(code, character);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(name: &str, variables: &[(&str, &str)]) -> Bucket {
        let value = |wanted: &str| {
            let found = variables.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| (*value).to_owned())
        };
        Bucket::of(&PROVIDERS[0], name, value)
    }

    #[test]
    fn buckets_are_where_the_environment_says() {
        assert_eq!(bucket("b", &[]).url, "https://b.s3.us-east-1.amazonaws.com");
        let region = [("AWS_REGION", "eu-west-1")];
        assert_eq!(bucket("b.c", &region).url, "https://s3.eu-west-1.amazonaws.com/b.c");
        let local = bucket("b", &[("AWS_ENDPOINT_URL", "http://localhost:9000/")]);
        assert_eq!(local.object("a b/ü.csv").file.url, "http://localhost:9000/b/a%20b/%C3%BC.csv");
        assert_eq!(local.object("a b.csv").name, "s3://b/a b.csv");
        assert!(local.signer.is_none());
        let keys = [("AWS_ACCESS_KEY_ID", "k"), ("AWS_SECRET_ACCESS_KEY", "s")];
        assert!(bucket("b", &keys).signer.is_some());
    }

    #[test]
    fn listings_are_read() {
        let page = "<R><IsTruncated>false</IsTruncated><Contents><Key>a&amp;b</Key></Contents><Contents><Key>c</Key></Contents></R>";
        let keys: Vec<_> = all(page, "Contents").filter_map(|entry| first(entry, "Key")).collect();
        assert_eq!(keys.iter().map(|key| unescaped(key)).collect::<Vec<_>>(), ["a&b", "c"]);
        assert_eq!(decoded("a+b%2Bc"), "a b+c");
    }
}
