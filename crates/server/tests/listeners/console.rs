//! The console's files, and the logins of browsers.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value as Json;
use tonnage_server::Settings;

use crate::guarded::{BEARER, Guarded};
use crate::support::Running;

/// What a browser says of a call that its page makes.
const OF_PAGE: &str = "Sec-Fetch-Mode: cors\r\nSec-Fetch-Site: same-origin\r\n";
const OF_VISIT: &str = "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Site: cross-site\r\n\
                        Sec-Fetch-Dest: document\r\nAccept: text/html,*/*;q=0.8\r\n";

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// The head and the bytes of an answer.
fn get(server: &Running, path: &str, headers: &str) -> (String, Vec<u8>) {
    let mut socket = TcpStream::connect(server.addresses.http.unwrap()).unwrap();
    let text =
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
    socket.write_all(text.as_bytes()).unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    (String::from_utf8(answer[..end].to_vec()).unwrap(), answer[end + 4..].to_vec())
}

#[test]
fn a_browser_is_led_to_the_page_and_a_program_is_not() {
    let server = Running::new();
    let (head, _) = server.http("GET /", OF_VISIT, "");
    assert!(head.starts_with("HTTP/1.1 307"), "{head}");
    assert_eq!(header(&head, "location"), Some("/console/"));
    assert!(server.http("GET /console", OF_VISIT, "").0.starts_with("HTTP/1.1 307"));
    let (head, body) = server.http("GET /", "Accept: */*\r\n", "");
    assert!(head.starts_with("HTTP/1.1 404") && body.contains("/v1/openapi.json"), "{head}");
}

#[test]
fn the_page_and_its_files_come_with_their_policy() {
    let server = Running::new();
    let (head, page) = get(&server, "/console/", OF_VISIT);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let policy = header(&head, "content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("require-trusted-types-for"));
    assert_eq!(header(&head, "cross-origin-opener-policy"), Some("same-origin"));
    assert_eq!(header(&head, "referrer-policy"), Some("no-referrer"));
    assert_eq!(header(&head, "cache-control"), Some("no-cache"));
    let tag = header(&head, "etag").unwrap();
    let (head, body) = get(&server, "/console/", &format!("If-None-Match: {tag}\r\n"));
    assert!(head.starts_with("HTTP/1.1 304") && body.is_empty(), "{head}");

    let page = String::from_utf8(page).unwrap();
    let script = page.split("src=\"").nth(1).unwrap().split('"').next().unwrap();
    let path = format!("/console/{script}");
    let (head, plain) = get(&server, &path, "");
    assert!(header(&head, "cache-control").unwrap().contains("immutable"), "{head}");
    assert!(header(&head, "content-type").unwrap().starts_with("text/javascript"), "{head}");
    let (head, packed) = get(&server, &path, "Accept-Encoding: br, gzip\r\n");
    assert_eq!(header(&head, "content-encoding"), Some("gzip"));
    assert!(packed.starts_with(&[0x1f, 0x8b]) && packed.len() < plain.len());

    for missing in ["/console/nothing.js", "/console/..%2fCargo.toml", "/console/index.html.gz"] {
        assert!(get(&server, missing, "").0.starts_with("HTTP/1.1 404"), "{missing}");
    }
}

#[test]
fn a_setting_turns_it_off() {
    let server = Running::with(Settings { console: Some("off".into()), ..Settings::default() });
    for path in ["/", "/console/"] {
        assert!(
            get(&server, path, "Accept: text/html\r\n").0.starts_with("HTTP/1.1 404"),
            "{path}"
        );
    }
}

/// A link leads to the page from anywhere; a frame, a script or a call of another page does not.
#[test]
fn other_pages_may_link_to_it_and_no_more() {
    let server = Running::new();
    assert!(get(&server, "/console/", OF_VISIT).0.starts_with("HTTP/1.1 200"));
    assert!(get(&server, "/v1/tables", OF_VISIT).0.starts_with("HTTP/1.1 403"));
    assert!(get(&server, "/consoles", OF_VISIT).0.starts_with("HTTP/1.1 403"));
    for other in [
        OF_VISIT.replace("document", "iframe"),
        OF_VISIT.replace("navigate", "no-cors"),
        format!("{OF_VISIT}Origin: https://evil.example\r\n"),
    ] {
        assert!(get(&server, "/console/", &other).0.starts_with("HTTP/1.1 403"), "{other}");
    }
    assert!(server.http("POST /console/", OF_VISIT, "").0.starts_with("HTTP/1.1 403"));
}

fn log_in(guarded: &Guarded, body: &str) -> (String, String) {
    guarded.server.http("POST /v1/login", &format!("{OF_PAGE}Origin: http://localhost\r\n"), body)
}

#[test]
fn a_login_holds_until_the_logout() {
    let guarded = Guarded::new();
    let (head, body) = log_in(&guarded, r#"{"user": "ann", "secret": "pass:word"}"#);
    assert!(head.starts_with("HTTP/1.1 200") && body.contains("\"ann\""), "{head} {body}");
    let cookie = header(&head, "set-cookie").unwrap();
    for part in ["tonnage_session=", "HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "there is no TLS");
    let cookie = format!("{OF_PAGE}Cookie: other=1; {}\r\n", cookie.split(';').next().unwrap());
    let (_, me) = guarded.server.http("GET /v1/me", &cookie, "");
    let me: Json = serde_json::from_str(&me).unwrap();
    assert_eq!(me["user"], "ann");
    assert_eq!(me["allow"], serde_json::json!(["read", "insert"]), "pairs are not tables");
    assert_eq!(me["grants"][0], serde_json::json!({"table": "ships", "allow": ["read", "insert"]}));
    assert_eq!((&me["operates"], &me["administers"]), (&Json::from(false), &Json::from(false)));
    // The cookie has its user's rights, and Authorization counts more.
    let statement = r#"{"sql": "SELECT * FROM secrets"}"#;
    assert!(guarded.http("POST /v1/sql", &cookie, statement).starts_with("HTTP/1.1 403"));
    let both = format!("{BEARER}{cookie}");
    assert!(guarded.http("POST /v1/sql", &both, statement).starts_with("HTTP/1.1 200"));

    let gone = guarded.http("POST /v1/logout", &cookie, "");
    assert!(gone.starts_with("HTTP/1.1 204"), "{gone}");
    assert!(header(&gone, "set-cookie").unwrap().contains("Max-Age=0"));
    let refused = guarded.http("GET /v1/me", &cookie, "");
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
}

/// A page shows what may be done with a table, and repeats no rules.
#[test]
fn each_table_tells_what_its_caller_may_do() {
    let guarded = Guarded::new();
    let of_loader = "Authorization: Bearer loader\r\n";
    let (_, body) = guarded.server.http("GET /v1/tables/ships", of_loader, "");
    let table: Json = serde_json::from_str(&body).unwrap();
    assert_eq!(table["allow"], serde_json::json!(["insert", "update"]), "{body}");
}

#[test]
fn a_token_logs_in_without_a_name() {
    let guarded = Guarded::new();
    let (_, body) = log_in(&guarded, r#"{"secret": "token"}"#);
    assert_eq!(serde_json::from_str::<Json>(&body).unwrap()["user"], "root");
}

#[test]
fn a_wrong_login_is_refused_and_noted() {
    let guarded = Guarded::new();
    let (head, _) = log_in(&guarded, r#"{"user": "ann", "secret": "wrong"}"#);
    assert!(head.starts_with("HTTP/1.1 401") && header(&head, "set-cookie").is_none(), "{head}");
    let audit = std::fs::read_to_string(&guarded.audit).unwrap();
    assert!(audit.contains("\"login\"") && audit.contains("\"allowed\":false"), "{audit}");
    assert!(log_in(&guarded, "{}").0.starts_with("HTTP/1.1 400"));
}

/// The browser would show its own dialog over the page.
#[test]
fn only_programs_are_asked_for_basic() {
    let guarded = Guarded::new();
    let of_page = guarded.http("GET /v1/me", OF_PAGE, "");
    assert!(of_page.starts_with("HTTP/1.1 401"), "{of_page}");
    assert_eq!(header(&of_page, "www-authenticate"), None);
    let of_program = guarded.http("GET /v1/me", "", "");
    assert_eq!(header(&of_program, "www-authenticate"), Some("Basic realm=\"tonnage\""));
}

#[test]
fn without_users_everybody_is_nobody() {
    let server = Running::new();
    let (head, body) = server.http("POST /v1/login", OF_PAGE, r#"{"user": "x", "secret": "y"}"#);
    assert!(head.starts_with("HTTP/1.1 200") && header(&head, "set-cookie").is_none(), "{head}");
    assert_eq!(serde_json::from_str::<Json>(&body).unwrap()["user"], Json::Null);
    let me: Json = serde_json::from_str(&server.http("GET /v1/me", OF_PAGE, "").1).unwrap();
    assert_eq!((&me["has_users"], &me["administers"]), (&Json::from(false), &Json::from(true)));
    let all = serde_json::json!(["read", "insert", "update", "delete", "define"]);
    assert_eq!(me["allow"], all);
    let tables: Json = serde_json::from_str(&server.http("GET /v1/tables", "", "").1).unwrap();
    assert_eq!(tables["tables"][0]["allow"], all);
}
