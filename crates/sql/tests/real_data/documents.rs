//! Phones as nested JSON, loaded as they are.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use tonnage::{IndexRange, IndexScanOptions, Row, Value};
use tonnage_files::{DocumentOptions, ReadOptions};
use tonnage_testkit::test_data;

use crate::common::{Place, assert_near};

/// The phones by their models.
type Phones = BTreeMap<String, Json>;

fn loaded() -> Option<(Place, Phones)> {
    let path = test_data("phone_devices.jsonl")?;
    let text = std::fs::read_to_string(&path).unwrap();
    let phones: Phones = text
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap())
        .map(|phone| (phone["model"].as_str().unwrap().to_owned(), phone))
        .collect();
    let place = Place::new();
    place.sql.execute("CREATE TABLE phones (model STRING PRIMARY KEY, doc JSON)").unwrap();
    let documents = DocumentOptions { column: "doc".into(), ..DocumentOptions::default() };
    let options = ReadOptions { documents: Some(documents), ..ReadOptions::default() };
    assert_eq!((place.load("phones", &path, options), phones.len()), (442, 442));
    Some((place, phones))
}

/// The models of the phones that a condition holds for.
fn models(phones: &Phones, holds: impl Fn(&Json) -> bool) -> Vec<Vec<String>> {
    phones.iter().filter(|(_, phone)| holds(phone)).map(|(model, _)| vec![model.clone()]).collect()
}

#[test]
fn phones_are_found_by_what_their_documents_hold() {
    let Some((place, phones)) = loaded() else { return };
    let found = |condition: &str| {
        place.rows(format!("SELECT model FROM phones WHERE {condition} ORDER BY model"))
    };
    let text =
        |phone: &Json, names: [&str; 2]| phone[names[0]][names[1]].as_str().map(str::to_owned);
    assert_eq!(
        found("doc->>'maker' = 'SHARP'"),
        models(&phones, |phone| phone["maker"] == "SHARP")
    );
    let version = models(&phones, |phone| {
        text(phone, ["os", "ver"]).is_some_and(|version| version.starts_with("4."))
    });
    assert_eq!(found("doc->'os'->>'ver' LIKE '4.%'"), version);
    let large = models(&phones, |phone| {
        phone["display"]["w"].as_i64() >= Some(1080) && phone["cpu"]["cores"].as_i64() == Some(4)
    });
    assert!(large.len() > 20, "{}", large.len());
    assert_eq!(
        found(
            "json_get_int(doc, 'display', 'w') >= 1080 AND json_get_int(doc, 'cpu', 'cores') = 4"
        ),
        large
    );
    assert_eq!(
        found("doc->>'carrier' IS NULL"),
        models(&phones, |phone| phone["carrier"].is_null())
    );
}

#[test]
fn makers_are_counted_and_measured() {
    let Some((place, phones)) = loaded() else { return };
    let rows = place.rows(
        "SELECT doc->>'maker' AS maker, count(*), avg(json_get_float(doc, 'display', 's')), max(json_get_int(doc, 'memory', 'ram'))
         FROM phones GROUP BY maker ORDER BY maker",
    );
    let mut makers = BTreeMap::<&str, Vec<&Json>>::new();
    phones
        .values()
        .for_each(|phone| makers.entry(phone["maker"].as_str().unwrap()).or_default().push(phone));
    assert_eq!(rows.len(), makers.len());
    for (row, (maker, phones)) in rows.iter().zip(makers) {
        assert_eq!(row[..2], [maker.to_owned(), phones.len().to_string()]);
        let sizes: Vec<f64> =
            phones.iter().filter_map(|phone| phone["display"]["s"].as_f64()).collect();
        assert_near(&row[2], sizes.iter().sum::<f64>() / sizes.len() as f64, maker);
        let most = phones.iter().filter_map(|phone| phone["memory"]["ram"].as_i64()).max();
        assert_eq!(row[3], most.map_or("NULL".to_owned(), |most| most.to_string()), "{maker}");
    }
}

#[test]
fn an_index_on_a_path_gives_the_same_phones_before_and_after_a_change() {
    let Some((place, mut phones)) = loaded() else { return };
    place.sql.execute("CREATE INDEX by_version ON phones (doc.os.type, doc.os.ver)").unwrap();
    let by_index = |version: &str| {
        let index = place.sql.store().table("phones").unwrap().index("by_version").unwrap();
        let mut models = Vec::new();
        for batch in index
            .scan(&IndexRange::prefix(["android", version]), &IndexScanOptions::default())
            .unwrap()
        {
            let rows = batch.unwrap().rows;
            models.extend((0..rows.num_rows()).map(|row| {
                match Row::from_batch(&rows, row).unwrap().get("model") {
                    Some(Value::String(model)) => vec![model.clone()],
                    other => panic!("{other:?}"),
                }
            }));
        }
        models.sort();
        models
    };
    let by_sql = |version: &str| {
        let condition =
            format!("doc->'os'->>'type' = 'android' AND doc->'os'->>'ver' = '{version}'");
        place.rows(format!("SELECT model FROM phones WHERE {condition} ORDER BY model"))
    };
    let expected = |phones: &Phones, version: &str| {
        models(phones, |phone| phone["os"]["type"] == "android" && phone["os"]["ver"] == version)
    };
    assert!(expected(&phones, "2.3").len() > 20);
    for version in ["2.3", "4.4", "99"] {
        assert_eq!(by_index(version), expected(&phones, version), "{version}");
        assert_eq!(by_sql(version), expected(&phones, version), "{version}");
    }
    let update = "UPDATE phones SET doc = json_set(doc, 'os', 'ver', '99') WHERE doc->>'maker' = 'SHARP' AND doc->'os'->>'ver' = '2.3'";
    place.sql.execute(update).unwrap();
    for phone in
        phones.values_mut().filter(|phone| phone["maker"] == "SHARP" && phone["os"]["ver"] == "2.3")
    {
        phone["os"]["ver"] = "99".into();
    }
    assert!(!expected(&phones, "99").is_empty());
    for version in ["2.3", "4.4", "99"] {
        assert_eq!(by_index(version), expected(&phones, version), "{version}");
        assert_eq!(by_sql(version), expected(&phones, version), "{version}");
    }
}
