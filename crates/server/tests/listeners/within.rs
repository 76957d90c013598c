//! Rows by place, over HTTP and Flight.

use arrow::array::AsArray;
use arrow::datatypes::{Int64Type, UInt64Type};
use arrow_flight::Ticket;
use arrow_flight::utils::flight_data_to_batches;
use futures::StreamExt;
use serde_json::{Value as Json, json};
use tonic::Code;

use crate::guarded::{BASIC, Guarded};
use crate::support::Running;

/// Buoys at each whole degree of longitude, on 52 degrees north.
fn server_with_buoys() -> Running {
    let server = Running::new();
    for ddl in [
        "CREATE TABLE buoys (id LONG, lon DOUBLE, lat DOUBLE, name STRING, PRIMARY KEY (id))",
        "CREATE INDEX by_place ON buoys (geo_cell(lon, lat))",
        "CREATE INDEX by_name ON buoys (name)",
    ] {
        let (head, body) = server.http("POST /v1/tables", "", ddl);
        assert!(head.starts_with("HTTP/1.1 200"), "{body}");
    }
    let rows: String = (-180..=180).map(|lon| format!("{lon},{lon},52,buoy {lon}\n")).collect();
    let csv = format!("id,lon,lat,name\n{rows}");
    let (head, body) =
        server.http("POST /v1/tables/buoys/rows", "Content-Type: text/csv\r\n", &csv);
    assert!(head.starts_with("HTTP/1.1 200"), "{body}");
    server
}

/// Around the date line, and a circle and a triangle that share a buoy.
fn regions() -> Json {
    json!([
        {"box": [178.5, 50, -178.5, 54]},
        {"circle": [4, 52, 80_000]},
        {"polygon": {"type": "Polygon", "coordinates": [[[3.5, 51], [7, 51], [3.5, 53.5], [3.5, 51]]]}},
    ])
}

fn expected() -> Vec<(u64, i64)> {
    vec![(0, -180), (0, -179), (0, 179), (0, 180), (1, 3), (1, 4), (1, 5), (2, 4), (2, 5)]
}

#[test]
fn regions_give_their_rows_over_http() {
    let server = server_with_buoys();
    let ask = |body: &Json| {
        let (head, text) = server.http("POST /v1/tables/buoys/get", "", &body.to_string());
        assert!(head.starts_with("HTTP/1.1 200"), "{text}");
        // The body is one chunk.
        let (start, end) = (text.find('{').unwrap(), text.rfind('}').unwrap());
        serde_json::from_str::<Json>(&text[start..=end]).unwrap()
    };
    let answer = ask(&json!({"within": regions(), "columns": ["id"], "origins": true}));
    let names: Vec<_> =
        answer["columns"].as_array().unwrap().iter().map(|column| &column["name"]).collect();
    assert_eq!(names, ["id", "_key"]);
    let rows = answer["rows"].as_array().unwrap();
    let mut found: Vec<(u64, i64)> =
        rows.iter().map(|row| (row[1].as_u64().unwrap(), row[0].as_i64().unwrap())).collect();
    found.sort_unstable();
    assert_eq!(found, expected());
    let limited = ask(&json!({"within": regions(), "limit": 2, "index": "by_place"}));
    assert_eq!(limited["rows"].as_array().unwrap().len(), 2);
    assert_eq!(limited["columns"].as_array().unwrap().len(), 4);
    assert_eq!(ask(&json!({"within": []}))["rows"], json!([]));
}

#[test]
fn regions_that_are_none_say_how_to_write_them() {
    let server = server_with_buoys();
    for (table, body, named) in [
        ("buoys", json!({"within": [{"box": [1, 2, 3, 4]}, {"box": [1, 2, 3]}]}), "region 1"),
        ("buoys", json!({"within": [{"circle": [52, 400, 5]}]}), "not on the globe"),
        ("buoys", json!({"within": [{"square": 5}]}), "longitude first"),
        ("buoys", json!({"within": [], "keys": []}), "leave out"),
        ("buoys", json!({"within": [], "direction": "forward"}), "direction"),
        ("buoys", json!({"within": [], "columns": ["depth"]}), "depth"),
        ("buoys", json!({"within": [], "index": "by_name"}), "does not begin with places"),
        ("ships", json!({"within": []}), "CREATE INDEX ON ships (geo_cell(lon, lat))"),
    ] {
        let request = format!("POST /v1/tables/{table}/get");
        let (head, text) = server.http(&request, "", &body.to_string());
        assert!(head.starts_with("HTTP/1.1 4") && text.contains(named), "{body}: {head} {text}");
    }
}

#[test]
fn a_ticket_has_regions_and_gives_their_rows() {
    let server = server_with_buoys();
    let client = server.client();
    let get = |ticket: Json| {
        let mut flight = client.flight.clone();
        client.runtime.block_on(async move {
            let rows = flight.do_get(Ticket::new(ticket.to_string())).await?.into_inner();
            Ok::<Vec<_>, tonic::Status>(rows.map(Result::unwrap).collect().await)
        })
    };
    let asked = json!({"table": "buoys", "within": regions(), "columns": ["id"],
        "origins": true, "versions": true});
    let came = get(json!({"bulk_get_within": asked})).unwrap();
    let mut found = Vec::new();
    for batch in flight_data_to_batches(&came).unwrap() {
        let number = |name: &str| {
            let column = batch.column_by_name(name).unwrap();
            column.as_primitive::<UInt64Type>().values().to_vec()
        };
        assert!(number("_version").iter().all(|version| *version > 0));
        let ids = batch.column(0).as_primitive::<Int64Type>().values().to_vec();
        found.extend(number("_key").into_iter().zip(ids));
    }
    found.sort_unstable();
    assert_eq!(found, expected());
    let wrong = get(json!({"bulk_get_within": {"table": "boats", "within": []}})).unwrap_err();
    assert_eq!(wrong.code(), Code::NotFound);
    let wrong = get(json!({"bulk_get_within": {"table": "buoys", "within": [5]}})).unwrap_err();
    assert_eq!(wrong.code(), Code::InvalidArgument);
}

#[test]
fn regions_need_the_right_to_read() {
    let guarded = Guarded::new();
    let head = guarded.http("POST /v1/tables/secrets/get", BASIC, r#"{"within": []}"#);
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
}
