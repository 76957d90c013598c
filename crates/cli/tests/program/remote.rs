//! Verbs whose store is on a server: the same answers and exit codes as with a store at hand.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::common::{Place, Run, finished, piped, ships_csv};
use crate::served::Served;

/// A server over a store of its own, and a directory without one.
struct Remote {
    place: Place,
    served: Served,
}

impl Remote {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(arguments: &[&str]) -> Self {
        let place = Place::new();
        let served = Served::new(&place, arguments, &[]);
        Self { place, served }
    }

    fn with_ships(self, count: usize) -> Self {
        let ddl = "CREATE TABLE ships (ship LONG, at TIMESTAMP(0), lat DOUBLE, name STRING, PRIMARY KEY (SHARD(ship), at))";
        self.run(&["sql", ddl]).ends(0);
        self.place.write("ships.csv", ships_csv(count));
        self.run(&["load", "ships", "ships.csv"]).ends(0);
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.command(arguments);
        command.env("TONNAGE_STORE", self.served.flight());
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        finished(self.command(arguments).output().unwrap())
    }
}

#[test]
fn statements_are_carried_out_by_the_server() {
    let remote = Remote::new().with_ships(10);
    let run = remote.run(&["sql", "SELECT ship, name FROM ships WHERE ship < 2 ORDER BY ship"]);
    let run = run.ends(0).says(&["2 rows"]);
    assert_eq!(run.out, "ship,name\n0,\"ship, 0\"\n1,\"ship, 1\"\n");
    let script =
        "UPDATE ships SET name = 'a' WHERE ship = 1; SELECT name FROM ships WHERE ship = 1";
    let run = remote.run(&["sql", script]).ends(0).says(&["1 row changed"]);
    assert_eq!(run.out, "name\na\n");
    let run = remote.run(&["sql", "SHOW TABLES; DESCRIBE ships"]).ends(0);
    assert!(run.out.starts_with("ships\nCREATE TABLE ships ("), "{}", run.out);
}

#[test]
fn many_statements_go_to_the_server_in_one_call() {
    let remote = Remote::new().with_ships(3);
    remote.place.write("all.sql", "SELECT count(*) AS n FROM ships; SELECT nme FROM ships");
    let run = remote.run(&["sql", "--fetch-all", "all.sql"]).ends(2);
    assert_eq!(run.lines(), ["n", "3"]);
    run.says(&["1: 1 row", "2: ", "nme", "1 of 2 statements failed"]);
}

#[test]
fn a_statement_that_is_wrong_is_shown_where() {
    let remote = Remote::new().with_ships(1);
    remote.run(&["sql", "SELECT nme FROM ships"]).ends(3).says(&["nme"]);
    let run = remote
        .run(&["sql", "INSERT INTO ships VALUES (5, '2022-01-03T00:00:00', 1, 'x'); SELECT 1 +"]);
    run.ends(2);
    assert_eq!(remote.run(&["count", "ships"]).ends(0).out, "2\n");
}

#[test]
fn the_address_may_stand_where_a_store_does() {
    let remote = Remote::new().with_ships(3);
    let address = remote.served.flight();
    let run = remote.place.run(&["sql", address, "SELECT count(*) AS n FROM ships"]).ends(0);
    assert_eq!(run.out, "n\n3\n");
    assert_eq!(remote.place.run(&["count", "--store", address, "ships"]).ends(0).out, "3\n");
}

#[test]
fn a_load_reports_as_it_does_into_a_store() {
    let remote = Remote::new();
    remote.place.write("good.csv", ships_csv(5_000));
    let key = ["--create", "--primary-key", "SHARD(ship), at"];
    let run = remote.run(&[&["load", "ships", "good.csv"], &key[..]].concat()).ends(0);
    run.says(&["5,000 read, 5,000 inserted, 0 existed, 0 failed"]);
    // A second creation finds it there.
    let run = remote.run(&[&["load", "ships", "good.csv"], &key[..]].concat()).ends(0);
    run.says(&["5,000 read, 0 inserted, 5,000 existed, 0 failed"]);
    assert_eq!(remote.run(&["count", "ships"]).ends(0).out, "5000\n");
}

#[test]
fn records_that_do_not_fit_are_kept_with_their_reasons() {
    let remote = Remote::new().with_ships(1);
    let bad = "ship,at,lat,name\n7,2022-01-03T00:00:00,1.5,a\n8,2022-01-03T00:00:00,north,b\n,2022-01-03T00:00:00,1,c\n";
    remote.place.write("bad.csv", bad);
    let arguments = ["load", "ships", "bad.csv", "--rejects", "kept", "--summary", "summary.json"];
    remote.run(&arguments).ends(1).says(&["3 read, 1 inserted, 0 existed, 2 failed"]);
    let kept = remote.place.read("kept/bad.csv");
    assert_eq!(kept, "ship,at,lat,name\n8,2022-01-03T00:00:00,north,b\n,2022-01-03T00:00:00,1,c\n");
    assert_eq!(remote.place.read("kept/bad.reasons.jsonl").lines().count(), 2);
    let summary = remote.place.json("summary.json");
    assert_eq!((&summary["outcome"], &summary["failed"]), (&"rejected".into(), &2.into()));
    assert_eq!(summary["files"][0]["complete"], true);
}

#[test]
fn a_load_with_too_many_errors_stops() {
    let remote = Remote::new().with_ships(1);
    let bad = "ship,at,lat,name\n8,2022-01-03T00:00:00,north,b\n9,2022-01-03T00:00:00,south,c\n";
    remote.place.write("bad.csv", bad);
    let run = remote.run(&["load", "ships", "bad.csv", "--errors-max", "1"]);
    run.ends(2).says(&["--errors-max (1)"]);
}

#[test]
fn a_file_that_ends_too_early_is_not_complete_and_a_resumed_load_goes_on() {
    let remote = Remote::new().with_ships(1);
    let whole = ships_csv(20_000);
    let broken = format!("{}30000,\"never closed", &whole);
    let path = remote.place.write("broken.csv", broken);
    let arguments = ["load", "ships", "broken.csv", "--resume", "notes"];
    let run = remote.run(&arguments);
    assert!(run.code == 1 || run.code == 2, "{run:?}");
    std::fs::write(path, whole).unwrap();
    remote.run(&arguments).ends(0);
    assert_eq!(remote.run(&["count", "ships"]).ends(0).out, "20000\n");
}

#[test]
fn a_table_that_is_missing_is_named_with_the_remedy() {
    let remote = Remote::new();
    remote.place.write("ships.csv", ships_csv(1));
    remote.run(&["load", "ships", "ships.csv"]).ends(3).says(&["ships", "--create"]);
    remote.run(&["count", "ships"]).ends(3).says(&["ships"]);
}

#[test]
fn rows_are_got_by_their_keys() {
    let remote = Remote::new().with_ships(100);
    let run =
        remote.run(&["get", "ships", "7", "8", "--columns", "ship,lat", "--direction", "forward"]);
    assert_eq!(run.ends(0).out, "ship,lat\n7,7.5\n8,8.5\n");
    remote.place.write("keys.csv", "ship\n1\n2\n3\n");
    let run = remote.run(&["get", "ships", "--keys", "keys.csv", "--keys-only"]).ends(0);
    assert_eq!(run.lines().len(), 4);
    remote.run(&["get", "ships", "1000"]).ends(1).says(&["no row has any of the keys"]);
    let range = ["get", "ships", "7", "--from", "2023-01-01T00:00:00"];
    assert_eq!(remote.run(&range).ends(0).lines().len(), 1);
}

#[test]
fn rows_are_scanned_and_unloaded() {
    let remote = Remote::new().with_ships(3_000);
    assert_eq!(remote.run(&["scan", "ships", "--limit", "5"]).ends(0).lines().len(), 6);
    let run = remote.run(&["scan", "ships", "--keys-only", "--limit", "1"]).ends(0);
    assert_eq!(run.lines()[0], "ship,at");
    remote.run(&["unload", "ships", "-o", "out.parquet"]).ends(0).says(&["3,000 rows"]);
    // What was unloaded is the same rows.
    remote.run(&["load", "ships", "out.parquet"]).ends(0).says(&["3,000 existed"]);
}

#[test]
fn a_row_is_got_by_its_whole_key() {
    let remote = Remote::new().with_ships(10);
    let run = remote.run(&["get", "ships", "7,2022-01-03T00:00:00", "--columns", "lat,ship"]);
    assert_eq!(run.ends(0).out, "lat,ship\n7.5,7\n");
    let run = remote.run(&["get", "ships", "7,2022-01-03T00:00:00", "--columns", "ship,ship"]);
    assert_eq!(run.ends(0).out, "ship,ship\n7,7\n");
    remote.run(&["get", "ships", "7,2029-01-01T00:00:00"]).ends(1).says(&["no row has any"]);
    let run = remote.run(&["get", "ships", "7,2022-01-03T00:00:00", "--keys-only"]).ends(0);
    assert_eq!(run.lines()[0], "ship,at");
}

#[test]
fn rows_are_scanned_in_order() {
    let remote = Remote::new().with_ships(100);
    let reverse = ["scan", "ships", "--direction", "reverse", "--limit", "2", "--columns", "ship"];
    assert_eq!(remote.run(&reverse).ends(0).out, "ship\n99\n98\n");
    let latest = ["scan", "ships", "--limit-per-shard-key", "1", "--keys-only"];
    assert_eq!(remote.run(&latest).ends(0).lines().len(), 101);
}

#[test]
fn what_only_a_store_can_do_is_refused_with_the_remedy() {
    let remote = Remote::new().with_ships(1);
    for verb in [&["check", "--cut-log"][..], &["serve"], &["restore", "B"]] {
        remote.run(verb).ends(3).says(&["not through a server", "--store DIR"]);
    }
    let backup = remote.run(&["backup", "nightly"]);
    backup.ends(3).says(&["no directory for backups", "--backups DIR"]);
}

#[test]
fn a_load_may_use_less_memory_than_its_share() {
    let remote = Remote::new().with_ships(10);
    remote.run(&["load", "ships", "ships.csv", "--memory", "32M"]).ends(0).says(&["10 existed"]);
    remote.run(&["load", "ships", "ships.csv", "--memory", "1K"]).ends(3).says(&["memory"]);
}

#[test]
fn children_come_with_their_parents_in_every_format() {
    let remote = Remote::new().with_ships(3);
    let ddl = "CREATE TABLE ships.notes (n LONG, text STRING, PRIMARY KEY (n))";
    remote.run(&["sql", ddl]).ends(0);
    let insert = "INSERT INTO ships.notes VALUES (1, '2022-01-03T00:00:00', 7, 'hi'), \
                  (1, '2022-01-03T00:00:00', 8, 'ho'), (2, '2022-01-03T00:00:00', 9, 'hu')";
    remote.run(&["sql", insert]).ends(0);
    let get = ["get", "ships", "1", "2", "--with", "ships.notes", "--direction", "forward"];
    let run = remote.run(&[&get[..], &["--format", "jsonl"]].concat()).ends(0);
    let lines = run.lines();
    let tables: Vec<_> = lines
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["table"].clone())
        .collect();
    assert_eq!(tables, ["ships", "ships.notes", "ships.notes", "ships", "ships.notes"]);
    assert!(lines[1].contains(r#""text":"hi""#), "{}", lines[1]);
    let run = remote.run(&[&get[..], &["--format", "table"]].concat()).ends(0);
    assert!(run.out.starts_with("ships\n") && run.out.contains("ships.notes\n"), "{}", run.out);
    remote.run(&[&get[..], &["--output-dir", "out"]].concat()).ends(0);
    assert_eq!(remote.place.read("out/ships.csv").lines().count(), 3);
    assert_eq!(remote.place.read("out/ships.notes.csv").lines().count(), 4);
    remote.run(&["get", "ships", "77", "--with", "ships.notes", "--format", "jsonl"]).ends(1);
}

#[test]
fn large_objects_are_put_got_resumed_and_deleted() {
    let remote = Remote::new();
    let film: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 253) as u8).collect();
    remote.place.write("film", &film);
    remote.run(&["kv", "put-lob", "/films/-/a", "-f", "film"]).ends(0);
    remote.run(&["kv", "get-lob", "/films/-/a", "-o", "back"]).ends(0);
    assert!(std::fs::read(remote.place.path("back")).unwrap() == film);
    remote.run(&["kv", "put-lob", "/films/-/a", "-f", "film", "--append"]).ends(0);
    let put = ["kv", "put-lob", "/films/-/a", "-f", "film", "--if-absent"];
    remote.run(&put).ends(1).says(&["/films/-/a"]);
    remote.run(&["kv", "get-lob", "/films/-/b"]).ends(1).says(&["no such large object"]);
    remote.run(&["kv", "put-lob", "/films/-/c", "-f", "film", "--resume"]).ends(0);
    remote.run(&["kv", "delete-lob", "/films/-/a"]).ends(0);
    remote.run(&["kv", "delete-lob", "/films/-/a"]).ends(1);
}

#[test]
fn the_files_of_a_directory_become_large_objects() {
    let remote = Remote::new();
    std::fs::create_dir_all(remote.place.path("films/old")).unwrap();
    remote.place.write("films/new", "new film");
    remote.place.write("films/old/first", "first film");
    let run = remote.run(&["kv", "load-lobs", "films", "--under", "/films"]).ends(0);
    run.says(&["stored 2 large objects, 18 bytes; 0 could not"]);
    assert_eq!(remote.run(&["kv", "get-lob", "/films/-/old/first"]).ends(0).out, "first film");
}

#[test]
fn a_large_object_whose_server_is_killed_is_not_stored() {
    let remote = Remote::new();
    let mut command = remote.command(&["kv", "put-lob", "/a"]);
    let (child, mut input) = piped(&mut command);
    std::io::Write::write_all(&mut input, &vec![7; 2 << 20]).unwrap();
    remote.served.signal(Signal::SIGKILL);
    std::thread::sleep(Duration::from_millis(200));
    let _ = std::io::Write::write_all(&mut input, &vec![7; 8 << 20]);
    drop(input);
    let run = finished(child.wait_with_output().unwrap());
    assert_eq!(run.out, "");
    run.ends(2).says(&["connection"]);
}

#[test]
fn figures_and_checks_come_through_the_server() {
    let remote = Remote::new().with_ships(50);
    let run = remote.run(&["stats"]).ends(0);
    assert!(run.out.contains("store,tables,1\n") && run.out.contains("rows_estimate"), "{run:?}");
    let run = remote.run(&["check"]).ends(0).says(&["sound"]);
    assert!(run.out.contains("ships,50\n"), "{}", run.out);
    remote.run(&["check", "--repair"]).ends(0).says(&["deleted 0 chunks"]);
}

#[test]
fn a_store_is_backed_up_below_the_directory_of_the_server() {
    let remote = Remote::with(&["--backups", "saved"]).with_ships(50);
    remote.run(&["backup", "nightly"]).ends(0).says(&["backup 1:"]);
    remote.run(&["backup", "nightly", "--keep", "1"]).ends(0).says(&["removed 1 backup and"]);
    assert_eq!(remote.run(&["backup", "nightly", "--list"]).ends(0).lines().len(), 2);
    remote.run(&["backup", "nightly", "--verify"]).ends(0).says(&["sound"]);
    remote.run(&["backup", "../x"]).ends(3).says(&["../x"]);
    // What was backed up is a store.
    remote.place.run(&["restore", "saved/nightly", "--store", "restored"]).ends(0);
    let count = ["count", "ships", "--store", "restored"];
    assert_eq!(remote.place.run(&count).ends(0).out, "50\n");
}

#[test]
fn nobody_at_the_address_is_told() {
    let remote = Remote::new();
    let address = remote.served.flight().to_owned();
    remote.served.signal(Signal::SIGTERM);
    let Remote { place, served } = remote;
    assert_eq!(served.ended().0, Some(0));
    place.run(&["count", "ships", "--store", &address]).ends(3).says(&[&address, "no connection"]);
    place.run(&["count", "ships", "--store", "grpc://nowhere"]).ends(3).says(&["grpc://HOST:PORT"]);
}

#[test]
fn an_address_that_is_not_quite_one_is_told_with_the_right_one() {
    let remote = Remote::new();
    let http = remote.served.lines.iter().find_map(|line| line.strip_prefix("HTTP    http://"));
    let http = http.unwrap();
    let at_http = format!("grpc://{http}");
    let count = |store: &str| remote.place.run(&["count", "ships", "--store", store]);
    count(&at_http).ends(3).says(&["the Flight listener"]);
    count(&format!("http://{http}")).ends(3).says(&["grpc://HOST:PORT"]);
    count("localhost:7411").ends(3).says(&["for a server write grpc://localhost:7411"]);
    let tls = remote.served.flight().replace("grpc://", "grpc+tls://");
    count(&tls).ends(3).says(&["no TLS"]);
    // The store of the server is in use.
    let own = remote.place.run(&["count", "ships"]);
    own.ends(3).says(&["has it open", "--store grpc://HOST:PORT"]);
    let missing = remote.place.run(&["serve", "--store", "nowhere"]);
    missing.ends(3).says(&["there is no store", "--create"]);
    let taken = ["serve", "--store", "new", "--create", "--flight", "off", "--http", http];
    remote.place.run(&taken).ends(3).says(&["cannot listen", "--http"]);
}

#[test]
fn the_password_comes_from_the_environment_and_a_token_from_a_file() {
    let place = Place::new();
    let hashed = place.run_with_input(&["hash-password"], b"secret\n").ends(0).out;
    let users = format!(
        "[[user]]\nname = \"ann\"\npassword = \"{}\"\nroles = [\"reader\"]\n\
         [[user]]\nname = \"root\"\n\
         tokens = [\"3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0\"]\n\
         roles = [\"admin\"]\n",
        hashed.trim()
    );
    let users = place.write("users.toml", users);
    place.write("token", "token\n");
    let remote = Remote::with(&["--users", users.to_str().unwrap()]);
    let token = place.path("token");
    let root = ["--token-file", token.to_str().unwrap()];
    let ddl = ["sql", "CREATE TABLE t (k LONG, PRIMARY KEY (k))"];
    remote.run(&[&ddl[..], &root].concat()).ends(0);
    let ann = |password: Option<&str>| {
        let mut command = remote.command(&["count", "t", "--user", "ann"]);
        command.env_remove("TONNAGE_PASSWORD").stdin(Stdio::null());
        password.map(|password| command.env("TONNAGE_PASSWORD", password));
        finished(command.output().unwrap())
    };
    assert_eq!(ann(Some("secret")).ends(0).out, "0\n");
    ann(Some("guess")).ends(3).says(&["password"]);
    ann(None).ends(3).says(&["TONNAGE_PASSWORD"]);
    remote.run(&["count", "t"]).ends(3).says(&["say who you are"]);
}

#[test]
fn a_load_whose_server_is_killed_is_not_complete() {
    let remote = Remote::new().with_ships(1);
    let mut command = remote.command(&["load", "ships", "-", "--summary", "summary.json"]);
    let (child, mut input) = piped(&mut command);
    let rows = ships_csv(50_000);
    let writer = std::thread::spawn(move || {
        use std::io::Write;
        // More rows come until no reader is left: the load cannot end by itself.
        let (header, rows) = rows.split_once('\n').unwrap();
        let _ = writeln!(input, "{header}");
        while input.write_all(rows.as_bytes()).is_ok() {}
    });
    let started = Instant::now();
    while !remote.served.request("GET /v1/jobs", "").contains("running") {
        assert!(started.elapsed() < Duration::from_secs(30), "the load does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    remote.served.signal(Signal::SIGKILL);
    let run = finished(child.wait_with_output().unwrap());
    writer.join().unwrap();
    run.ends(2).says(&["the connection was lost"]);
    let summary = remote.place.json("summary.json");
    assert_eq!(
        (&summary["outcome"], &summary["files"][0]["complete"]),
        (&"stopped".into(), &false.into())
    );
}

#[test]
fn single_rows_are_put_under_conditions() {
    let remote = Remote::new().with_ships(1);
    let row = r#"{"ship": 7, "at": "2022-01-03T00:00:00", "lat": 1.5, "name": "a"}"#;
    let run = remote.run(&["put", "ships", row, "--if-absent"]).ends(0);
    run.says(&["row 0: stored as version"]);
    remote.run(&["put", "ships", row, "--if-absent"]).ends(1).says(&["not stored: there is one"]);
    let other = row.replace("1.5", "2.5");
    remote.run(&["put", "ships", &other, "--if-present"]).ends(0);
    let run = remote.run(&["sql", "SELECT lat FROM ships WHERE ship = 7"]).ends(0);
    assert_eq!(run.out, "lat\n2.5\n");
    remote.run(&["put", "ships", r#"{"ship": 7}"#]).ends(3).says(&["row 0"]);
}

#[test]
fn pairs_are_put_got_and_deleted() {
    let remote = Remote::new();
    remote.run(&["kv", "put", "/a/-/b", "one"]).ends(0);
    remote.run(&["kv", "put", "/a/-/b", "two", "--if-absent"]).ends(1).says(&["there is one"]);
    assert_eq!(remote.run(&["kv", "get", "/a/-/b"]).ends(0).out, "one");
    remote.run(&["kv", "delete", "/a/-/b"]).ends(0);
    remote.run(&["kv", "delete", "/a/-/b"]).ends(1).says(&["nothing to delete"]);
    remote.run(&["kv", "get", "/a/-/b"]).ends(1).says(&["no such pair"]);
}

#[test]
fn pairs_are_loaded_scanned_and_counted() {
    let remote = Remote::new();
    let pairs = "key,value\n/u/1/-/mail,a@x\n/u/1/-/phone,555\n/u/2/-/mail,b@x\n";
    remote.place.write("pairs.csv", pairs);
    remote.run(&["kv", "load", "pairs.csv"]).ends(0).says(&["3 read, 3 inserted"]);
    remote.run(&["kv", "load", "pairs.csv"]).ends(0).says(&["3 existed"]);
    assert_eq!(remote.run(&["kv", "count"]).ends(0).out, "3\n");
    let run = remote.run(&["kv", "scan", "--direction", "forward", "--format", "jsonl"]).ends(0);
    assert_eq!(run.lines().len(), 3);
    assert!(run.lines()[1].contains("/u/1/-/phone") && run.lines()[1].contains("555"), "{run:?}");
    let run = remote.run(&["kv", "scan", "--keys-only", "--limit", "2"]).ends(0);
    assert_eq!((run.lines().len(), run.lines()[0]), (3, "key,version"));
}

#[test]
fn pairs_below_a_key_are_got_and_deleted() {
    let remote = Remote::new();
    for key in ["/u/-/a", "/u/-/b", "/u/-/c", "/other"] {
        remote.run(&["kv", "put", key, "v"]).ends(0);
    }
    let below = ["kv", "multi-get", "/u", "--depth", "children", "--keys-only"];
    let got = |more: &[&str]| remote.run(&[&below, more].concat()).ends(0).lines().len() - 1;
    assert_eq!((got(&[]), got(&["--from", "b"]), got(&["--limit-per-key", "1"])), (3, 2, 1));
    assert_eq!(got(&["--prefix", "c"]), 1);
    let delete = ["kv", "delete", "/u", "--depth", "descendants"];
    remote.run(&[&delete[..], &["--to", "b"]].concat()).ends(0);
    remote.run(&delete).ends(0);
    assert_eq!(remote.run(&["kv", "count"]).ends(0).out, "1\n");
}
