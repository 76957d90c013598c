//! Pairs below a path, as lines of JSON in the order of their keys.
//!
//! With `after`, a list resumes after that key, and reads nothing before it again. In the order of
//! keys there follow:
//!
//! 1. The keys below it.
//! 2. The later keys of its minor path: first its siblings, then those of each of its parents.
//! 3. The longer major paths that begin with its own.
//! 4. The later major paths: from its last component up to the first one below the listed path.

use std::io::Write;

use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tonnage::{
    BulkPairs, Depth, Direction, Error, ErrorKind, Key, KeyRange, KeyValue, PairBatch,
    PairGetOptions, Result,
};

use super::answer::{BodyWriter, body};
use super::handler::{CallerExtension, ContextState, HandlerResult};
use crate::auth::{Caller, Right};
use crate::context::ServerContext;
use crate::metrics::ListenerKind;

/// Pairs that are read at a time.
const BATCH_ROWS_MAX: usize = 8_192;

/// What the query of the request may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ListQuery {
    /// The path, as keys are written; all pairs without it.
    under: Option<String>,
    /// What the component right below the path begins with.
    prefix: String,
    /// The key after which the list resumes.
    after: Option<String>,
    limit: Option<u64>,
    keys_only: bool,
}

/// What is listed.
#[derive(Debug)]
struct PairList {
    path: ListPath,
    prefix: Vec<u8>,
    after: Option<Key>,
    keys_only: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum ListPath {
    /// All keys whose major path begins so.
    Major(Vec<Vec<u8>>),
    /// A whole major path, and what the minor path begins with.
    Minor(Key),
}

/// A part of a list that one read gives, in the order of its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ListPart {
    /// Keys whose major path begins so, and whose next component is in the range.
    Major(Vec<Vec<u8>>, Option<KeyRange>),
    /// Keys at and below one.
    Minor(Key, Depth, Option<KeyRange>),
}

/// Lists pairs.
pub(super) async fn list(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Query(query): Query<ListQuery>,
) -> HandlerResult<Response> {
    let limit = query.limit.unwrap_or(u64::MAX);
    let list = PairList::of(query)?;
    list.check(&caller)?;
    let response = context.blocking_with_answer(move |context, answer| {
        let keys_only = list.keys_only;
        let pairs = list.pairs(context.store.kv(), limit)?;
        let mut body = body(context, answer, "application/x-ndjson");
        write_lines(context, &mut body, pairs, limit, keys_only)?;
        body.end()
    });
    Ok(response.await?)
}

fn write_lines(
    context: &ServerContext,
    body: &mut BodyWriter<'_>,
    pairs: impl Iterator<Item = Result<PairBatch>>,
    limit: u64,
    keys_only: bool,
) -> Result<()> {
    let broken = |error: std::io::Error| Error::cancelled(error.to_string());
    let mut left = limit;
    for batch in pairs {
        let batch = batch?;
        let taken = left.min(batch.len() as u64);
        for index in 0..taken as usize {
            writeln!(body, "{}", line(&batch, index, keys_only)?).map_err(broken)?;
        }
        context.metrics.rows_out(ListenerKind::http, taken);
        left -= taken;
        if left == 0 {
            break;
        }
    }
    Ok(())
}

fn line(batch: &PairBatch, index: usize, keys_only: bool) -> Result<Json> {
    let mut line = json!({"key": batch.key(index)?.to_string(), "version": batch.version(index)});
    if batch.expires_at_ms(index) != 0 {
        line["expires_at_ms"] = batch.expires_at_ms(index).into();
    }
    if !keys_only {
        let value = batch.value(index);
        match std::str::from_utf8(value) {
            Ok(text) => line["value"] = text.into(),
            Err(_) => line["base64"] = BASE64_STANDARD.encode(value).into(),
        }
    }
    Ok(line)
}

impl PairList {
    fn of(query: ListQuery) -> Result<PairList> {
        let path = match query.under.as_deref() {
            None | Some("" | "/") => ListPath::Major(Vec::new()),
            Some(text) => {
                let key: Key = text.parse().map_err(|error: Error| error.at("under"))?;
                match text.split('/').any(|component| component == "-") {
                    true => ListPath::Minor(key),
                    false => ListPath::Major(key.major().to_vec()),
                }
            }
        };
        let after = query.after.as_deref().map(str::parse::<Key>);
        let after = after.transpose().map_err(|error| error.at("after"))?;
        let prefix = query.prefix.into_bytes();
        let list = PairList { path, prefix, after, keys_only: query.keys_only };
        if let Some(after) = list.after.as_ref().filter(|after| !list.contains(after)) {
            return Err(Error::invalid(format!("after {after} nothing of this list can come")));
        }
        Ok(list)
    }

    /// Whether a key, stored or not, belongs to the list.
    fn contains(&self, key: &Key) -> bool {
        let (above, own) = match &self.path {
            ListPath::Major(leading) => (leading.as_slice(), key.major()),
            ListPath::Minor(path) if key.major() == path.major() => (path.minor(), key.minor()),
            ListPath::Minor(_) => return false,
        };
        own.starts_with(above)
            && match own.get(above.len()) {
                Some(next) => next.starts_with(&self.prefix),
                None => self.prefix.is_empty(),
            }
    }

    /// Refuses what the caller may not read.
    fn check(&self, caller: &Caller) -> Result<()> {
        let first = match &self.path {
            ListPath::Major(leading) => leading.first().unwrap_or(&self.prefix),
            ListPath::Minor(path) => path.major().first().unwrap_or(&self.prefix),
        };
        match first.is_empty() {
            true => caller.check_pairs(Right::Read),
            // All keys of the list begin so.
            false => caller.check_pair(Right::Read, first),
        }
    }

    /// The pairs, in the order of their keys. Nothing is read ahead of them by more than a batch.
    ///
    /// # Errors
    /// `Unsupported` where the pairs lie in no order across shard keys.
    fn pairs(self, store: KeyValue, limit: u64) -> Result<impl Iterator<Item = Result<PairBatch>>> {
        let rows = usize::try_from(limit).unwrap_or(usize::MAX).clamp(1, BATCH_ROWS_MAX);
        let options = PairGetOptions {
            direction: Direction::Forward,
            keys_only: self.keys_only,
            batch_rows_max: Some(rows),
            ..PairGetOptions::default()
        };
        let parts = self.parts();
        // Reported before the first pair, whichever part comes first.
        if let [_, _, ..] = parts.as_slice()
            && let Some(part) = parts.iter().find(|part| matches!(part, ListPart::Major(..)))
        {
            part.clone().read(&store, &options)?;
        }
        Ok(parts.into_iter().flat_map(move |part| {
            let (found, failed) = match part.read(&store, &options) {
                Ok(found) => (Some(found), None),
                Err(error) => (None, Some(Err(error))),
            };
            found.into_iter().flatten().chain(failed)
        }))
    }

    fn parts(self) -> Vec<ListPart> {
        let prefix = |range: KeyRange| KeyRange { prefix: self.prefix.clone(), ..range };
        let narrowed = (!self.prefix.is_empty()).then(|| prefix(KeyRange::default()));
        let Some(after) = self.after else {
            return vec![match (self.path, narrowed) {
                (ListPath::Major(leading), range) => ListPart::Major(leading, range),
                (ListPath::Minor(key), None) => {
                    ListPart::Minor(key, Depth::ParentAndDescendants, None)
                }
                (ListPath::Minor(key), range) => {
                    ListPart::Minor(key, Depth::DescendantsOnly, range)
                }
            }];
        };
        // The four steps of the module's head, in its order. Ranges begin after components of
        // `after`.
        let behind = |component: &Vec<u8>| KeyRange {
            start: Some((component.clone(), false)),
            ..KeyRange::default()
        };
        let (major, minor) = (after.major(), after.minor());
        let below = match &self.path {
            ListPath::Major(_) => 0,
            ListPath::Minor(path) => path.minor().len(),
        };
        let mut parts = vec![ListPart::Minor(after.clone(), Depth::DescendantsOnly, None)];
        for length in (below..minor.len()).rev() {
            let range = behind(&minor[length]);
            // The prefix narrows the component right below the path, and none below that.
            let is_path = matches!(self.path, ListPath::Minor(_)) && length == below;
            let range = if is_path { prefix(range) } else { range };
            let above = Key::new(major.to_vec(), minor[..length].to_vec());
            parts.push(ListPart::Minor(above, Depth::DescendantsOnly, Some(range)));
        }
        let ListPath::Major(leading) = &self.path else { return parts };
        parts.push(ListPart::Major(major.to_vec(), Some(KeyRange::default())));
        for length in (leading.len()..major.len()).rev() {
            let range = behind(&major[length]);
            let range = if length == leading.len() { prefix(range) } else { range };
            parts.push(ListPart::Major(major[..length].to_vec(), Some(range)));
        }
        parts
    }
}

impl ListPart {
    fn read(self, store: &KeyValue, options: &PairGetOptions) -> Result<BulkPairs> {
        match self {
            ListPart::Major(leading, range) => {
                let is_all = leading.is_empty() && range.is_none();
                match store.scan_major(leading, &PairGetOptions { range, ..options.clone() }) {
                    // All of them are there without an order, too.
                    Err(error) if is_all && error.kind() == ErrorKind::Unsupported => {
                        store.scan(options)
                    }
                    found => found,
                }
            }
            ListPart::Minor(key, depth, range) => {
                let options = PairGetOptions { depth, range, ..options.clone() };
                store.bulk_get(std::iter::once(key), &options)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tonnage::{Store, WriteOptions};

    use super::*;

    const KEYS: [&str; 12] = [
        "/a",
        "/a/-/x",
        "/a/-/x/1",
        "/a/-/x/2",
        "/a/-/y",
        "/a/b",
        "/a/b/-/x",
        "/a/bc",
        "/a/c/d/-/x",
        "/ab",
        "/b",
        "/b/-/x",
    ];

    fn store() -> Store {
        let store = Store::open("memory:").unwrap();
        for key in KEYS {
            let key = key.parse().unwrap();
            store.kv().put(&key, b"v", &WriteOptions::default()).unwrap();
        }
        store
    }

    fn listed(store: &Store, under: &str, prefix: &str, after: Option<&str>) -> Vec<String> {
        let list = PairList::of(ListQuery {
            under: Some(under.to_owned()),
            prefix: prefix.to_owned(),
            after: after.map(str::to_owned),
            ..ListQuery::default()
        });
        let mut keys = Vec::new();
        for batch in list.unwrap().pairs(store.kv(), 3).unwrap() {
            let batch = batch.unwrap();
            keys.extend((0..batch.len()).map(|index| batch.key(index).unwrap().to_string()));
        }
        keys
    }

    #[test]
    fn a_path_has_what_lies_at_and_below_it() {
        let store = store();
        assert_eq!(listed(&store, "", "", None), KEYS);
        assert_eq!(listed(&store, "/a", "", None), KEYS[..9]);
        assert_eq!(listed(&store, "/a", "b", None), KEYS[5..8]);
        assert_eq!(listed(&store, "", "a", None), KEYS[..10]);
        assert_eq!(listed(&store, "/a/-", "", None), KEYS[..5]);
        assert_eq!(listed(&store, "/a/-", "x", None), KEYS[1..4]);
        assert_eq!(listed(&store, "/a/-/x", "", None), KEYS[1..4]);
        assert_eq!(listed(&store, "/nothing", "", None), [""; 0]);
    }

    /// At any cut, the second half is what the first one left.
    #[test]
    fn a_list_goes_on_behind_each_of_its_keys() {
        let store = store();
        for (under, prefix) in [
            ("", ""),
            ("", "a"),
            ("/a", ""),
            ("/a", "b"),
            ("/a/-", ""),
            ("/a/-", "x"),
            ("/a/-/x", ""),
            ("/a/-/x", "2"),
        ] {
            let whole = listed(&store, under, prefix, None);
            for (index, key) in whole.iter().enumerate() {
                let rest = listed(&store, under, prefix, Some(key));
                assert_eq!(rest, whole[index + 1..], "under {under}, prefix {prefix}, after {key}");
            }
        }
    }

    /// The pair may be gone by the time when its list resumes.
    #[test]
    fn a_list_goes_on_behind_a_key_that_is_not_stored() {
        let store = store();
        assert_eq!(listed(&store, "", "", Some("/a/-/x/1/9")), KEYS[3..]);
        assert_eq!(listed(&store, "", "", Some("/a/bb/-/z")), KEYS[7..]);
        assert_eq!(listed(&store, "/a", "", Some("/a/c/e")), [""; 0]);
        let elsewhere = ListQuery {
            under: Some("/a".to_owned()),
            after: Some("/b".to_owned()),
            ..ListQuery::default()
        };
        assert!(PairList::of(elsewhere).unwrap_err().message().contains("after /b"));
    }
}
