//! What a program that watches the store receives through `tracing`.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tonnage::{BulkPutOptions, Consistency, ErrorKind, GetOptions, WriteOptions};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::common::Backend::Memory;
use crate::common::{assert_error, failure, row};

/// Writes one line for each event.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}

impl Subscriber for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tonnage")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.0.lock().unwrap().push(format!("span {}", span.metadata().name()));
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

#[test]
fn definitions_and_loads_are_told_with_their_counts() {
    let notes = Notes::default();
    tracing::subscriber::with_default(notes.clone(), || {
        let store = Memory.with_tables("CREATE TABLE t (k LONG, PRIMARY KEY (k))");
        let rows = vec![row! { "k" => 1_i64 }, row! { "k" => 1_i64 }, row! { "k" => "x" }];
        store.multi_put([("t", rows)], &BulkPutOptions::default()).unwrap();
    });
    let notes = notes.0.lock().unwrap();
    let told = |what: &[&str]| notes.iter().any(|line| what.iter().all(|part| line.contains(part)));
    assert!(told(&["definition carried out", "Created", "\"t\""]), "{notes:#?}");
    assert!(told(&["span bulk_put"]), "{notes:#?}");
    assert!(told(&["bulk put ended", "read=3 ", "inserted=1 ", "existed=1 ", "failed=1 "]));
}

#[test]
fn single_gets_take_a_consistency() {
    let store = Memory.with_tables("CREATE TABLE t (k LONG, PRIMARY KEY (k))");
    let (table, key) = (store.table("t").unwrap(), row! { "k" => 1_i64 });
    let version = table.put(&key, &WriteOptions::default()).unwrap();
    let of = |consistency| {
        let consistency = Some(consistency);
        table.get_with(&key, &GetOptions { consistency, ..Default::default() })
    };
    assert!(of(Consistency::Version(version)).unwrap().is_some());
    assert_error(failure(of(Consistency::Version(0))), ErrorKind::Invalid, &["version 0"]);
    let pair = "/a".parse().unwrap();
    let options = GetOptions { consistency: Some(Consistency::None), ..Default::default() };
    let none = store.kv().get_with(&pair, &options);
    assert!(none.unwrap().is_none());
}
