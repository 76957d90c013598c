//! Single rows and pairs over Flight.

use arrow::array::{AsArray, BinaryArray, RecordBatch};
use arrow::datatypes::Int64Type;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use tonic::Code;

use crate::support::{Client, Running, frame, read_frame, ships};

fn key(id: i64) -> RecordBatch {
    ships([id]).project(&[0]).unwrap()
}

fn get(client: &mut Client, header: Json, id: i64) -> Option<(Json, RecordBatch)> {
    let answers = client.act_bytes("tonnage.Get", frame(header, &key(id))).unwrap();
    assert!(answers.len() < 2, "{answers:?}");
    answers.first().map(|answer| {
        let (header, rows) = read_frame(answer);
        (header, rows[0].clone())
    })
}

#[test]
fn a_row_is_got_by_its_key_with_its_version_and_its_end() {
    let server = Running::new();
    let mut client = server.client();
    let put = json!({"put": "ships", "ttl_ms": 3_600_000});
    let put = client.act_bytes("tonnage.Write", frame(put, &ships([7]))).unwrap();
    let put: Json = serde_json::from_slice(&put[0]).unwrap();
    let (told, row) = get(&mut client, json!({"table": "ships"}), 7).unwrap();
    assert_eq!(row, ships([7]).with_schema(row.schema()).unwrap());
    assert_eq!(told["version"], put["version"]);
    assert!(told["expires_at_ms"].as_u64().unwrap() > 0, "{told}");
    assert_eq!(get(&mut client, json!({"table": "ships"}), 8), None);
}

#[test]
fn the_columns_of_a_row_are_those_asked_for() {
    let server = Running::new();
    let mut client = server.client();
    client.act_bytes("tonnage.Write", frame(json!({"put": "ships"}), &ships([7]))).unwrap();
    let header = json!({"table": "ships", "columns": ["name"], "consistency": "absolute"});
    let (_, row) = get(&mut client, header, 7).unwrap();
    assert_eq!((row.num_columns(), row.schema().field(0).name().as_str()), (1, "name"));
    let both = json!({"table": "ships", "columns": ["name", "id"]});
    let (_, row) = get(&mut client, both, 7).unwrap();
    assert_eq!(row.column(1).as_primitive::<Int64Type>().value(0), 7);
}

#[test]
fn what_is_wrong_with_a_get_is_said() {
    let server = Running::new();
    let mut client = server.client();
    let two = [frame(json!({"table": "ships"}), &key(1)), frame(json!({}), &key(2))].concat();
    for (body, code, why) in [
        (frame(json!({"table": "boats"}), &key(1)), Code::NotFound, "boats"),
        (frame(json!({"tabel": "ships"}), &key(1)), Code::InvalidArgument, "tabel"),
        (
            frame(json!({"table": "ships", "columns": ["tons"]}), &key(1)),
            Code::InvalidArgument,
            "tons",
        ),
        (frame(json!({"table": "ships", "columns": []}), &key(1)), Code::InvalidArgument, "empty"),
        (
            frame(json!({"table": "ships"}), &ships([1]).project(&[1]).unwrap()),
            Code::InvalidArgument,
            "'id'",
        ),
        (frame(json!({"table": "ships"}), &ships(1..3)), Code::InvalidArgument, "one row"),
        (two, Code::InvalidArgument, "one frame"),
        (Vec::new(), Code::InvalidArgument, "one frame"),
    ] {
        let status = client.act_bytes("tonnage.Get", body).unwrap_err();
        assert_eq!(status.code(), code, "{status}");
        assert!(status.message().contains(why), "{why}: {status}");
    }
}

/// Once the last of them was carried out, and the others were passed over in silence.
#[test]
fn a_write_with_two_verbs_is_refused() {
    let server = Running::new();
    let mut client = server.client();
    let pair = RecordBatch::try_from_iter([
        ("key", Arc::new(BinaryArray::from_vec(vec![b"a"])) as _),
        ("value", Arc::new(BinaryArray::from_vec(vec![b"b"])) as _),
        ("id", key(1).column(0).clone()),
    ])
    .unwrap();
    for header in [
        json!({"put": "ships", "put_pair": true}),
        json!({"put_pair": true, "delete_pair": true}),
        json!({"put": "ships", "delete": "ships"}),
        json!({"delete": "ships", "delete_pair": true}),
        json!({"put": "ships", "update": "ships"}),
    ] {
        let status = client.act_bytes("tonnage.Write", frame(header.clone(), &pair)).unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{header}");
        let verbs = header.as_object().unwrap().keys();
        for verb in verbs {
            assert!(status.message().contains(&format!("`{verb}`")), "{header}: {status}");
        }
    }
    assert_eq!((server.rows(), server.store.kv().count().unwrap()), (0, 0));
}

#[test]
fn a_write_without_a_verb_and_a_pair_among_rows_are_refused() {
    let server = Running::new();
    let mut client = server.client();
    let status = client.act_bytes("tonnage.Write", frame(json!({}), &key(1))).unwrap_err();
    assert!(status.message().contains("nothing to do"), "{status}");
    let body = [
        frame(json!({"put": "ships"}), &ships([1])),
        frame(json!({"delete_pair": true}), &ships([1])),
    ];
    let status = client.act_bytes("tonnage.Write", body.concat()).unwrap_err();
    assert!(status.message().contains("written alone"), "{status}");
    assert_eq!(server.rows(), 0);
}

#[test]
fn an_update_changes_the_columns_that_it_has() {
    let server = Running::new();
    let mut client = server.client();
    let mut write = |header: Json, rows: &RecordBatch| -> Json {
        let answer = client.act_bytes("tonnage.Write", frame(header, rows)).unwrap();
        serde_json::from_slice(&answer[0]).unwrap()
    };
    let missing = write(json!({"update": "ships"}), &ships([7]));
    assert_eq!(missing, json!({"stored": false, "operation": 0, "version": null}));
    let put = write(json!({"put": "ships"}), &ships([7]));
    // The key alone changes nothing, but the version.
    let same = write(json!({"update": "ships"}), &key(7));
    assert!(same["version"].as_u64() > put["version"].as_u64(), "{same}");
    let other = write(json!({"update": "ships", "if": {"version": 1}}), &ships([7]));
    assert_eq!((&other["stored"], &other["version"]), (&json!(false), &same["version"]));
    let (_, row) = get(&mut client, json!({"table": "ships"}), 7).unwrap();
    assert_eq!(row, ships([7]).with_schema(row.schema()).unwrap());
    let nameless = RecordBatch::try_from_iter_with_nullable([
        ("id", key(7).column(0).clone(), false),
        ("name", arrow::array::new_null_array(ships([7]).column(1).data_type(), 1), true),
    ])
    .unwrap();
    client.act_bytes("tonnage.Write", frame(json!({"update": "ships"}), &nameless)).unwrap();
    let (_, row) = get(&mut client, json!({"table": "ships"}), 7).unwrap();
    assert!(row.column_by_name("name").unwrap().is_null(0));
}
