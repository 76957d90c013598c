//! Figures, checks and backups through a server.

use serde_json::json;
use tonic::Code;
use tonnage_server::Settings;

use crate::guarded::{BEARER, Guarded};
use crate::support::{Running, ships};
use crate::support::{messages, path};

#[test]
fn statistics_tell_each_shard() {
    let server = Running::new();
    let told = &server.client().act("tonnage.Statistics", "").unwrap()[0];
    assert_eq!(told["tables"], 1);
    let shards = told["shards"].as_array().unwrap();
    assert!(!shards.is_empty());
    for name in ["place", "rows_estimate", "disk_bytes", "files", "cache_bytes", "details"] {
        assert!(shards[0].get(name).is_some(), "{name}: {told}");
    }
}

#[test]
fn statistics_are_told_over_http_too() {
    let guarded = Guarded::new();
    let (head, body) = guarded.server.http("GET /v1/statistics", BEARER, "");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let told: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&told["tables"], &told["loads"]), (&json!(4), &json!(0)));
    let of_loader = guarded.http("GET /v1/statistics", "Authorization: Bearer loader\r\n", "");
    assert!(of_loader.starts_with("HTTP/1.1 403"), "{of_loader}");
}

#[test]
fn a_check_counts_what_is_stored_and_repairs_when_it_is_told_to() {
    let server = Running::new();
    let mut client = server.client();
    client.put(messages(path(), vec![ships(0..100)]));
    let told = &client.act("tonnage.Check", "").unwrap()[0];
    assert_eq!((&told["rows"]["ships"], &told["damage_count"]), (&json!(100), &json!(0)));
    assert!(told.get("repaired").is_none());
    let told = &client.act("tonnage.Check", r#"{"repair": true}"#).unwrap()[0];
    assert_eq!(told["repaired"]["chunks"], 0);
    let status = client.act("tonnage.Check", r#"{"repare": true}"#).unwrap_err();
    assert!(status.message().contains("repare"), "{status}");
    let status = client.act("tonnage.Check", r#"{"timeout_ms": 0}"#).unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument, "{status}");
}

#[test]
fn a_check_and_a_backup_are_asked_for_over_http() {
    let server = Running::new();
    let (head, told) = server.http("POST /v1/admin/check", "", "");
    assert!(head.starts_with("HTTP/1.1 200") && told.contains(r#""damage_count":0"#), "{told}");
    let (head, told) = server.http("POST /v1/admin/backup", "", r#"{"directory": "a"}"#);
    assert!(head.starts_with("HTTP/1.1 400") && told.contains("--backups DIR"), "{head} {told}");
}

#[test]
fn a_server_without_a_directory_for_backups_makes_none() {
    let server = Running::new();
    let body = r#"{"directory": "nightly"}"#;
    for action in ["tonnage.Backup", "tonnage.ListBackups", "tonnage.VerifyBackups"] {
        let status = server.client().act(action, body).unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains("--backups DIR"), "{status}");
    }
}

#[test]
fn a_backup_lies_below_the_directory_of_backups() {
    let place = tempfile::tempdir().unwrap();
    let settings = Settings { backups: Some(place.path().join("backups")), ..Settings::default() };
    let server = Running::with(settings);
    let mut client = server.client();
    for wrong in ["", "/tmp/elsewhere", "../elsewhere", "a/../../elsewhere", "."] {
        let body = json!({"directory": wrong}).to_string();
        let status = client.act("tonnage.Backup", body).unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{wrong}: {status}");
    }
    assert!(!place.path().join("elsewhere").exists());
    let status = client.act("tonnage.ListBackups", r#"{"directory": "none"}"#).unwrap_err();
    assert_eq!(status.code(), Code::NotFound, "{status}");
}
