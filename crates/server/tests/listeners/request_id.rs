//! Names of requests, in both listeners.

use arrow_flight::Action;
use tonic::{Request, Status};
use tonnage_server::Settings;

use crate::support::{Client, Running};

fn id_of(head: &str) -> String {
    let named = head.lines().filter_map(|line| line.split_once(": "));
    let mut ids = named.filter(|(name, _)| name.eq_ignore_ascii_case("x-request-id"));
    let id = ids.next().expect("an answer has a name").1.to_owned();
    assert!(ids.next().is_none(), "{head}");
    id
}

#[test]
fn an_answer_has_the_name_that_its_client_gave() {
    let server = Running::new();
    for path in ["/v1/tables", "/health/live", "/v1/tables/none", "/nowhere"] {
        let (head, _) = server.http(&format!("GET {path}"), "X-Request-Id: load/7\r\n", "");
        assert_eq!(id_of(&head), "load/7");
    }
}

#[test]
fn an_answer_gets_a_name_where_its_client_gave_none_or_a_strange_one() {
    let server = Running::new();
    let name = |headers: &str| id_of(&server.http("GET /v1/tables", headers, "").0);
    let (first, second) = (name(""), name("X-Request-Id: \"; DROP\r\n"));
    assert!(first.len() > 12 && second.len() > 12 && first != second, "{first} {second}");
    let long = format!("X-Request-Id: {}\r\n", "x".repeat(500));
    assert!(name(&long).len() < 100);
}

#[test]
fn a_problem_tells_the_name_of_its_request() {
    let server = Running::new();
    for path in ["/v1/tables/none", "/v1/pairs/%ff", "/nowhere"] {
        let (head, body) = server.http(&format!("GET {path}"), "", "");
        let problem: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(problem["request_id"], id_of(&head).as_str(), "{body}");
    }
}

fn act(client: &mut Client, action: &str, id: Option<&str>) -> Result<String, Status> {
    let mut request = Request::new(Action::new(action, Vec::new()));
    if let Some(id) = id {
        request.metadata_mut().insert("x-request-id", id.parse().unwrap());
    }
    let answer = client.runtime.block_on(client.flight.do_action(request))?;
    Ok(answer.metadata().get("x-request-id").unwrap().to_str().unwrap().to_owned())
}

#[test]
fn an_answer_over_flight_has_a_name_and_so_has_its_error() {
    let server = Running::new();
    let mut client = server.client();
    assert_eq!(act(&mut client, "tonnage.Jobs", Some("mine")).unwrap(), "mine");
    let made = act(&mut client, "tonnage.Jobs", None).unwrap();
    assert_ne!(made, act(&mut client, "tonnage.Jobs", None).unwrap());
    let status = act(&mut client, "tonnage.Fly", Some("mine")).unwrap_err();
    assert_eq!(status.metadata().get("x-request-id").unwrap(), "mine");
}

#[test]
fn the_audit_log_names_the_request() {
    let audit = tempfile::NamedTempFile::new().unwrap();
    let settings = Settings { audit: Some(audit.path().to_path_buf()), ..Settings::default() };
    let server = Running::with(settings);
    server.http("GET /v1/tables/ships", "X-Request-Id: over-http\r\n", "");
    act(&mut server.client(), "tonnage.Sync", Some("over-flight")).unwrap();
    let lines = std::fs::read_to_string(audit.path()).unwrap();
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<_> = lines.iter().map(|line| line["request_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["over-http", "over-flight"], "{lines:?}");
}
