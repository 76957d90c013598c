//! What users may do by calls: in bulk, row by row, with objects and jobs.

use tonnage_server::Settings;

use crate::guarded::{BASIC, BEARER, Guarded, TOKEN, bearing, file};
use crate::support::Running;

/// A definition that a reader of statements takes for one of another table: to it, a back quote
/// opens no name, and what follows is a comment.
const HIDDEN: &str = "DESCRIBE ships.`/*`; DROP TABLE secrets; DESCRIBE ships.`*/`";

/// The client for Rust asks for the columns of a table before it loads: a loader was refused there,
/// though they could load over HTTP.
#[test]
fn whoever_may_write_a_table_may_know_its_columns() {
    use arrow_flight::{Action, FlightDescriptor};
    let guarded = Guarded::new();
    guarded.root().update("INSERT INTO secrets VALUES (7)").unwrap();
    let mut client = guarded.server.client();
    let mut described = |text: &str, token: &str| {
        let action = bearing(Action::new("tonnage.Define", text.as_bytes().to_vec()), token);
        let (flight, runtime) = (&mut client.flight, &client.runtime);
        runtime.block_on(async {
            let mut answers = flight.do_action(action).await?.into_inner();
            let told = answers.message().await?.map(|answer| answer.body.to_vec());
            Ok::<_, tonic::Status>(String::from_utf8(told.unwrap_or_default()).unwrap())
        })
    };
    for text in ["DESCRIBE secrets", "DESCRIBE \"secrets\".\"keys\""] {
        let told = described(text, "loader").unwrap();
        assert!(told.contains("CREATE TABLE"), "{text}: {told}");
    }
    let ann = guarded.ann().flight.token().unwrap().clone();
    let status = described("DESCRIBE secrets", &ann).unwrap_err();
    assert!(status.message().contains("may not read secrets"), "{status}");
    assert_eq!(
        described("SHOW TABLES", "loader").unwrap_err().code(),
        tonic::Code::PermissionDenied
    );

    let mut loader = guarded.server.sql();
    loader.flight.set_token("loader".to_owned());
    assert_eq!(loader.query("DESCRIBE secrets").unwrap().num_rows(), 1);
    let path = bearing(FlightDescriptor::new_path(vec!["secrets".to_owned()]), "loader");
    client.runtime.block_on(client.flight.get_schema(path)).unwrap();
    let headers = "Authorization: Bearer loader\r\n";
    let (head, told) = guarded.server.http("GET /v1/tables/secrets", headers, "");
    assert!(head.starts_with("HTTP/1.1 200") && told.contains("columns"), "{head} {told}");

    // Columns are not rows.
    for text in [
        "SELECT * FROM secrets",
        "SUMMARIZE secrets",
        "SHOW STATISTICS FROM secrets",
        "DESCRIBE SELECT * FROM secrets",
        "INSERT INTO secrets VALUES (7) RETURNING *",
    ] {
        let error = loader.query(text).unwrap_err();
        assert!(error.contains("may not read secrets"), "{text}: {error}");
    }
}

#[test]
fn every_bulk_call_is_held_against_the_grants() {
    use crate::support::{command, messages, path, ships};
    let guarded = Guarded::new();
    let token = guarded.ann().flight.token().unwrap().clone();
    let client = guarded.server.client();
    let denied = |name: &str, body: Vec<u8>| {
        let mut flight = client.flight.clone();
        let mut request = tonic::Request::new(arrow_flight::Action::new(name.to_owned(), body));
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        let status = client.runtime.block_on(flight.do_action(request)).unwrap_err();
        assert_eq!(status.code(), tonic::Code::PermissionDenied, "{name}: {status}");
    };
    denied("tonnage.Check", Vec::new());
    denied("tonnage.Check", br#"{"repair": true}"#.to_vec());
    for backups in ["Backup", "ListBackups", "VerifyBackups", "PruneBackups"] {
        denied(&format!("tonnage.{backups}"), br#"{"directory": "a", "keep": 1}"#.to_vec());
    }
    denied("tonnage.DeleteLob", br#"{"key": "/fleet%2F1"}"#.to_vec());
    denied("tonnage.Define", b"DROP TABLE ships".to_vec());
    denied("tonnage.Define", HIDDEN.as_bytes().to_vec());
    denied("tonnage.Sync", Vec::new());
    denied("tonnage.Statistics", Vec::new());
    let put = |descriptor| {
        let mut flight = client.flight.clone();
        let sent = messages(descriptor, vec![ships(0..10)]);
        let mut request = tonic::Request::new(futures::stream::iter(sent));
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        client.runtime.block_on(async move {
            let mut answers = flight.do_put(request).await?.into_inner();
            while answers.message().await?.is_some() {}
            Ok::<_, tonic::Status>(())
        })
    };
    assert!(put(path()).is_ok());
    for put_command in [
        serde_json::json!({"table": "secrets"}),
        serde_json::json!({"table": "ships", "on_existing": "replace"}),
        serde_json::json!({"pairs": true}),
    ] {
        let told = put_command.to_string();
        let status = put(command(serde_json::json!({"bulk_put": put_command}))).unwrap_err();
        assert_eq!(status.code(), tonic::Code::PermissionDenied, "{told}: {status}");
    }
}

/// Ann may insert and update pairs below `fleet/`, and read ships and their children.
#[test]
fn large_objects_and_children_are_held_against_the_grants() {
    use crate::support::{command, messages, say};
    use arrow::array::{BinaryArray, Int64Array, RecordBatch};
    use arrow_flight::{FlightDescriptor, Ticket};
    use std::sync::Arc;
    use tonic::Code;
    let guarded = Guarded::new();
    let token = guarded.ann().flight.token().unwrap().clone();
    let client = guarded.server.client();
    let bytes: RecordBatch =
        RecordBatch::try_from_iter([("bytes", Arc::new(BinaryArray::from_vec(vec![b"x"])) as _)])
            .unwrap();
    let put = |key: &str, options: serde_json::Value| {
        let mut options = options;
        options["key"] = key.into();
        let mut sent =
            messages(command(serde_json::json!({"put_lob": options})), vec![bytes.clone()]);
        sent.push(say(serde_json::json!({"end": {"bytes": 1}})));
        let mut flight = client.flight.clone();
        let request = bearing(futures::stream::iter(sent), &token);
        client.runtime.block_on(async move {
            let mut answers = flight.do_put(request).await?.into_inner();
            while answers.message().await?.is_some() {}
            Ok::<_, tonic::Status>(())
        })
    };
    let none = serde_json::json!({});
    put("/fleet%2F1", none.clone()).unwrap();
    assert_eq!(put("/other", none).unwrap_err().code(), Code::PermissionDenied);
    let get = |key: &str| {
        let ticket = serde_json::json!({"get_lob": {"key": key}}).to_string();
        let mut flight = client.flight.clone();
        client.runtime.block_on(flight.do_get(bearing(Ticket::new(ticket), &token))).map(drop)
    };
    get("/fleet%2F1").unwrap();
    // Whether there is one is hidden from users who may not read it.
    assert_eq!(get("/other").unwrap_err().code(), Code::PermissionDenied);
    let related = |descriptor: FlightDescriptor| {
        let keys = Arc::new(Int64Array::from(vec![1])) as _;
        let keys = RecordBatch::try_from_iter([("id", keys)]).unwrap();
        let request = bearing(futures::stream::iter(messages(descriptor, vec![keys])), &token);
        let mut flight = client.flight.clone();
        client.runtime.block_on(flight.do_exchange(request)).map(drop)
    };
    let with = |table: &str| {
        related(command(serde_json::json!({"bulk_get": {"table": "ships", "relatives": [table]}})))
    };
    with("ships.calls").unwrap();
    assert_eq!(with("secrets").unwrap_err().code(), Code::PermissionDenied);
}

#[test]
fn http_calls_are_held_against_the_grants() {
    let guarded = Guarded::new();
    for (request, body, status) in [
        ("PUT /v1/pairs/fleet%2F1", "x", "204"),
        ("GET /v1/pairs/fleet%2F1", "", "200"),
        ("DELETE /v1/pairs/fleet%2F1", "", "403"),
        ("PUT /v1/pairs/other", "x", "403"),
        ("GET /v1/tables/ships/row?id=1", "", "404"),
        ("PUT /v1/tables/ships/row?id=1", "{}", "403"),
        ("GET /v1/tables/secrets", "", "403"),
        ("DELETE /v1/tables/ships", "", "403"),
        ("POST /v1/tables", "DROP TABLE ships", "403"),
        ("POST /v1/tables", HIDDEN, "403"),
        ("POST /v1/tables/ships/rows", "id,name\n1,a\n", "200"),
        ("POST /v1/tables/secrets/rows", "k\n1\n", "403"),
        ("POST /v1/sql", r#"{"sql": "SELECT * FROM secrets"}"#, "403"),
        ("POST /v1/admin/sync", "", "403"),
        ("POST /v1/admin/check", "", "403"),
        ("POST /v1/admin/backup", r#"{"directory": "a"}"#, "403"),
        ("POST /v1/tables/ships/get", r#"{"keys": []}"#, "200"),
        ("POST /v1/tables/secrets/get", r#"{"keys": []}"#, "403"),
        ("POST /v1/tables/ships/get", r#"{"keys": [], "relatives": ["secrets"]}"#, "403"),
        ("GET /v1/jobs", "", "200"),
        ("GET /v1/events", "", "403"),
        ("DELETE /v1/jobs/b-99", "", "404"),
        ("GET /metrics", "", "403"),
    ] {
        let headers = format!("{BASIC}Content-Type: text/csv\r\n");
        let head = guarded.http(request, &headers, body);
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {head}");
    }
    assert!(guarded.http("GET /metrics", BEARER, "").starts_with("HTTP/1.1 200"));
}

/// Once one statement that was not allowed, or that had a fault, refused the whole call.
#[test]
fn a_statement_of_many_that_is_not_allowed_is_refused_by_itself() {
    use crate::support::read_frame;
    let guarded = Guarded::new();
    let statements = r#"[{"sql": "SELECT * FROM secrets"}, {"sql": "SELECT count(*) FROM ships"},
        {"sql": "INSERT INTO ships SELECT k, 'x' FROM secrets"},
        {"sql": "INSERT INTO secrets VALUES (1)"}, {"sql": "SELEC 1"},
        {"sql": "SELECT 1; DROP TABLE secrets"}, {"sql": "SELECT 1; SELECT 2"}]"#;
    let refused: [usize; 4] = [0, 2, 3, 5];
    let (head, told) = guarded.server.http("POST /v1/fetch-all", BASIC, statements);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    for place in refused {
        assert_eq!(told[place]["problem"]["title"], "not allowed", "{told}");
    }
    assert_eq!(told[1]["rows"], serde_json::json!([[0]]), "{told}");
    assert_eq!(told[4]["problem"]["title"], "invalid request", "{told}");
    let detail = told[6]["problem"]["detail"].as_str().unwrap();
    assert!(detail.starts_with("statement 6"), "{detail}");

    let body = statements.as_bytes().to_vec();
    let answers = guarded.act_as_ann("tonnage.FetchAll", body);
    let headers: Vec<_> = answers.iter().map(|answer| read_frame(answer).0).collect();
    assert_eq!(headers.len(), 7);
    for place in refused {
        assert_eq!(headers[place]["error"]["kind"], "not allowed", "{headers:?}");
    }
    assert!(headers[1].get("ok").is_some(), "{headers:?}");
    assert_eq!(guarded.server.store.table("secrets").unwrap().count().unwrap(), 0);
    assert_eq!(guarded.server.rows(), 0);
}

/// What ann may not do was "unsupported", as if no user could.
#[test]
fn a_request_of_many_that_is_not_allowed_says_so() {
    use crate::support::{frame, read_frame};
    use arrow::array::{Int64Array, RecordBatch};
    let guarded = Guarded::new();
    let requests = r#"[{"table": "secrets", "keys": [1]}, {"table": "ships", "keys": [1]}]"#;
    let (head, told) = guarded.server.http("POST /v1/multi-get", BASIC, requests);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told[0]["problem"]["title"], "not allowed", "{told}");
    assert_eq!(told[1]["rows"], serde_json::json!([]), "{told}");

    let keys = |column: &str| {
        let keys = std::sync::Arc::new(Int64Array::from(vec![1])) as _;
        RecordBatch::try_from_iter([(column, keys)]).unwrap()
    };
    let mut body = frame(serde_json::json!({"table": "secrets"}), &keys("k"));
    body.extend(frame(serde_json::json!({"table": "ships"}), &keys("id")));
    let answers = guarded.act_as_ann("tonnage.MultiGet", body);
    let headers: Vec<_> = answers.iter().map(|answer| read_frame(answer).0).collect();
    assert_eq!(headers[0]["error"]["kind"], "not allowed", "{headers:?}");
    assert!(headers[1].get("ok").is_some(), "{headers:?}");
}

/// The story of a bug: calls of single rows, and those that describe a table, looked for it before
/// they checked the rights. So "denied" showed that it exists, and "not found" that it does not.
#[test]
fn a_refusal_does_not_tell_whether_a_table_exists() {
    use crate::support::{frame, ships};
    use arrow_flight::{Action, FlightDescriptor};
    let guarded = Guarded::new();
    for table in ["secrets", "nothing"] {
        let row = format!("/v1/tables/{table}/row?k=1");
        for (verb, body) in [("GET", ""), ("PUT", "{}"), ("PATCH", "{}"), ("DELETE", "")] {
            let head = guarded.http(&format!("{verb} {row}"), BASIC, body);
            assert!(head.starts_with("HTTP/1.1 403"), "{verb} {row}: {head}");
        }
    }
    let token = guarded.ann().flight.token().unwrap().clone();
    let mut client = guarded.server.client();
    let mut denied = |call: &str, table: &str| {
        let header = |verb: &str| serde_json::json!({ verb: table });
        let action = |name: &str, header| Action::new(name, frame(header, &ships([1])));
        let path = FlightDescriptor::new_path(vec![table.to_owned()]);
        let (flight, runtime) = (&mut client.flight, &client.runtime);
        let action = match call {
            "get" => Some(action("tonnage.Get", header("table"))),
            "put" | "delete" => Some(action("tonnage.Write", header(call))),
            _ => None,
        };
        let answered = runtime.block_on(async {
            match (action, call) {
                (Some(action), _) => flight.do_action(bearing(action, &token)).await.map(drop),
                (None, "info") => flight.get_flight_info(bearing(path, &token)).await.map(drop),
                (None, _) => flight.get_schema(bearing(path, &token)).await.map(drop),
            }
        });
        let status = answered.unwrap_err();
        assert_eq!(status.code(), tonic::Code::PermissionDenied, "{call} {table}: {status}");
    };
    for call in ["get", "put", "delete", "info", "schema"] {
        denied(call, "secrets");
        denied(call, "nothing");
    }
}

#[test]
fn a_prepared_statement_and_a_ticket_are_their_owners() {
    let guarded = Guarded::new();
    let mut root = guarded.root();
    let change = root.info("INSERT INTO ships VALUES (1, 'a')").unwrap();
    let read = root.info("SELECT * FROM secrets").unwrap();
    let mut ann = guarded.ann();
    assert!(ann.fetch(&change).unwrap_err().contains("no such statement"));
    assert!(ann.fetch(&read).unwrap_err().contains("may not read secrets"));
    assert_eq!(guarded.server.rows(), 0);
    assert!(root.fetch(&change).is_ok());
}

/// A caller that knew the name of a job learned of its tables, and could stop it by rows that fail.
#[test]
fn a_job_is_shared_by_streams_of_one_user_alone() {
    use crate::support::{command, messages, ships};
    let guarded = Guarded::new();
    let ann = guarded.ann().flight.token().unwrap().clone();
    let begun = |token: &str| {
        let put = command(serde_json::json!({"bulk_put": {"table": "ships", "job": "nightly"}}));
        let open = futures::stream::iter(messages(put, vec![ships(0..1)]));
        let held = futures::StreamExt::chain(open, futures::stream::pending());
        let mut request = tonic::Request::new(held);
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        let mut client = guarded.server.client();
        let (job, answers) = client.runtime.block_on(async {
            let mut answers = client.flight.do_put(request).await.unwrap().into_inner();
            let said = answers.message().await.unwrap().unwrap();
            let said: serde_json::Value = serde_json::from_slice(&said.app_metadata).unwrap();
            (said["ready"]["job"].to_string(), answers)
        });
        (job, answers, client)
    };
    let (first, second, other) = (begun(&ann), begun(&ann), begun("token"));
    assert_eq!(first.0, second.0);
    assert_ne!(first.0, other.0);
}

/// The key of a child is that of its parent and more, but the parent could not be described.
#[test]
fn whoever_may_use_a_child_may_know_the_columns_above_it() {
    let users = file(&format!(
        "[[user]]\nname = \"kid\"\ntokens = [\"{TOKEN}\"]\n\
         grants = [{{ table = \"ships.calls\", allow = [\"insert\"] }}]\n"
    ));
    let settings = Settings { users: Some(users.to_path_buf()), ..Settings::default() };
    let server = Running::with(settings);
    for child in ["ships.calls", "ships.crews", "ships.calls.visits"] {
        let key = child.rsplit('.').next().unwrap();
        let ddl = format!("CREATE TABLE {child} ({key} LONG, PRIMARY KEY ({key}))");
        server.store.execute(&ddl).unwrap();
    }
    let mut kid = server.sql();
    kid.flight.set_token("token".to_owned());
    for (path, columns) in [("ships", 2), ("ships.calls", 2), ("ships.calls.visits", 3)] {
        let described = kid.query(&format!("DESCRIBE {path}")).unwrap();
        assert_eq!(described.num_rows(), columns, "{path}");
        let (head, _) = server.http(&format!("GET /v1/tables/{path}"), BEARER, "");
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
    }
    let (_, told) = server.http("GET /v1/tables", BEARER, "");
    assert!(told.contains("ships.calls") && !told.contains("ships.crews"), "{told}");
    for (text, said) in [
        ("DESCRIBE ships.crews", "may not read ships.crews"),
        ("SELECT * FROM ships", "may not read ships"),
        ("SUMMARIZE ships", "may not read ships"),
        ("SHOW STATISTICS FROM ships", "may not read ships"),
    ] {
        let error = kid.query(text).unwrap_err();
        assert!(error.contains(said), "{text}: {error}");
    }
    let error = kid.update("INSERT INTO ships VALUES (1, 'a')").unwrap_err();
    assert!(error.contains("may not insert ships"), "{error}");
}
