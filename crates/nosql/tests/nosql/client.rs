//! A client that writes requests and reads answers as JSON.
//!
//! Whole numbers are INTEGER where they fit, else LONG; `{"binary": [..]}` are bytes,
//! `{"number": "1.5"}` and `{"timestamp": ".."}` what they say. Answers have `{"long": 5}` and
//! `{"json": null}` beside.

use std::sync::Arc;

use serde_json::{Map, Value as Json, json};
use tonnage::{ManualClock, Store};
use tonnage_nosql::nson::{NsonView, NsonWriter, read_document};
use tonnage_nosql::{EverythingAllowed, NosqlAccess, NosqlService};

/// 2026-11-28T15:57:49.020Z.
pub(crate) const NOW_MS: u64 = 1_795_881_469_020;

pub(crate) struct Client {
    pub(crate) store: Store,
    service: NosqlService,
    clock: Arc<ManualClock>,
}

impl Client {
    /// A client of a store of its own, in which these definitions were carried out.
    pub(crate) fn new(definitions: &[&str]) -> Self {
        let clock = Arc::new(ManualClock::new(NOW_MS));
        let store = Store::builder("memory:").clock(clock.clone()).open().unwrap();
        let service = NosqlService::new(store.clone(), clock.clone());
        let client = Self { store, service, clock };
        for definition in definitions {
            let answer = client.ask(15, None, json!({ "st": definition }));
            assert!(answer.get("e").is_none(), "{definition}: {answer}");
        }
        client
    }

    /// The answer to an operation on a table.
    pub(crate) fn ask(&self, operation: i32, table: Option<&str>, payload: Json) -> Json {
        self.ask_as(&EverythingAllowed, operation, table, payload)
    }

    pub(crate) fn ask_as(
        &self,
        access: &dyn NosqlAccess,
        operation: i32,
        table: Option<&str>,
        payload: Json,
    ) -> Json {
        self.ask_document(access, &request(operation, table, payload))
    }

    /// The same with a default namespace.
    pub(crate) fn ask_in(
        &self,
        namespace: &str,
        operation: i32,
        table: Option<&str>,
        payload: Json,
    ) -> Json {
        let body = body_of(4, &request(operation, table, payload));
        let answer = self.service.answer(&body, Some(namespace), &EverythingAllowed, None);
        read(read_document(&answer.body).unwrap())
    }

    /// Turns the clock.
    pub(crate) fn set_ms(&self, now_ms: u64) {
        self.clock.set_ms(now_ms);
    }

    pub(crate) fn ask_document(&self, access: &dyn NosqlAccess, document: &Json) -> Json {
        let answer = self.ask_bytes(access, &body_of(4, document));
        read(read_document(&answer).unwrap())
    }

    pub(crate) fn ask_bytes(&self, access: &dyn NosqlAccess, body: &[u8]) -> Vec<u8> {
        self.service.answer(body, None, access, None).body
    }

    pub(crate) fn put(&self, table: &str, row: Json) -> Json {
        self.ask(3, Some(table), json!({ "rr": false, "l": row }))
    }

    /// What a get returns of a row; nothing where there is none.
    pub(crate) fn get(&self, table: &str, key: Json) -> Option<Json> {
        let answer = self.ask(2, Some(table), json!({ "k": key }));
        assert_eq!(answer["e"], json!(0), "{answer}");
        answer.get("r").cloned()
    }

    /// The columns of a row.
    pub(crate) fn row(&self, table: &str, key: Json) -> Json {
        self.get(table, key).map_or(Json::Null, |found| found["l"].clone())
    }
}

fn request(operation: i32, table: Option<&str>, payload: Json) -> Json {
    let mut header = Map::from_iter([("v".to_owned(), json!(4))]);
    if let Some(table) = table {
        header.insert("n".into(), table.into());
    }
    header.insert("o".into(), operation.into());
    header.insert("t".into(), 5_000.into());
    json!({ "h": header, "p": payload })
}

/// The body of a request.
pub(crate) fn body_of(version: i16, document: &Json) -> Vec<u8> {
    let mut writer = NsonWriter::default();
    write(document, &mut writer);
    let mut body = version.to_be_bytes().to_vec();
    body.extend(writer.finish());
    body
}

fn write(value: &Json, out: &mut NsonWriter) {
    match value {
        Json::Null => out.null(),
        Json::Bool(truth) => out.boolean(*truth),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => match i32::try_from(whole) {
                Ok(whole) => out.integer(whole),
                Err(_) => out.long(whole),
            },
            None => out.double(number.as_f64().unwrap()),
        },
        Json::String(text) => out.string(text),
        Json::Array(items) => {
            out.begin_array();
            items.iter().for_each(|item| write(item, out));
            out.end();
        }
        Json::Object(members) => {
            let only = members.iter().next().filter(|_| members.len() == 1);
            match only.map(|(name, value)| (name.as_str(), value)) {
                Some(("binary", bytes)) => {
                    let bytes: Vec<u8> = serde_json::from_value(bytes.clone()).unwrap();
                    out.binary(&bytes);
                }
                Some(("number", text)) => out.number(text.as_str().unwrap()),
                Some(("timestamp", text)) => out.timestamp(text.as_str().unwrap()),
                _ => {
                    out.begin_map();
                    for (name, value) in members {
                        write(value, out.field(name));
                    }
                    out.end();
                }
            }
        }
    }
}

pub(crate) fn read(value: NsonView<'_>) -> Json {
    match value {
        NsonView::Array(items) => items.map(read).collect(),
        NsonView::Map(fields) => {
            fields.map(|(name, value)| (name.to_owned(), read(value))).collect()
        }
        NsonView::Binary(bytes) => json!({ "binary": bytes }),
        NsonView::Boolean(truth) => truth.into(),
        NsonView::Double(number) => json!(number),
        NsonView::Integer(number) => number.into(),
        NsonView::Long(number) => json!({ "long": number }),
        NsonView::String(text) => text.into(),
        NsonView::Timestamp(text) => json!({ "timestamp": text }),
        NsonView::Number(text) => json!({ "number": text }),
        NsonView::JsonNull => json!({ "json": null }),
        NsonView::Null => Json::Null,
        NsonView::Empty => json!({ "empty": true }),
    }
}
