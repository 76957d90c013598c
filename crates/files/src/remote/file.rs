//! The address of a file served over HTTP.

use std::sync::Arc;

use super::access::StorageAccess;

/// Words in a query that give rights to who has it.
const SECRET_WORDS: [&str; 6] = ["sig", "token", "key", "credential", "password", "accessid"];

/// A file served over HTTP.
#[derive(Clone, Debug)]
pub(crate) struct RemoteFile {
    pub(super) url: String,
    /// How to authenticate at its object storage, if it is in one.
    pub(super) access: Option<Arc<StorageAccess>>,
}

impl PartialEq for RemoteFile {
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url
    }
}

impl Eq for RemoteFile {}

impl RemoteFile {
    /// Whether a name is one that [`RemoteFile::at`] takes.
    pub(crate) fn is_url(name: &str) -> bool {
        let begins = |scheme: &str| {
            name.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
        };
        begins("http://") || begins("https://")
    }

    /// The file at a URL.
    pub(crate) fn at(url: &str) -> Self {
        Self { url: url.split('#').next().unwrap_or_default().to_owned(), access: None }
    }

    /// What messages may call it: without passwords, and without a query that holds rights.
    pub(crate) fn name(&self) -> String {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let (host, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let lower = query.to_ascii_lowercase();
        let is_secret = SECRET_WORDS.iter().any(|word| lower.contains(word));
        match query.is_empty() || is_secret {
            true => format!("{scheme}://{host}{path}"),
            false => format!("{scheme}://{host}{path}?{query}"),
        }
    }
}

/// An object of a storage, and what messages call it.
pub(crate) struct StorageObject {
    pub(crate) name: String,
    pub(crate) file: RemoteFile,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_no_secrets() {
        for (url, name) in [
            ("https://h/a.csv", "https://h/a.csv"),
            ("https://u:p@h:8/a.csv?page=2#x", "https://h:8/a.csv?page=2"),
            ("https://h/a.csv?X-Amz-Signature=ab&page=1", "https://h/a.csv"),
            ("https://h?sv=1&sig=ab", "https://h"),
        ] {
            assert_eq!(RemoteFile::at(url).name(), name);
        }
    }
}
